"""`ptp video`: make a video of a recorded run from its tape."""

from __future__ import annotations

from pathlib import Path

from ptp.cli.common import RUN_HELP, open_run, parse_common
from ptp.cli.parser import Parser

DESCRIPTION = """Make a video of a recorded run, played again from its tape; it need not have kept pictures.

examples:
  ptp video latest
  ptp video latest --from 1000 --to 2000 --speed 4 --overlay -o walk.mp4
"""


def main(argv: list[str]) -> int:
    """Run the verb."""
    parser = Parser("ptp video", DESCRIPTION)
    parser.add_argument("run", metavar="RUN", nargs="?", default="latest", help=RUN_HELP)
    parser.add_argument("--from", dest="first", type=int, default=1, metavar="N", help="First tick (default: 1).")
    parser.add_argument("--to", dest="last", type=int, metavar="N", help="Last tick (default: the last of the run).")
    parser.add_argument("--speed", type=float, default=1.0, metavar="X", help="Times as fast (default: 1).")
    parser.add_argument("--overlay", action="store_true", help="Tell tick, action, reward and reasons below it.")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="The MP4 file (default: in the run's folder, under video/)."
    )
    options, system = parse_common(parser, argv)
    output = _check_output(options.output)

    from ptp.cli.output import print_json, say
    from ptp.cli.progress import ticks_shown
    from ptp.replay.video import VideoPlan, make_video
    from ptp.runs.summary import summarise

    directory = open_run(system, options.run)
    plan = VideoPlan(options.first, options.last, options.speed, options.overlay)
    last = options.last or summarise(directory).ticks or 0
    with ticks_shown("drawing", last, not (system.quiet or options.json)) as shown:
        made = make_video(directory, plan, output, shown)
    if options.json:
        print_json(made)
    elif not system.quiet:
        say(
            f"{made.path}: {made.frames:,} pictures of ticks {made.from_tick:,} to {made.to_tick:,}, "
            f"{made.seconds:,.1f} s at {made.frames_per_second:g} per second, {made.bytes:,} bytes"
        )
    return 0


def _check_output(name: str | None) -> Path | None:
    from ptp.errors import UsageError

    if name is None:
        return None
    path = Path(name)
    if path.suffix.lower() != ".mp4":
        raise UsageError(f"-o {name}: a video is an MP4 file; give it a name that ends in .mp4")
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError(f"-o {name}: there is no folder {path.parent}; name a file in a folder that exists")
    return path
