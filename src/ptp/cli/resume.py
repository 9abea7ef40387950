"""`ptp resume`: go on with a run that crashed, stopped or is paused."""

from __future__ import annotations

from ptp.cli.common import RUN_HELP
from ptp.cli.parser import Parser
from ptp.cli.run import finish, merged_config
from ptp.config.flags import add_config_flags

DESCRIPTION = """Go on with a run that crashed, stopped or is paused, in place.

It goes on from its last committed tick: from the newest good snapshot, along the tape from there. Settings are those
it was recorded with; flags change limits, tick rates and the like.

examples:
  ptp resume latest
  ptp resume latest --max-ticks 5000
"""


def main(argv: list[str]) -> int:
    """Run the verb."""
    parser = Parser("ptp resume", DESCRIPTION)
    parser.add_argument("run", metavar="RUN", nargs="?", default="latest", help=RUN_HELP)
    add_config_flags(parser)
    options = parser.parse(argv)
    directory, config = merged_config(options, keep=("world", "agent", "random_seed"))

    if directory.is_alive():
        from ptp.cli.output import print_json, say
        from ptp.runner.control import ask

        answer = ask(directory, "resume")
        if options.json:
            print_json(answer)
        elif not config.system.quiet:
            say(f"run {directory.run_id} goes on at tick {answer['tick']}")
        return 0
    from ptp.runner import resume

    return finish(config, options.json, lambda watcher: resume(directory, config, sinks=[watcher]))
