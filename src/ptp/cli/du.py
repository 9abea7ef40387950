"""`ptp du`: tell how much the runs take."""

from __future__ import annotations

from ptp.cli.common import RUN_HELP, parse_common, readable_data_dir
from ptp.cli.parser import Parser

DESCRIPTION = """Tell how many bytes the runs take, by what they are, and what the disk has left.

examples:
  ptp du
  ptp du latest --json
"""
WIDTH = 130  # columns from which on ids are whole


def main(argv: list[str]) -> int:
    """Run the verb."""
    parser = Parser("ptp du", DESCRIPTION)
    parser.add_argument("run", metavar="RUN", nargs="?", help=RUN_HELP)
    options, system = parse_common(parser, argv)

    from ptp.cli.output import print_json, print_table, say, short_ids
    from ptp.cli.sizes import in_words
    from ptp.frames.disk import free_bytes
    from ptp.retention.sizes import DataSize, measure_run, measure_runs
    from ptp.runs.library import find_run

    folder = readable_data_dir(system)
    if options.run is not None:
        directory = find_run(folder, options.run)
        run = measure_run(directory)
        size = DataSize([run], 0, run.total, free_bytes(directory.path))
    elif folder.is_dir():
        size = measure_runs(folder)
    else:
        size = DataSize([], 0, 0, free_bytes(folder.absolute().parent))
    if options.json:
        print_json(size)
        return 0
    parts = ("database", "frames", "snapshots", "video", "episodes", "other", "total")
    ids = short_ids([run.run_id for run in size.runs], WIDTH)
    rows = [
        (run_id, run.status, *(in_words(getattr(run, part)) for part in parts))
        for run, run_id in zip(size.runs, ids, strict=True)
    ]
    if rows:
        print_table(("run", "status", *parts), rows, right=parts, spare=("status", "other", "episodes", "video"))
    say(f"{in_words(size.total)} in {len(size.runs)} runs, {in_words(size.free)} free")
    return 0
