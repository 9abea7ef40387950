"""`ptp export`: write a run's tables as JSON, CSV, Parquet or JSON lines."""

from __future__ import annotations

import sys
from pathlib import Path

from ptp.cli.parser import Parser

DESCRIPTION = """Write how a run stands, or one of its tables, in a form that other programs read.

examples:
  ptp export --format json --output state.json
  ptp export --what steps --format parquet --output steps.parquet
  ptp export --what decisions --format ndjson | jq .reasoning
"""


def main(argv: list[str]) -> int:
    """Run the verb."""
    from ptp.cli.output import print_json, say
    from ptp.cli.reading import parse_run
    from ptp.errors import UsageError
    from ptp.runs.exports import FORMATS, WHATS, export, write_export

    parser = Parser("ptp export", DESCRIPTION)
    parser.add_argument("--format", choices=FORMATS, default="json", help="The form (default: json).")
    parser.add_argument("--what", choices=WHATS, default="status", help="The status, or a table (default: status).")
    parser.add_argument("-o", "--output", metavar="FILE", help="The file; else standard output.")
    options, system, directory, metadata = parse_run(parser, argv)
    if options.output is None:
        if options.format == "parquet" and sys.stdout.isatty():
            raise UsageError("Parquet is not for a terminal; name a file with --output")
        for piece in export(directory, metadata, options.what, options.format):
            sys.stdout.buffer.write(piece)
        return 0
    try:
        size = write_export(directory, metadata, options.what, options.format, Path(options.output))
    except OSError as problem:
        raise UsageError(f"--output {options.output}: {problem.strerror}; name another file") from None
    facts = {"run_id": directory.run_id, "what": options.what, "format": options.format, "path": options.output}
    if options.json:
        print_json({**facts, "bytes": size})
    elif not system.quiet:
        say(f"{options.output}: {options.what} of {directory.run_id}, {size:,} bytes")
    return 0
