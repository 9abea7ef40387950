"""`ptp verify`: whether runs are what was recorded."""

from __future__ import annotations

from collections.abc import Iterator

from ptp.cli.databases import find_databases
from ptp.cli.output import STATUS_COLORS, answer, paint
from ptp.cli.parser import Options
from ptp.recording import RunDirectory
from ptp.runs.verification import Verdict
from ptp.runs.verification import verify as verify_run


def verify(options: Options) -> int:
    """Check runs, and fail when one is not what was recorded."""
    databases = find_databases(options.folder, options.runs)
    verdicts = [verify_run(RunDirectory(database.resolve().parent)) for database in databases]
    lines = [line for verdict in verdicts for line in _lines(verdict)]
    nothing = [] if verdicts else [f"no runs in {options.folder}; name another folder with --data-dir"]
    return answer(options, verdicts, *lines, *nothing, failed=not all(verdict.good for verdict in verdicts))


def _lines(verdict: Verdict) -> Iterator[str]:
    if not verdict.good:
        yield f"{verdict.run_id}: {paint('not what was recorded', STATUS_COLORS['crashed'])}"
        yield from (f"  {fault}" for fault in verdict.faults)
        yield from (f"  {problem}" for problem in verdict.problems)
        return
    snapshots = f"{verdict.snapshots:,} snapshot{'' if verdict.snapshots == 1 else 's'}"
    if verdict.sealed:
        good = paint("good", STATUS_COLORS["completed"])
        yield f"{verdict.run_id}: {good}, {verdict.links:,} batches sealed, {snapshots} whole"
        yield f"  head  {verdict.head}"
    else:
        yield f"{verdict.run_id}: unsealed, it was recorded before there was a seal; {snapshots} whole"
    if verdict.tape_digest is not None:
        yield f"  tape  {verdict.tape_digest}"
