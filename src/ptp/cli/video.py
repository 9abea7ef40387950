"""`ptp video`."""

from __future__ import annotations

from pathlib import Path

from ptp.cli.common import opened_run
from ptp.cli.output import answer
from ptp.cli.parser import Options
from ptp.cli.progress import work_shown
from ptp.errors import UsageError
from ptp.replay.video import VideoPlan, make_video


def main(options: Options) -> int:
    """Make a video."""
    output = _check_output(options.output)
    run = opened_run(options)
    plan = VideoPlan(options.first, options.last, options.speed, options.overlay)
    last = options.last or run.summary().ticks or 0
    with work_shown(options.talks) as shown:
        made = make_video(run.directory, plan, output, lambda tick: shown("drawing", tick, last),
                          trusted=options.trust)  # fmt: skip
    return answer(
        options, made,
        f"{made.path}: {made.frames:,} pictures of ticks {made.from_tick:,} to {made.to_tick:,}, "
        f"{made.seconds:,.1f} s at {made.frames_per_second:g} per second, {made.bytes:,} bytes",
    )  # fmt: skip


def _check_output(name: str | None) -> Path | None:
    if name is None:
        return None
    path = Path(name)
    if path.suffix.lower() != ".mp4":
        raise UsageError(f"-o {name}: a video is an MP4 file; use a name that ends in .mp4")
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError(f"-o {name}: there is no folder {path.parent}; name a file in a folder that exists")
    return path
