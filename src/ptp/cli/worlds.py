"""`ptp worlds`: list the worlds that can be played."""

from __future__ import annotations

from ptp.cli.common import parse_common
from ptp.cli.parser import Parser

DESCRIPTION = """List the worlds that can be played: our own, plug-ins, and all of Gymnasium. Some of Gymnasium's need a
package of their own; the list says which is missing.

examples:
  ptp worlds
  ptp run --world CartPole-v1 --max-ticks 100
"""


def main(argv: list[str]) -> int:
    """Run the verb."""
    parser = Parser("ptp worlds", DESCRIPTION)
    options, _ = parse_common(parser, argv)

    from ptp.cli.output import print_json, print_table
    from ptp.worlds import list_worlds

    worlds = list_worlds()
    if options.json:
        print_json(worlds)
    else:
        print_table(("world", "family", "missing"), [(it.name, it.family, it.missing or "") for it in worlds])
    return 0
