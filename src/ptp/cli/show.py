"""`ptp show`."""

from __future__ import annotations

from msgspec import structs

from ptp.cli.common import opened_run
from ptp.cli.output import BOLD, STATUS_COLORS, local_time, number, paint, print_facts, print_json, print_table, say
from ptp.cli.parser import Options
from ptp.recording import RunDirectory
from ptp.recording.figures import Report


def main(options: Options) -> int:
    """Show how a run went."""
    opened = opened_run(options)
    directory, report, tags = opened.directory, opened.report(), opened.tags
    if options.json:
        print_json({**structs.asdict(report), "tags": tags})
        return 0
    run = report.run
    say(f"{paint(f'{run.agent} in {run.world.name}', BOLD)}  {paint(run.status, STATUS_COLORS[run.status])}")
    print_facts(_facts(directory, report, tags, options.config.system.verbose))
    say()
    _print_spreads(report)
    for error in report.errors:
        say(paint(f"error: {error}", STATUS_COLORS["crashed"]))
    return 0


def _facts(directory: RunDirectory, report: Report, tags: list[str], verbose: bool) -> dict[str, str]:
    run = report.run
    ended = run.error or (run.stop.message if run.stop else None)
    return {
        "run": run.run_id,
        "started": local_time(run.started_at),
        "ended": f"{local_time(run.completed_at)}, {ended}" if run.completed_at else "-",
        "seed": str(run.random_seed),
        **({"tags": ", ".join(tags)} if tags else {}),
        **({"parent": f"forked from {run.parent.run_id} at tick {run.parent.tick}"} if run.parent else {}),
        **({"resumed": ", ".join(f"at tick {item.tick}" for item in run.resumed)} if run.resumed else {}),
        **({"rewinds": str(run.rewinds)} if run.rewinds else {}),
        "ticks": f"{report.steps:,} in {report.episodes:,} complete episodes",
        "decisions": f"{report.decisions:,}  " + ", ".join(f"{n:,} {s}" for s, n in report.decision_statuses.items()),
        "cost": f"${report.cost or 0:,.4f}, {report.tokens or 0:,} tokens",
        "world": f"version {run.facts.version}, snapshots by {run.facts.snapshot}",
        **({"made with": ", ".join(f"{name} {what}" for name, what in run.facts.origin.items())} if verbose else {}),
        "kept in": str(directory.path),
    }


def _print_spreads(report: Report) -> None:
    columns = ("mean", "min", "median", "p95", "max")
    spreads = {
        "episode reward": report.episode_reward,
        "episode steps": report.episode_steps,
        "decision ms": report.decision_latency_ms,
    }
    rows = [(name, *(number(spread.get(column)) for column in columns)) for name, spread in spreads.items() if spread]
    if rows:
        print_table(("spread", *columns), rows, right=columns)
