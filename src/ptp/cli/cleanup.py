"""`ptp cleanup`: remove what can be made again."""

from __future__ import annotations

import time

from ptp.cli.common import RUN_HELP, data_dir, parse_common
from ptp.cli.parser import Parser, choose

DESCRIPTION = """Remove what can be made again.

  ptp cleanup screenshots [RUN] [--older-than AGE] [--dry-run]   the pictures of runs that have ended
"""


def main(argv: list[str]) -> int:
    """Run the verb."""
    return choose("cleanup", DESCRIPTION, {"screenshots": _screenshots}, argv)


def _screenshots(argv: list[str]) -> int:
    parser = Parser("ptp cleanup screenshots", "Remove the pictures of runs that have ended; the tape can draw them.")
    parser.add_argument("run", metavar="RUN", nargs="?", help=RUN_HELP + " Without one, every run.")
    parser.add_argument("--older-than", metavar="AGE", help="Only of runs that began longer ago (7d, 12h).")
    parser.add_argument("--dry-run", action="store_true", help="Only tell what would be removed.")
    options, system = parse_common(parser, argv)

    from ptp.cli.output import print_json, print_table, say
    from ptp.cli.sizes import in_words
    from ptp.recording import RunDirectory
    from ptp.recording.directory import run_paths
    from ptp.retention.plan import parse_age
    from ptp.retention.screenshots import clean_up, plan_cleanup
    from ptp.runs.library import find_run

    folder = data_dir(system)
    directories = [find_run(folder, options.run)] if options.run else [RunDirectory(p) for p in run_paths(folder)]
    older_than = None if options.older_than is None else parse_age(options.older_than)
    planned = plan_cleanup(directories, older_than, time.time())
    done = planned if options.dry_run else clean_up(directories, planned)
    freed = sum(emptied.bytes for emptied in done)
    if options.json:
        print_json({"dry_run": options.dry_run, "runs": done, "freed": freed})
    elif not system.quiet:
        if done:
            rows = [(emptied.run_id, emptied.pictures, in_words(emptied.bytes)) for emptied in done]
            print_table(("run", "pictures", "bytes"), rows, ("pictures", "bytes"))
        verb = "would remove" if options.dry_run else "removed"
        say(f"{verb} {sum(emptied.pictures for emptied in done)} pictures, {in_words(freed)}")
    return 0
