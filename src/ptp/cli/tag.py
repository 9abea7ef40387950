"""`ptp tag`."""

from __future__ import annotations

from ptp.cli.common import named_run
from ptp.cli.output import print_json, say
from ptp.cli.parser import Options
from ptp.recording.tags import change_tags, read_tags


def main(options: Options) -> int:
    """Change or list the tags of a run."""
    directory = named_run(options)
    changes = options.tags or options.remove
    tags = change_tags(directory, options.tags, options.remove) if changes else read_tags(directory)
    if options.json:
        print_json({"run_id": directory.run_id, "tags": tags})
    elif not (options.quiet and changes):
        say(f"{directory.run_id}: {', '.join(tags) or 'no tags'}")
    return 0
