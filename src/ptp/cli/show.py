"""`ptp show`, `status`, `metrics`, `logs` and `export`: how a run went, or goes."""

from __future__ import annotations

import json
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from ptp.cli import output
from ptp.cli.common import opened_run, when_stopped
from ptp.cli.output import BOLD, DIM, GREEN, RED, STATUS_COLORS, YELLOW, fact_lines, local_time, number, paint, table
from ptp.cli.parser import Options
from ptp.errors import UsageError
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.recording.figures import Chapter, Report
from ptp.records import Metadata
from ptp.runs import Run
from ptp.runs.exports import check_names, write_export
from ptp.runs.exports import export as export_runs
from ptp.runs.logs import LogLine
from ptp.runs.metrics import read_metrics
from ptp.runs.status import SystemHealth, read_progress, read_status
from ptp.worlds.knowledge import CurrentState

BAR = 20  # characters of a full HP bar
BLOCKS, PLAIN = ("━", "┄"), ("#", "-")
EVERY = 0.3  # seconds between two looks at a log that is followed
LOG_COLORS = {"warning": YELLOW, "error": RED}
SHOWN = 10  # moments of a chapter
SPREAD = ("mean", "min", "median", "p95", "max")


def show(options: Options) -> int:
    """Show how a run went."""
    run = opened_run(options)
    report = run.report()
    spreads = {
        "episode return": report.episode_reward,
        "episode steps": report.episode_steps,
        "decision ms": report.decision_latency_ms,
    }
    rows = [(name, *(number(spread.get(column)) for column in SPREAD)) for name, spread in spreads.items() if spread]
    return output.show(
        options, report,
        _title(report.run),
        *fact_lines(_facts(run, report, options.config.system.verbose)),
        *(line for chapter in report.story for line in _chapter(chapter)),
        "",
        *table(("spread", *SPREAD), rows, right=SPREAD),
        *(paint(f"error: {error}", STATUS_COLORS["crashed"]) for error in report.errors),
    )  # fmt: skip


def _chapter(chapter: Chapter) -> list[str]:
    """Return the moments of a chapter, the last ones of a long one."""
    hidden = max(0, len(chapter.moments) - SHOWN)
    more = [paint(f"  {'…':>8}  {hidden} before", DIM)] if hidden else []
    lines = [f"  {paint(f'{moment.tick:>8,}', DIM)}  {moment.title}" for moment in chapter.moments[hidden:]]
    return ["", paint(chapter.title, BOLD), *more, *lines]


def _title(run: Metadata) -> str:
    return f"{paint(f'{run.agent} in {run.world.name}', BOLD)}  {paint(run.status, STATUS_COLORS[run.status])}"


def _facts(opened: Run, report: Report, verbose: bool) -> dict[str, str]:
    run = report.run
    ended = run.error or (run.stop.message if run.stop else None)
    was_forked = run.parent is not None and (opened.path / "config.yaml").exists()
    game = ", ".join(f"{name.lower()} {value:g}" for name, value in report.game.items())
    was_paid = report.tokens or report.cost
    forked_seed = opened.config.system.random_seed if was_forked else None
    return {
        "run": run.run_id,
        "started": local_time(run.started_at),
        "ended": f"{local_time(run.completed_at)}, {ended}" if run.completed_at else "-",
        "seed": seeds(run.random_seed, forked_seed),
        **({"name": run.name} if run.name else {}),
        **({"tags": ", ".join(run.tags)} if run.tags else {}),
        **({"notes": run.notes} if run.notes else {}),
        **({"parent": f"forked from {run.parent.run_id} at tick {run.parent.tick}"} if run.parent else {}),
        **({"evaluates": f"{of.run_id}, learnt up to tick {of.tick}"} if (of := run.evaluates) else {}),
        **({"resumed": ", ".join(f"at tick {item.tick}" for item in run.resumed)} if run.resumed else {}),
        **({"rewinds": str(run.rewinds)} if run.rewinds else {}),
        **({"game": game} if game else {}),
        "ticks": f"{report.steps:,}" + (f" in {report.episodes:,} complete episodes" if report.episodes else ""),
        **_returns(report),
        "decisions": f"{report.decisions:,}  " + ", ".join(f"{n:,} {s}" for s, n in report.decision_statuses.items()),
        **({"cost": f"${report.cost or 0:,.4f}, {report.tokens or 0:,} tokens"} if was_paid else {}),
        "world": f"version {run.facts.version}, snapshots by {run.facts.snapshot}",
        **({"made with": ", ".join(f"{name} {what}" for name, what in run.facts.origin.items())} if verbose else {}),
        "kept in": str(opened.path),
    }


def _returns(report: Report) -> dict[str, str]:
    """Return what the best and the last episode brought."""
    best, last = report.best_episode, report.last_episode
    if best is None or last is None:
        return {}
    return {
        "best": f"{number(best.reward)} in episode {best.episode:,}, tick {best.last_tick:,}",
        "last": f"{number(last.reward)} in episode {last.episode:,}",
    }


def seeds(seed: int, forked: int | None) -> str:
    """Return the seed of a run, and the one of its fork where that has another."""
    return str(seed) + (f" until the fork, {forked} after it" if forked not in {None, seed} else "")


def status(options: Options) -> int:
    """Show the status of a run."""
    directory = opened_run(options).directory
    metadata = directory.read_metadata()
    found = read_status(directory, metadata)
    state, decision, health = found.current_state, found.decision_pipeline, found.system_health
    facts = {
        "run": found.run_id,
        "played": f"{number(found.elapsed_seconds)} s",
        **(_episode(directory, metadata) if state.party is None else _game_facts(state)),
        "decision": f"{decision.last_decision_type or '-'}, {decision.current_decision_status or 'none yet'}, "
        f"{number(decision.last_decision_latency_ms)} ms",
        **_pace_facts(health),
        "errors": number(health.error_count),
        "snapshots": number(health.snapshot_count),
    }
    party = (
        f"  {member.name or '?':<12} level {member.level:<3} {hp_bar(member.hp, member.max_hp)} "
        f"{member.hp}/{member.max_hp}"
        for member in state.party or ()
    )
    return output.show(options, found, _title(metadata), *fact_lines(facts), *party)


