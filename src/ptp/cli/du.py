"""`ptp du`."""

from __future__ import annotations

from ptp.cli.common import named_run, readable_data_dir
from ptp.cli.output import in_bytes, print_json, print_table, say, short_ids
from ptp.cli.parser import Options
from ptp.frames.disk import free_bytes
from ptp.retention.sizes import DataSize, measure_run, measure_runs

WIDTH = 130  # columns from which on ids are whole
PARTS = ("database", "frames", "snapshots", "video", "episodes", "other", "total")


def main(options: Options) -> int:
    """Show how much disk space runs use."""
    size = _measure(options)
    if options.json:
        print_json(size)
        return 0
    ids = short_ids([run.run_id for run in size.runs], WIDTH)
    rows = [
        (run_id, run.status, *(in_bytes(getattr(run, part)) for part in PARTS))
        for run, run_id in zip(size.runs, ids, strict=True)
    ]
    if rows:
        print_table(("run", "status", *PARTS), rows, right=PARTS, spare=("status", "other", "episodes", "video"))
    say(f"{in_bytes(size.total)} in {len(size.runs)} runs, {in_bytes(size.free)} free")
    return 0


def _measure(options: Options) -> DataSize:
    folder = readable_data_dir(options)
    if options.run is not None:
        directory = named_run(options).directory
        run = measure_run(directory)
        return DataSize([run], 0, run.total, free_bytes(directory.path))
    return measure_runs(folder) if folder.is_dir() else DataSize([], 0, 0, free_bytes(folder.absolute().parent))
