"""`ptp show`, `status`, `metrics`, `tag`, `logs` and `export`: how a run went, or goes."""

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
from ptp.cli.common import named_run, opened_run, when_stopped
from ptp.cli.output import BOLD, DIM, GREEN, RED, STATUS_COLORS, YELLOW, fact_lines, local_time, number, paint, table
from ptp.cli.parser import Options
from ptp.errors import UsageError
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.recording.figures import Report
from ptp.records import Metadata
from ptp.runs import Run
from ptp.runs.exports import check_names, write_export
from ptp.runs.exports import export as export_runs
from ptp.runs.logs import LogLine
from ptp.runs.metrics import read_metrics
from ptp.runs.status import read_progress, read_status
from ptp.worlds.knowledge import CurrentState

BAR = 20  # characters of a full HP bar
BLOCKS, PLAIN = ("━", "┄"), ("#", "-")
EVERY = 0.3  # seconds between two looks at a log that is followed
LOG_COLORS = {"warning": YELLOW, "error": RED}
SPREAD = ("mean", "min", "median", "p95", "max")


def show(options: Options) -> int:
    """Show how a run went."""
    run = opened_run(options)
    report = run.report()
    spreads = {
        "episode reward": report.episode_reward,
        "episode steps": report.episode_steps,
        "decision ms": report.decision_latency_ms,
    }
    rows = [(name, *(number(spread.get(column)) for column in SPREAD)) for name, spread in spreads.items() if spread]
    return output.show(
        options, {**structs.asdict(report), "tags": run.tags},
        _title(report.run),
        *fact_lines(_facts(run, report, options.config.system.verbose)),
        "",
        *table(("spread", *SPREAD), rows, right=SPREAD),
        *(paint(f"error: {error}", STATUS_COLORS["crashed"]) for error in report.errors),
    )  # fmt: skip


def _title(run: Metadata) -> str:
    return f"{paint(f'{run.agent} in {run.world.name}', BOLD)}  {paint(run.status, STATUS_COLORS[run.status])}"


def _facts(opened: Run, report: Report, verbose: bool) -> dict[str, str]:
    run, tags = report.run, opened.tags
    ended = run.error or (run.stop.message if run.stop else None)
    was_forked = run.parent is not None and (opened.path / "config.yaml").exists()
    forked_seed = opened.config.system.random_seed if was_forked else None
    return {
        "run": run.run_id,
        "started": local_time(run.started_at),
        "ended": f"{local_time(run.completed_at)}, {ended}" if run.completed_at else "-",
        "seed": seeds(run.random_seed, forked_seed),
        **({"tags": ", ".join(tags)} if tags else {}),
        **({"parent": f"forked from {run.parent.run_id} at tick {run.parent.tick}"} if run.parent else {}),
        **({"resumed": ", ".join(f"at tick {item.tick}" for item in run.resumed)} if run.resumed else {}),
        **({"rewinds": str(run.rewinds)} if run.rewinds else {}),
        "ticks": f"{report.steps:,} in {report.episodes:,} complete episodes",
        "decisions": f"{report.decisions:,}  " + ", ".join(f"{n:,} {s}" for s, n in report.decision_statuses.items()),
        "cost": f"${report.cost or 0:,.4f}, {report.tokens or 0:,} tokens",
        "world": f"version {run.facts.version}, snapshots by {run.facts.snapshot}",
        **({"made with": ", ".join(f"{name} {what}" for name, what in run.facts.origin.items())} if verbose else {}),
        "kept in": str(opened.path),
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
        **(_episode(directory, metadata) if state.party is None else _place(state)),
        "decision": f"{decision.last_decision_type or '-'}, {decision.current_decision_status or 'none yet'}, "
        f"{number(decision.last_decision_latency_ms)} ms",
        "ticks/s": f"{number(health.tick_rate_actual)} of {number(health.tick_rate_target)}",
        "memory": f"{number(health.memory_usage_mb)} MB",
        "errors": number(health.error_count),
        "snapshots": number(health.snapshot_count),
    }
    party = (
        f"  {member.name or '?':<12} level {member.level:<3} {hp_bar(member.hp, member.max_hp)} "
        f"{member.hp}/{member.max_hp}"
        for member in state.party or ()
    )
    return output.show(options, found, _title(metadata), *fact_lines(facts), *party)


def _place(state: CurrentState) -> dict[str, str]:
    place = f" at {state.coordinates.x}, {state.coordinates.y}" if state.coordinates else ""
    return {
        "where": f"{state.location or '-'}{place}  ({state.screen_type or 'unknown screen'})",
        "badges": number(state.badges),
        "caught": number(state.pokemon_caught),
        "items": ", ".join(f"{name} {count}" for name, count in state.inventory.items() if count) or "-",
    }


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


def tag(options: Options) -> int:
    """Change or list the tags of a run."""
    run = named_run(options)
    changes = options.tags or options.remove
    tags = run.tag(*options.tags, remove=options.remove) if changes else run.tags
    reply = output.answer if changes else output.show
    return reply(options, {"run_id": run.id, "tags": tags}, f"{run.id}: {', '.join(tags) or 'no tags'}")


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
        if options.format == "parquet" and sys.stdout.isatty():
            raise UsageError("Parquet can't be shown in a terminal; name a file with --output")
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
