"""`ptp show`: tell the story of one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptp.cli.common import RUN_HELP, open_run, parse_common
from ptp.cli.parser import Parser

if TYPE_CHECKING:
    from ptp.recording import RunDirectory
    from ptp.recording.figures import Report

DESCRIPTION = """Tell the story of one run: how it ended, what it cost, and how its episodes went.

examples:
  ptp show latest
  ptp show 01a1e290 -v      with the versions of everything that took part
"""


def main(argv: list[str]) -> int:
    """Run the verb."""
    parser = Parser("ptp show", DESCRIPTION)
    parser.add_argument("run", metavar="RUN", nargs="?", default="latest", help=RUN_HELP)
    options, system = parse_common(parser, argv)

    from msgspec import structs

    from ptp.cli.output import print_json
    from ptp.recording.figures import make_report

    directory = open_run(system, options.run)
    report = make_report(directory)
    tags = directory.read_tags()
    if options.json:
        print_json({**structs.asdict(report), "tags": tags})
    else:
        _tell(directory, report, tags, system.verbose)
    return 0


def _tell(directory: RunDirectory, report: Report, tags: list[str], verbose: bool) -> None:
    from ptp.cli.output import BOLD, STATUS_COLORS, local_time, number, paint, print_facts, print_table, say

    run = report.run
    say(f"{paint(f'{run.agent} in {run.world.name}', BOLD)}  {paint(run.status, STATUS_COLORS[run.status])}")
    ended = run.error or (run.stop.message if run.stop else None)
    facts = {
        "run": run.run_id,
        "began": local_time(run.started_at),
        "ended": f"{local_time(run.completed_at)}, {ended}" if run.completed_at else "-",
        "seed": str(run.random_seed),
        **({"tags": ", ".join(tags)} if tags else {}),
        **({"parent": f"forked from {run.parent.run_id} at tick {run.parent.tick}"} if run.parent else {}),
        **({"resumed": ", ".join(f"at tick {item.tick}" for item in run.resumed)} if run.resumed else {}),
        **({"rewinds": str(run.rewinds)} if run.rewinds else {}),
        "ticks": f"{report.steps:,} in {report.episodes:,} whole episodes",
        "decisions": f"{report.decisions:,}  " + ", ".join(f"{n:,} {s}" for s, n in report.decision_statuses.items()),
        "cost": f"${report.cost or 0:,.4f}, {report.tokens or 0:,} tokens",
        "world": f"version {run.facts.version}, snapshots by {run.facts.snapshot}",
        **({"made with": ", ".join(f"{name} {what}" for name, what in run.facts.origin.items())} if verbose else {}),
        "kept in": str(directory.path),
    }
    print_facts(facts)
    say()
    columns = ("mean", "min", "median", "p95", "max")
    spreads = {
        "episode reward": report.episode_reward,
        "episode steps": report.episode_steps,
        "decision ms": report.decision_latency_ms,
    }
    rows = [(name, *(number(spread.get(column)) for column in columns)) for name, spread in spreads.items() if spread]
    if rows:
        print_table(("spread", *columns), rows, right=columns)
    for error in report.errors:
        say(paint(f"error: {error}", STATUS_COLORS["crashed"]))
