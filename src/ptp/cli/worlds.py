"""`ptp worlds`: list the worlds that can be played."""

from __future__ import annotations

from ptp.cli.common import parse_common
from ptp.cli.parser import Parser

DESCRIPTION = """List the worlds that can be played: our own, plug-ins, and all of Gymnasium. Some of Gymnasium's need a
package of their own; playing them tells which.

examples:
  ptp worlds
  ptp run --world CartPole-v1 --max-ticks 100
"""


def main(argv: list[str]) -> int:
    """Run the verb."""
    parser = Parser("ptp worlds", DESCRIPTION)
    options, _ = parse_common(parser, argv)

    from ptp.cli.output import print_json, print_table
    from ptp.worlds import find_world, world_names
    from ptp.worlds.registry import GAMEBOY, GYMNASIUM, TOY_TEXT

    makers = {GAMEBOY: "Game Boy", TOY_TEXT: "Gymnasium, toy text", GYMNASIUM: "Gymnasium"}
    specs = [find_world(name) for name in world_names()]
    if options.json:
        print_json([{"name": spec.name, "entry": spec.entry} for spec in specs])
    else:
        print_table(("world", "made by"), [(spec.name, makers.get(spec.entry, spec.entry)) for spec in specs])
    return 0
