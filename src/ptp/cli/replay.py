"""`ptp replay` and `ptp video`: the tape of a run, played again."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

from ptp.cli.common import opened_run, work_shown
from ptp.cli.output import STATUS_COLORS, answer, paint, say
from ptp.cli.parser import Options
from ptp.errors import UsageError
from ptp.replay import Replay, Replayed, Tape
from ptp.replay.video import VideoPlan, make_video


def replay(options: Options) -> int:
    """Replay a run, and fail when it differs."""
    tape = Tape(opened_run(options).directory)
    replay = Replay(tape, options.from_tick, trusted=options.trust)
    with closing(replay), work_shown(options.verify and options.talks) as shown:
        for step in replay:
            shown("comparing", step.tick, tape.length)
            if options.talks and not options.verify:
                say(f"tick {step.tick}  episode {step.episode}  command {step.command}  reward {step.reward}")
    code = answer(options, replay.result, _verdict(replay.result), failed=not replay.result.equal)
    if replay.result.difference is not None:
        sys.stderr.write(f"ptp: the replay differs from the tape at tick {replay.result.difference.tick}\n")
    return code


def _verdict(result: Replayed) -> str:
    difference = result.difference
    if difference is None:
        start = f" from tick {result.from_tick}" if result.from_tick > 1 else ""
        equal = paint("equal", STATUS_COLORS["completed"])
        return f"{equal}: {result.ticks:,} ticks{start} of {result.run_id} replayed with the same hashes"
    return (
        f"{paint('different', STATUS_COLORS['crashed'])}: tick {difference.tick} should be {difference.expected} "
        f"but is {difference.actual}: {'; '.join(difference.why)}"
    )


def video(options: Options) -> int:
    """Make a video."""
    output = None if options.output is None else _checked(Path(options.output))
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


def _checked(path: Path) -> Path:
    if path.suffix.lower() != ".mp4":
        raise UsageError(f"-o {path}: a video is an MP4 file; use a name that ends in .mp4")
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError(f"-o {path}: there is no folder {path.parent}; name a file in a folder that exists")
    return path
