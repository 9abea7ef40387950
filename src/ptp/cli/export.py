"""`ptp export`."""

from __future__ import annotations

import sys
from pathlib import Path

from ptp.cli.common import said_if_archived
from ptp.cli.output import answer
from ptp.cli.parser import Options
from ptp.errors import UsageError
from ptp.runs import Run, find_run
from ptp.runs.exports import check_names, export, write_export


def main(options: Options) -> int:
    """Export a run."""
    check_names(options.runs)
    runs = [said_if_archived(Run(find_run(options.folder, name))) for name in options.runs or [options.run]]
    if options.output is None:
        if options.format == "parquet" and sys.stdout.isatty():
            raise UsageError("Parquet can't be shown in a terminal; name a file with --output")
        sys.stdout.buffer.writelines(export(runs, options.what, options.format))
        return 0
    try:
        size = write_export(runs, options.what, options.format, Path(options.output))
    except OSError as problem:
        raise UsageError(f"--output {options.output}: {problem.strerror}; name another file") from None
    facts = {"runs": [run.id for run in runs], "what": options.what, "format": options.format, "path": options.output}
    named = runs[0].id if len(runs) == 1 else f"{len(runs)} runs"
    return answer(options, {**facts, "bytes": size}, f"{options.output}: {options.what} of {named}, {size:,} bytes")
