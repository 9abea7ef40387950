"""`ptp export`: write a run's tables as JSON, CSV, Parquet or JSON lines."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ptp.cli.parser import Parser

if TYPE_CHECKING:
    from ptp.runs.run import Run

DESCRIPTION = """Write how a run stands, or one of its tables, in a form that other programs read.

examples:
  ptp export --format json --output state.json
  ptp export --what steps --format parquet --output steps.parquet
  ptp export latest 0198c5 --what steps --format parquet --output steps.parquet
  ptp export --what decisions --format ndjson | jq .reasoning
"""


def main(argv: list[str]) -> int:
    """Run the verb."""
    from ptp.cli.common import RUN_HELP, open_run, parse_common
    from ptp.cli.output import print_json, say
    from ptp.errors import UsageError
    from ptp.runs.exports import FORMATS, WHATS, check_names, export, write_export
    from ptp.runs.run import Run

    parser = Parser("ptp export", DESCRIPTION)
    parser.add_argument("--format", choices=FORMATS, default="json", help="The form (default: json).")
    parser.add_argument("--what", choices=WHATS, default="status", help="The status, or a table (default: status).")
    parser.add_argument("-o", "--output", metavar="FILE", help="The file; else standard output.")
    parser.add_argument("runs", metavar="RUN", nargs="*", help=f"{RUN_HELP} Several are joined into one file.")
    parser.add_argument("--run", metavar="RUN", help="The same; without any run, the live or newest one.")
    options, system = parse_common(parser, argv)
    check_names(options.runs)
    runs = [Run(open_run(system, name)) for name in options.runs or [options.run]]
    if options.output is None:
        if options.format == "parquet" and sys.stdout.isatty():
            raise UsageError("Parquet is not for a terminal; name a file with --output")
        for piece in export(runs, options.what, options.format):
            sys.stdout.buffer.write(piece)
        return 0
    try:
        size = write_export(runs, options.what, options.format, Path(options.output))
    except OSError as problem:
        raise UsageError(f"--output {options.output}: {problem.strerror}; name another file") from None
    facts = {"runs": [run.id for run in runs], "what": options.what, "format": options.format, "path": options.output}
    if options.json:
        print_json({**facts, "bytes": size})
    elif not system.quiet:
        say(f"{options.output}: {options.what} of {_named(runs)}, {size:,} bytes")
    return 0


def _named(runs: list[Run]) -> str:
    return runs[0].id if len(runs) == 1 else f"{len(runs)} runs"
