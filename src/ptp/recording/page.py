"""The report as one HTML page with pictures and plots, readable without a network."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from pathlib import Path

from ptp.recording.figures import Chapter, Picture, Report, Series

WIDTH, HEIGHT = 640, 230
LEFT, RIGHT, TOP, BOTTOM = 58, 16, 12, 34
LONG = 12  # moments of a chapter that are shown at once
MEDIA = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp"}
SPREAD = ("mean", "min", "median", "p95", "max")

STYLE = """
:root { color-scheme: light dark; --ink: #1b231f; --dim: #64716a; --line: #dde4df; --card: #fff; --page: #f4f6f3;
  --accent: #2f7d4f; --soft: #2f7d4f1f; --bad: #b3382c }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ede8; --dim: #94a29a; --line: #2c3630; --card: #19201c;
  --page: #111613; --accent: #6cc78f; --soft: #6cc78f24; --bad: #f0857a } }
* { box-sizing: border-box } body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif } main { max-width: 1120px; margin: 0 auto; padding: 32px 18px 60px }
h1 { font-size: 26px; line-height: 1.25; margin: 0 0 6px } h2 { font-size: 15px; margin: 0 0 10px }
.dim { color: var(--dim) } .grid, .facts, .pictures, .story { margin-top: 16px }
.grid { display: grid; gap: 16px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)) }
.story { columns: 2 440px; column-gap: 16px } .story .card { break-inside: avoid; margin-bottom: 16px }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 16px 18px }
.facts { display: flex; flex-wrap: wrap; gap: 12px } .facts .card { padding: 12px 14px; flex: 1 1 128px }
.facts b { display: block; font-size: 22px; line-height: 1.3;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere } .facts span { font-size: 13px }
.facts .game { border-color: var(--accent); background: linear-gradient(var(--soft), var(--soft)), var(--card) }
.pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(230px, 1fr)); gap: 16px }
figure { margin: 0 }
img { width: 100%; display: block; border-radius: 8px; border: 1px solid var(--line); image-rendering: pixelated }
figcaption { font-size: 13px; margin-top: 5px; line-height: 1.35 }
ol { list-style: none; margin: 0; padding: 0 } li { display: flex; gap: 12px; padding: 3px 0 }
li span { min-width: 54px; text-align: right; color: var(--dim); font-variant-numeric: tabular-nums }
summary { cursor: pointer; color: var(--accent); padding: 4px 0 0 66px }
table { border-collapse: collapse; width: 100% } td, th { text-align: right; padding: 4px 6px; font-weight: normal;
  border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums } th:first-child { text-align: left }
tr:last-child > * { border-bottom: 0 } thead th { color: var(--dim) } svg { width: 100%; height: auto; display: block }
svg text { fill: var(--dim); font-size: 13px } .grid-line { stroke: var(--line) }
.curve { fill: none; stroke: var(--accent); stroke-width: 2; stroke-linejoin: round } .area { fill: var(--soft) }
.badge { font-size: 13px; font-weight: normal; color: var(--accent); border: 1px solid currentColor;
  border-radius: 99px; padding: 1px 10px; vertical-align: 4px }
