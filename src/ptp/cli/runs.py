"""`ptp runs`."""

from __future__ import annotations

import sys

from ptp.cli.output import local_time, number, runnable, short_ids, show, table
from ptp.cli.parser import Options
from ptp.errors import RunUnreadable
from ptp.runs.library import list_runs
from ptp.runs.summary import RunSummary

WIDTH = 120  # columns from which on ids are whole
FIRST = "`ptp run --world tallgrass --agent explorer --tick-rate-base 0 --max-ticks 1000`"


def main(options: Options) -> int:
    """List the newest runs; one that can't be read is named, and does not count."""
    found: list[RunSummary] = []
    for run in list_runs(options.folder):
        if options.limit and len(found) >= options.limit:
            break
        try:
            found.append(run.summary())
        except RunUnreadable as problem:
            sys.stderr.write(f"ptp: {problem}\n")
    if not found:
        return show(options, found, runnable(f"no runs in {options.folder} yet; make one with {FIRST}", options.words))
    rows: list[tuple[str, ...]] = [
        (run_id, local_time(run.started_at), run.status, run.world, run.agent, number(run.ticks),
         number(run.episodes), number(run.total_reward), ", ".join(run.tags))
        for run, run_id in zip(found, short_ids([run.run_id for run in found], WIDTH), strict=True)
    ]  # fmt: skip
    headers: tuple[str, ...] = ("run", "started", "status", "world", "agent", "ticks", "episodes", "reward", "tags")
    if not any(run.tags for run in found):
        headers, rows = headers[:-1], [row[:-1] for row in rows]
    right, spare = ("ticks", "episodes", "reward"), ("episodes", "reward", "started")
    return show(options, found, *table(headers, rows, right=right, spare=spare))
