"""`ptp runs`."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from ptp.cli.output import in_time, local_time, number, runnable, short_ids, show, table
from ptp.cli.parser import Options
from ptp.errors import PtpError
from ptp.runs.library import read_summaries
from ptp.runs.query import group_runs, make_query
from ptp.runs.summary import RunSummary

WIDTH = 120  # columns from which on ids are whole
FIRST = "`ptp run --world tallgrass --agent explorer --tick-rate-base 0 --max-ticks 1000`"
FILTERS = ("status", "world", "agent", "tag", "experiment", "since", "until", "min_ticks", "max_ticks", "min_reward",
           "max_reward")  # fmt: skip
SORT = {"started": "started_at", "reward": "total_reward", "cost": "total_cost", "duration": "elapsed_seconds"}
"""Columns whose headings differ from the names that programs use."""
RIGHT = ("ticks", "episodes", "reward", "duration", "runs", "mean reward", "best", "cost")
SPARE = ("cost", "episodes", "duration", "started", "reward")


def main(options: Options) -> int:
    """List runs, or groups of them."""
    filters = {name: getattr(options, name) for name in FILTERS}
    query = make_query(
        **filters, text=options.search, sort=SORT.get(options.sort, options.sort), descending=not options.reverse
    )
    limit = None if options.group_by else options.limit or None
    found = read_summaries(options.folder, query, limit, _report)
    if options.group_by:
        return _show_groups(options, found)
    if found:
        return show(options, found, *_lines(found))
    nothing = f"no runs in {options.folder} yet; make one with {FIRST}" if query.is_plain else "no matching runs"
    return show(options, found, runnable(nothing, options.words))


def _report(problem: PtpError) -> None:
    sys.stderr.write(f"ptp: {problem}\n")


def _lines(found: list[RunSummary]) -> Iterable[str]:
    """Return the list; a column that would be empty is left out."""
    signals = list(dict.fromkeys(name for run in found for name in run.signals))
    rows = [
        {
            "run": run_id,
            "name": run.name or "",
            "started": local_time(run.started_at),
            "status": run.status,
            "world": run.world,
            "agent": run.agent,
            "ticks": number(run.ticks),
            "duration": in_time(run.elapsed_seconds),
            "episodes": number(run.episodes),
            "reward": number(run.total_reward),
            **{name: number(run.signals.get(name)) for name in signals},
            "cost": f"${run.total_cost:,.4f}" if run.total_cost else "",
            "tags": ", ".join(run.tags),
        }
        for run, run_id in zip(found, short_ids([run.run_id for run in found], WIDTH), strict=True)
    ]
    headers = [name for name in rows[0] if any(row[name] for row in rows)]
    cells = [[row[name] for name in headers] for row in rows]
    return table(headers, cells, (*RIGHT, *signals), (*SPARE, *signals))


def _show_groups(options: Options, found: list[RunSummary]) -> int:
    groups = group_runs(found, options.group_by)
    rows = [
        (it.group, number(it.runs), ", ".join(f"{count:,} {status}" for status, count in it.statuses.items()),
         number(it.ticks), in_time(it.elapsed_seconds), number(it.episodes), number(it.mean_reward),
         number(it.best_reward))
        for it in groups
    ]  # fmt: skip
    headers = (options.group_by, "runs", "status", "ticks", "duration", "episodes", "mean reward", "best")
    return show(options, groups, *(table(headers, rows, RIGHT, SPARE) if rows else ["no matching runs"]))
