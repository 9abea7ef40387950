"""`ptp tag`: give a run words to find and keep it by."""

from __future__ import annotations

from ptp.cli.common import RUN_HELP, data_dir, parse_common
from ptp.cli.parser import Parser

DESCRIPTION = """Give a run tags, which `ptp runs` and `ptp show` tell, and by which `ptp prune --keep-tag` keeps it.

examples:
  ptp tag latest best paper
  ptp tag latest
  ptp tag latest --remove best
"""


def main(argv: list[str]) -> int:
    """Run the verb."""
    parser = Parser("ptp tag", DESCRIPTION)
    parser.add_argument("run", metavar="RUN", help=RUN_HELP)
    parser.add_argument("words", metavar="WORD", nargs="*", help="Tags to give it; without any, its tags are told.")
    parser.add_argument("--remove", action="append", default=[], metavar="WORD", help="Take a tag from it.")
    options, system = parse_common(parser, argv)

    from ptp.cli.output import print_json, say
    from ptp.runs.library import find_run
    from ptp.runs.tags import change_tags

    directory = find_run(data_dir(system), options.run)
    changes = options.words or options.remove
    tags = change_tags(directory, options.words, options.remove) if changes else directory.read_tags()
    if options.json:
        print_json({"run_id": directory.run_id, "tags": tags})
    elif not (system.quiet and changes):
        say(f"{directory.run_id}: {', '.join(tags) or 'no tags'}")
    return 0
