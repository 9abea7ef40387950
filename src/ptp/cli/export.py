"""`ptp export`."""

from __future__ import annotations

import sys
from pathlib import Path

from ptp.cli.common import opened_run
from ptp.cli.output import answer
from ptp.cli.parser import Options
from ptp.errors import UsageError
from ptp.runs.exports import export, write_export


def main(options: Options) -> int:
    """Export a run."""
    directory = opened_run(options)
    metadata = directory.read_metadata()
    if options.output is None:
        if options.format == "parquet" and sys.stdout.isatty():
            raise UsageError("Parquet can't be shown in a terminal; name a file with --output")
        sys.stdout.buffer.writelines(export(directory, metadata, options.what, options.format))
        return 0
    try:
        size = write_export(directory, metadata, options.what, options.format, Path(options.output))
    except OSError as problem:
        raise UsageError(f"--output {options.output}: {problem.strerror}; name another file") from None
    facts = {"run_id": directory.run_id, "what": options.what, "format": options.format, "path": options.output}
    line = f"{options.output}: {options.what} of {directory.run_id}, {size:,} bytes"
    return answer(options, {**facts, "bytes": size}, line)
