"""`ptp runs`: list recorded runs."""

from __future__ import annotations

import sys

from ptp.cli.common import data_dir, parse_common
from ptp.cli.parser import Parser

DESCRIPTION = """List recorded runs, newest first. A terminal that is too narrow gets the beginnings of ids, which do as
well, and fewer columns.

examples:
  ptp runs
  ptp runs --limit 0 --json
"""
WIDTH = 120  # columns from which on ids are whole


def main(argv: list[str]) -> int:
    """Run the verb."""
    parser = Parser("ptp runs", DESCRIPTION)
    parser.add_argument(
        "--limit", type=int, default=20, metavar="N", help="Show at most N runs (default: 20; 0 is all)."
    )
    options, system = parse_common(parser, argv)

    from ptp.cli.output import local_time, number, print_json, print_table, runnable, say, short_ids
    from ptp.errors import RunUnreadable
    from ptp.runs.library import list_runs
    from ptp.runs.summary import RunSummary

    found: list[RunSummary] = []
    for run in list_runs(data_dir(system)):
        if options.limit and len(found) >= options.limit:
            break
        try:
            found.append(run.summary())
        except RunUnreadable as problem:
            sys.stderr.write(f"ptp: {problem}\n")
    if options.json:
        print_json(found)
        return 0
    if not found:
        make = "`ptp run --world tallgrass --agent explorer --tick-rate-base 0 --max-ticks 1000`"
        say(runnable(f"no runs in {data_dir(system)} yet; make one with {make}", argv))
        return 0
    rows: list[tuple[str, ...]] = [
        (run_id, local_time(run.started_at), run.status, run.world, run.agent, number(run.ticks),
         number(run.episodes), number(run.total_reward), ", ".join(run.tags))
        for run, run_id in zip(found, short_ids([run.run_id for run in found], WIDTH), strict=True)
    ]  # fmt: skip
    headers: tuple[str, ...] = ("run", "started", "status", "world", "agent", "ticks", "episodes", "reward", "tags")
    if not any(run.tags for run in found):
        headers, rows = headers[:-1], [row[:-1] for row in rows]
    print_table(headers, rows, right=("ticks", "episodes", "reward"), spare=("episodes", "reward", "started"))
    return 0
