"""`ptp worlds`: list the worlds that can be played."""

from __future__ import annotations

from ptp.cli.common import parse_common
from ptp.config.flags import Parser


def main(argv: list[str]) -> int:
    """Run the verb."""
    parser = Parser("ptp worlds", "List the worlds that can be played: our own, plug-ins, and all of Gymnasium.")
    options, _ = parse_common(parser, argv)

    from ptp.cli.output import print_json, print_table
    from ptp.worlds import find_world, world_names

    specs = [find_world(name) for name in world_names()]
    if options.json:
        print_json([{"name": spec.name, "entry": spec.entry} for spec in specs])
    else:
        print_table(("world", "made by"), [(spec.name, spec.entry) for spec in specs])
    return 0
