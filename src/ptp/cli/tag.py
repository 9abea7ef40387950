"""`ptp tag`."""

from __future__ import annotations

from ptp.cli.common import named_run
from ptp.cli.output import print_json, say
from ptp.cli.parser import Options


def main(options: Options) -> int:
    """Change or list the tags of a run."""
    run = named_run(options)
    changes = options.tags or options.remove
    tags = run.tag(*options.tags, remove=options.remove) if changes else run.tags
    if options.json:
        print_json({"run_id": run.id, "tags": tags})
    elif not (options.quiet and changes):
        say(f"{run.id}: {', '.join(tags) or 'no tags'}")
    return 0
