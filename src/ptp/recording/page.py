"""The report as one HTML page with plots, readable without a network."""

from __future__ import annotations

from html import escape

from ptp.recording.figures import Report, Series

WIDTH, HEIGHT = 640, 220
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 12, 34

STYLE = """
:root { color-scheme: light dark; --ink: #1c2420; --dim: #66736b; --line: #dfe5e0; --card: #fff; --page: #f5f7f4;
  --accent: #2f7d4f; --bad: #b3382c }
@media (prefers-color-scheme: dark) { :root { --ink: #e4ebe6; --dim: #93a198; --line: #2e3832; --card: #1a211d;
  --page: #121714; --accent: #6cc78f; --bad: #f0857a } }
* { box-sizing: border-box } body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif } main { max-width: 1120px; margin: 0 auto; padding: 28px 18px 60px }
h1 { font-size: 24px; margin: 0 } h2 { font-size: 15px; margin: 0 0 8px } .dim { color: var(--dim) }
.grid { display: grid; gap: 14px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr));
  margin-top: 18px }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(125px, 1fr)); gap: 12px; margin-top: 18px }
.facts b { display: block; font-size: 20px; font-variant-numeric: tabular-nums; overflow-wrap: anywhere }
table { border-collapse: collapse; width: 100% } td, th { text-align: right; padding: 3px 6px; font-weight: normal;
  border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums } th:first-child { text-align: left }
thead th { color: var(--dim) } svg { width: 100%; height: auto; display: block }
svg text { fill: var(--dim); font-size: 13px }
.grid-line { stroke: var(--line) }
.curve { fill: none; stroke: var(--accent); stroke-width: 1.6; stroke-linejoin: round }
.badge { font-size: 13px; border: 1px solid currentColor; border-radius: 99px; padding: 1px 10px; vertical-align: 4px }
.bad { color: var(--bad) } code { font: 13px ui-monospace, monospace; overflow-wrap: anywhere }
"""


def render_page(report: Report) -> str:
    """Return the page."""
    run = report.run
    status = f'<span class="badge {"bad" if run.status == "crashed" else ""}">{run.status}</span>'
    ended = run.error or (run.stop.message if run.stop else "")
    plots = "".join(_card(plot.title, _plot(plot)) for plot in report.plots)
    lines = "".join(f"<li><code>{escape(error)}</code></li>" for error in report.errors)
    errors = _card("Errors", f"<ul>{lines}</ul>") if lines else ""
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{escape(run.world.name)} - {run.run_id}</title><style>{STYLE}</style>
<main><h1>{escape(run.agent)} in {escape(run.world.name)} {status}</h1>
<div class="dim">{escape(ended)}<br><code>{run.run_id}</code>, began {run.started_at}, seed {run.random_seed}</div>
<div class="facts">{_facts(report)}</div>
<div class="grid">{plots}{_card("Spread", _spreads(report))}{errors}</div>
<p class="dim">Play it again: <code>ptp replay {run.run_id} --verify</code></p>
</main></html>
"""


def _card(title: str, body: str) -> str:
    return f'<section class="card"><h2>{escape(title)}</h2>{body}</section>'


def _facts(report: Report) -> str:
    run = report.run
    seconds = run.elapsed_seconds or 0.0
    facts = {
        "ticks": f"{report.steps:,}",
        "episodes": f"{report.episodes:,}",
        "total reward": _number(run.total_reward),
        "decisions": f"{report.decisions:,}",
        "cost": f"${report.cost or 0:,.4f}",
        "seconds": f"{seconds:,.1f}",
        "ticks/s": f"{report.steps / seconds:,.0f}" if seconds else "-",
    }
    return "".join(
        f'<div class="card"><span class="dim">{name}</span><b>{value}</b></div>' for name, value in facts.items()
    )


def _spreads(report: Report) -> str:
    rows = {
        "episode reward": report.episode_reward,
        "episode steps": report.episode_steps,
        "decision latency, ms": report.decision_latency_ms,
    }
    columns = ("mean", "min", "median", "p95", "max")
    head = "".join(f"<th>{column}</th>" for column in ("", *columns))
    body = "".join(
        f"<tr><th>{name}</th>" + "".join(f"<td>{_number(spread.get(column))}</td>" for column in columns) + "</tr>"
        for name, spread in rows.items()
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.3g}"


def _plot(series: Series) -> str:
    """Return a line plot as SVG."""
    if not series.points:
        return '<p class="dim">nothing to plot</p>'
    xs, ys = zip(*series.points, strict=True)
    low_x, high_x, low_y, high_y = min(xs), max(xs), min(*ys, 0.0), max(*ys, 0.0)
    wide, high = (high_x - low_x) or 1.0, (high_y - low_y) or 1.0

    def place(x: float, y: float) -> str:
        across = LEFT + (x - low_x) / wide * (WIDTH - LEFT - RIGHT)
        down = HEIGHT - BOTTOM - (y - low_y) / high * (HEIGHT - TOP - BOTTOM)
        return f"{across:.1f},{down:.1f}"

    lines = ""
    for share in (0.0, 0.5, 1.0):
        value = low_y + share * high
        _, down = place(low_x, value).split(",")
        lines += f'<line class="grid-line" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{down}" y2="{down}"/>'
        lines += f'<text x="{LEFT - 6}" y="{float(down) + 4:.1f}" text-anchor="end">{_number(value)}</text>'
    points = " ".join(place(x, y) for x, y in series.points)
    floor = HEIGHT - 16
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(series.title)}">{lines}'
        f'<polyline class="curve" points="{points}"/><text x="{LEFT}" y="{floor}">{_number(low_x)}</text>'
        f'<text x="{WIDTH - RIGHT}" y="{floor}" text-anchor="end">{_number(high_x)}</text>'
        f'<text x="{(LEFT + WIDTH) / 2:.0f}" y="{floor}" text-anchor="middle">{series.x} ({series.y})</text></svg>'
    )
