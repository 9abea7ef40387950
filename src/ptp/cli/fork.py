"""`ptp fork`: start a new run from any tick of another."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ptp.cli.common import RUN_HELP
from ptp.cli.parser import Parser
from ptp.cli.run import finish, merged_config
from ptp.config.flags import add_config_flags

if TYPE_CHECKING:
    from ptp.runner import RunResult, Watcher

DESCRIPTION = """Start a new run whose history is another one's up to a tick.

Settings are the other run's; flags change them. With --random-seed or another --agent the new run takes another way
from there; with neither it plays what the other one played.

examples:
  ptp fork latest --at-tick 500 --random-seed 8
  ptp fork latest --at-tick 500 --agent script --script moves.txt
"""


def main(argv: list[str]) -> int:
    """Run the verb."""
    parser = Parser("ptp fork", DESCRIPTION)
    parser.add_argument("run", metavar="RUN", nargs="?", default="latest", help=RUN_HELP)
    parser.add_argument("--at-tick", type=int, required=True, metavar="N", help="The last tick of the shared history.")
    parser.add_argument("--run-id", help=argparse.SUPPRESS)  # who starts it may name it, and so know it at once
    add_config_flags(parser)
    options = parser.parse(argv)
    parent, config = merged_config(options, keep=("world",))

    from ptp.runner import fork

    def play(watcher: Watcher) -> RunResult:
        return fork(parent, options.at_tick, config, run_id=options.run_id, watcher=watcher)

    return finish(config, options.json, play)
