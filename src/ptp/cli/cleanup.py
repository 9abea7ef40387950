"""`ptp cleanup`."""

from __future__ import annotations

import time

from ptp.cli.common import data_dir, named_run
from ptp.cli.output import answer, in_bytes, print_table
from ptp.cli.parser import Options
from ptp.recording import RunDirectory
from ptp.recording.directory import run_paths
from ptp.retention.plan import parse_age
from ptp.retention.screenshots import clean_up, plan_cleanup


def screenshots(options: Options) -> int:
    """Remove the pictures of ended runs."""
    every = [RunDirectory(path) for path in run_paths(data_dir(options))]
    directories = [named_run(options).directory] if options.run else every
    older_than = None if options.older_than is None else parse_age(options.older_than)
    planned = plan_cleanup(directories, older_than, time.time())
    done = planned if options.dry_run else clean_up(directories, planned)
    if done and options.talks:
        rows = [(emptied.run_id, emptied.pictures, in_bytes(emptied.bytes)) for emptied in done]
        print_table(("run", "pictures", "bytes"), rows, ("pictures", "bytes"))
    freed, did = sum(emptied.bytes for emptied in done), "would remove" if options.dry_run else "removed"
    return answer(
        options, {"dry_run": options.dry_run, "runs": done, "freed": freed},
        f"{did} {sum(emptied.pictures for emptied in done)} pictures, {in_bytes(freed)}",
    )  # fmt: skip