def _pace_facts(health: SystemHealth) -> dict[str, str]:
    """Return what was measured of a run; a short one ends before anything is."""
    target = f" of {health.tick_rate_target:g}" if health.tick_rate_target else ""
    return {
        **({"ticks/s": f"{number(health.tick_rate_actual)}{target}"} if health.tick_rate_actual is not None else {}),
        **({"memory": f"{number(health.memory_usage_mb)} MB"} if health.memory_usage_mb is not None else {}),
    }


def _game_facts(state: CurrentState) -> dict[str, str]:
    """Return the facts of a world's state; what the world does not have is left out."""
    place = f" at {state.coordinates.x}, {state.coordinates.y}" if state.coordinates else ""
    items = ", ".join(f"{name} {count}" for name, count in state.inventory.items() if count)
    facts = {
        "where": state.screen_type and f"{state.location or '-'}{place}  ({state.screen_type})",
        "badges": None if state.badges is None else number(state.badges),
        "caught": None if state.pokemon_caught is None else number(state.pokemon_caught),
        "owned": None if state.pokemon_owned is None else f"{number(state.pokemon_owned)} species",
        "items": items,
    }
    return {name: fact for name, fact in facts.items() if fact}


def _episode(directory: RunDirectory, metadata: Metadata) -> dict[str, str]:
    with Database(directory.database) as database:
        progress = read_progress(database, metadata)
    episode = f"{number(progress.episode)}, step {number(progress.episode_step)}"
    return {
        "tick": number(progress.tick),
        "episode": f"{episode}, return {number(progress.episode_return)}",
        "reward": f"{number(progress.total_reward)} in all",
        "command": brief(progress.last_command or "-"),
        "sees": "-" if progress.observation is None else brief(progress.observation),
    }


def brief(value: Any) -> str:
    """Return an observation or a command as short text, its numbers rounded; a large array as its shape."""
    if isinstance(value, str) and value.startswith(("[", "{")):
        with suppress(ValueError, RecursionError):  # a command that only looks like JSON is shown as it is
            value = json.loads(value)
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return brief(value[0]) if len(value) == 1 else f"[{', '.join(map(brief, value))}]"
    if isinstance(value, dict) and value.keys() == {"shape", "dtype", "hash"}:
        return f"{value['dtype']} {' x '.join(map(str, value['shape']))}"
    if isinstance(value, dict):
        return ", ".join(f"{name} {brief(item)}" for name, item in value.items())
    return str(value)


def hp_bar(hp: int, most: int, width: int = BAR) -> str:
    """Return health as a bar of characters."""
    full = round(width * hp / most) if most else 0
    color = GREEN if hp * 2 > most else YELLOW if hp * 5 > most else RED
    filled, empty = BLOCKS if output.can_print("".join(BLOCKS)) else PLAIN
    return paint(filled * full, color) + empty * (width - full)


def metrics(options: Options) -> int:
    """Show the metrics of a run."""
    found = read_metrics(opened_run(options).directory)
    game = {name: value for name, value in structs.asdict(found.game).items() if value is not None}
    figures = {"tick": found.tick, **structs.asdict(found.performance), **game}
    rows = [(name, number(value)) for name, value in figures.items()]
    return output.show(options, found, *table(("metric", "value"), rows, right=("value",)))


def logs(options: Options) -> int:
    """Show a log, or follow it."""
    run = opened_run(options)
    found = run.log(max(1, options.lines), level=options.level)
    if options.json and not options.follow:
        return output.show(options, found)
    _print_log(found.lines, options.json)
    with when_stopped(f"no longer following run {run.id}"):
        alive = options.follow
        while alive or (options.follow and found.lines):  # what was written before the end is printed after it
            time.sleep(EVERY)
            alive = run.is_live
            found = run.log(after=found.position, level=options.level)
            _print_log(found.lines, options.json)
    return 0


def _print_log(lines: list[LogLine], as_json: bool) -> None:
    for line in lines:
        tick = "" if line.tick is None else f"tick {line.tick}"
        message = paint(line.message, LOG_COLORS[line.level]) if line.level in LOG_COLORS else line.message
        shown = f"{paint((line.time or '')[11:23], DIM)}  {tick:<12} {message}"
        output.say(msgspec.json.encode(line).decode() if as_json else shown)
    sys.stdout.flush()


def export(options: Options) -> int:
    """Export a run."""
    check_names(options.runs)
    runs = [opened_run(options, name) for name in options.runs or [options.run]]
    if options.output is None:
        if options.format in ("parquet", "sqlite") and sys.stdout.isatty():
            raise UsageError(f"{options.format} can't be shown in a terminal; name a file with --output")
        sys.stdout.buffer.writelines(export_runs(runs, options.what, options.format))
        return 0
    try:
        size = write_export(runs, options.what, options.format, Path(options.output))
    except OSError as problem:
        raise UsageError(f"--output {options.output}: {problem.strerror}; name another file") from None
    facts = {"runs": [run.id for run in runs], "what": options.what, "format": options.format, "path": options.output}
    named = runs[0].id if len(runs) == 1 else f"{len(runs)} runs"
    return output.answer(
        options, {**facts, "bytes": size}, f"{options.output}: {options.what} of {named}, {size:,} bytes"
    )
