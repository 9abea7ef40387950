"""`ptp replay`: play a recorded run again and compare every tick."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING

from ptp.cli.common import RUN_HELP, open_run, parse_common
from ptp.cli.parser import Parser

if TYPE_CHECKING:
    from ptp.replay import Replayed

DESCRIPTION = """Play a recorded run again in a fresh world and compare the state of every tick.

Each tick is printed as it is played; --verify only compares, at full speed. The exit code is 1 when the replay differs
from the tape.

examples:
  ptp replay latest --verify
  ptp replay latest --from-tick 200
"""


def main(argv: list[str]) -> int:
    """Run the verb."""
    parser = Parser("ptp replay", DESCRIPTION)
    parser.add_argument("run", metavar="RUN", nargs="?", default="latest", help=RUN_HELP)
    parser.add_argument("--verify", action="store_true", help="Only compare, without printing each tick.")
    parser.add_argument("--from-tick", type=int, default=1, metavar="N", help="Compare from tick N on (default: 1).")
    options, system = parse_common(parser, argv)

    from ptp.cli.output import print_json, say
    from ptp.cli.progress import ticks_shown
    from ptp.replay import Replay, Tape

    tape = Tape(open_run(system, options.run))
    replay = Replay(tape, options.from_tick)
    talk = not (options.verify or options.json or system.quiet)
    show = options.verify and not (options.json or system.quiet)
    with closing(replay), ticks_shown("comparing", tape.length, show) as shown:
        for step in replay:
            shown(step.tick)
            if talk:
                say(f"tick {step.tick}  episode {step.episode}  command {step.command}  reward {step.reward}")
    if options.json:
        print_json(replay.result)
    elif not system.quiet:
        say(_verdict(replay.result))
    if replay.result.difference is not None:
        sys.stderr.write(f"ptp: the replay differs from the tape at tick {replay.result.difference.tick}\n")
    return 0 if replay.result.equal else 1


def _verdict(result: Replayed) -> str:
    from ptp.cli.output import STATUS_COLORS, paint

    if result.difference is None:
        ticks = (
            f"{result.ticks:,} ticks from tick {result.from_tick}"
            if result.from_tick > 1
            else f"{result.ticks:,} ticks"
        )
        return f"{paint('equal', STATUS_COLORS['completed'])}: {ticks} of {result.run_id} replayed with the same hashes"
    difference = result.difference
    return (
        f"{paint('different', STATUS_COLORS['crashed'])}: tick {difference.tick} should be {difference.expected} "
        f"but is {difference.actual}: {'; '.join(difference.why)}"
    )
