"""`ptp du`: tell how much the runs take."""

from __future__ import annotations

from ptp.cli.common import RUN_HELP, data_dir, parse_common
from ptp.config.flags import Parser


def main(argv: list[str]) -> int:
    """Run the verb."""
    parser = Parser("ptp du", "Tell how many bytes the runs take, by what they are, and what the disk has left.")
    parser.add_argument("run", metavar="RUN", nargs="?", help=RUN_HELP)
    options, system = parse_common(parser, argv)

    from ptp.cli.output import print_json, print_table, say
    from ptp.cli.sizes import in_words
    from ptp.frames.disk import free_bytes
    from ptp.recording import find_run
    from ptp.retention.sizes import DataSize, measure_run, measure_runs

    folder = data_dir(system)
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
    rows = [(run.run_id, run.status, *(in_words(getattr(run, part)) for part in parts)) for run in size.runs]
    if rows:
        print_table(("run", "status", *parts), rows, right=parts)
    say(f"{in_words(size.total)} in {len(size.runs)} runs, {in_words(size.free)} free")
    return 0