.bad { color: var(--bad) } code { font: 13px ui-monospace, monospace; overflow-wrap: anywhere }
@media print { body { background: #fff } .card { break-inside: avoid } }
"""


def render_page(report: Report, folder: Path) -> str:
    """Return the page; *folder* is the run directory, whose pictures become part of it."""
    run = report.run
    status = f'<span class="badge {"bad" if run.status == "crashed" else ""}">{run.status}</span>'
    ended = run.error or (run.stop.message if run.stop else "")
    pictures = "".join(_picture(picture, folder) for picture in report.pictures)
    plots = "".join(_card(plot.title, _plot(plot)) for plot in report.plots)
    cards, spreads = [*map(_chapter, report.story)], _spreads(report)
    cards += [_card("Spread", spreads)] if spreads else []
    lines = "".join(f"<li><code>{escape(error)}</code></li>" for error in report.errors)
    cards += [_card("Errors", f"<ol>{lines}</ol>")] if lines else []
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{escape(run.world.name)} - {run.run_id}</title><style>{STYLE}</style>
<main><h1>{escape(run.agent)} in {escape(run.world.name)} {status}</h1>
<div class="dim">{escape(ended)}<br><code>{run.run_id}</code>, began {run.started_at}, seed {run.random_seed}</div>
<div class="facts">{_facts(report)}</div>
{f'<div class="pictures">{pictures}</div>' if pictures else ""}
<div class="grid">{plots}</div>
<div class="story">{"".join(cards)}</div>
<p class="dim">Play it again: <code>ptp replay {run.run_id} --verify</code></p>
</main></html>
"""


def _card(title: str, body: str) -> str:
    return f'<section class="card"><h2>{escape(title)}</h2>{body}</section>'


def _facts(report: Report) -> str:
    run, best, last = report.run, report.best_episode, report.last_episode
    seconds = run.elapsed_seconds or 0.0
    facts = {
        "ticks": f"{report.steps:,}",
        "episodes": f"{report.episodes:,}" if report.episodes else None,
        f"best return, episode {best.episode:,}" if best else "": _number(best.reward) if best else None,
        f"last return, episode {last.episode:,}" if last else "": _number(last.reward) if last else None,
        "total reward": _number(run.total_reward) if report.has_reward and run.total_reward is not None else None,
        "decisions": f"{report.decisions:,}",
        "cost": f"${report.cost:,.4f}" if report.cost else None,
        "seconds": f"{seconds:,.1f}" if seconds else None,
        "ticks/s": f"{report.steps / seconds:,.0f}" if seconds else None,
    }
    shown = "".join(_fact(title, _number(value), "game") for title, value in report.game.items())
    return shown + "".join(_fact(name, value) for name, value in facts.items() if value is not None)


def _fact(title: str, value: str, kind: str = "") -> str:
    return f'<div class="card {kind}"><span class="dim">{escape(title)}</span><b>{escape(value)}</b></div>'


def _picture(picture: Picture, folder: Path) -> str:
    """Return a picture with its words; one that was removed to make room is left out."""
    path = folder / picture.path
    if path.suffix not in MEDIA or not path.is_file():
        return ""
    data = f"data:{MEDIA[path.suffix]};base64,{b64encode(path.read_bytes()).decode()}"
    words = f"<b>{picture.tick:,}</b> {escape(picture.title)}"
    return f'<figure><img src="{data}" alt="tick {picture.tick}"><figcaption>{words}</figcaption></figure>'


def _chapter(chapter: Chapter) -> str:
    lines = [f"<li><span>{moment.tick:,}</span>{escape(moment.title)}</li>" for moment in chapter.moments]
    body = f"<ol>{''.join(lines[:LONG])}</ol>"
    if len(lines) > LONG:
        rest = "".join(lines[LONG:])
        body += f"<details><summary>{len(lines) - LONG} more</summary><ol>{rest}</ol></details>"
    return _card(chapter.title, body)


def _spreads(report: Report) -> str:
    rows = {
        "return of an episode": report.episode_reward,
        "steps of an episode": report.episode_steps,
        "decision latency, ms": report.decision_latency_ms,
    }
    head = "".join(f"<th>{column}</th>" for column in ("", *SPREAD))
    body = "".join(
        f"<tr><th>{name}</th>" + "".join(f"<td>{_number(spread[column])}</td>" for column in SPREAD) + "</tr>"
        for name, spread in rows.items()
        if spread
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if body else ""


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.3g}"


def _plot(series: Series) -> str:
    """Return a line plot as SVG; a value that stays is drawn in steps."""
    xs, ys = zip(*series.points, strict=True)
    low_x, high_x, low_y, high_y = 0.0 if series.x == "tick" else min(xs), max(xs), min(*ys, 0.0), max(*ys, 0.0)
    wide, high = (high_x - low_x) or 1.0, (high_y - low_y) or 1.0

    def place(x: float, y: float) -> tuple[float, float]:
        across = LEFT + (x - low_x) / wide * (WIDTH - LEFT - RIGHT)
        return across, HEIGHT - BOTTOM - (y - low_y) / high * (HEIGHT - TOP - BOTTOM)

    lines = ""
    for share in (0.0, 0.5, 1.0):
        value = low_y + share * high
        _, down = place(low_x, value)
        lines += f'<line class="grid-line" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{down:.1f}" y2="{down:.1f}"/>'
        lines += f'<text x="{LEFT - 8}" y="{down + 4:.1f}" text-anchor="end">{_number(value)}</text>'
    places: list[tuple[float, float]] = []
    for x, y in series.points:
        across, down = place(x, y)
        if series.steps and places:
            places.append((across, places[-1][1]))
        places.append((across, down))
    curve = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    floor, (_, ground) = HEIGHT - 14, place(low_x, 0.0)
    area = f"{places[0][0]:.1f},{ground:.1f} {curve} {places[-1][0]:.1f},{ground:.1f}"
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(series.title)}">{lines}'
        f'<polygon class="area" points="{area}"/><polyline class="curve" points="{curve}"/>'
        f'<text x="{LEFT}" y="{floor}">{_number(low_x)}</text>'
        f'<text x="{WIDTH - RIGHT}" y="{floor}" text-anchor="end">{_number(high_x)}</text>'
        f'<text x="{(LEFT + WIDTH) / 2:.0f}" y="{floor}" text-anchor="middle">{series.x} ({series.y})</text></svg>'
    )
