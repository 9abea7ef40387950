"""A video of a run, drawn again from its tape; the run need not have kept a single picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from math import ceil
from pathlib import Path

import msgspec

from ptp.errors import ReplayDiverged, UsageError, WorldError
from ptp.frames.video import Caption, VideoWriter, check_video, draw, needs_av, ticks_per_second
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.records import WorldFacts
from ptp.replay.tape import Replay, Tape, TapeStep
from ptp.worlds import make_world

FASTEST = 60  # pictures per second; a faster video shows fewer ticks instead
SLOWEST, QUICKEST = 0.01, 1000.0


class VideoMade(msgspec.Struct):
    """What a video shows."""

    run_id: str
    path: str
    from_tick: int
    to_tick: int
    frames: int
    frames_per_second: float
    seconds: float
    bytes: int


class VideoPlan(msgspec.Struct, frozen=True):
    """Which ticks are shown, and how."""

    first: int = 1
    last: int | None = None
    speed: float = 1.0
    overlay: bool = False


def make_video(
    directory: RunDirectory,
    plan: VideoPlan,
    output: Path | None = None,
    progress: Callable[[int], None] | None = None,
    *,
    trusted: bool = False,
) -> VideoMade:
    """Play the tape, draw its ticks and write the video; nothing is written when the tape can't be played."""
    needs_av()
    if not SLOWEST <= plan.speed <= QUICKEST:
        raise UsageError(f"--speed {plan.speed:g} is not allowed; allowed: {SLOWEST:g} to {QUICKEST:g}")
    tape = Tape(directory)
    length = tape.length
    last = length if plan.last is None else plan.last
    if not 1 <= plan.first <= last <= length:
        tape.close()
        raise UsageError(f"ticks {plan.first} to {last} are not on the tape; it has ticks 1 to {length}")
    path = output or directory.path / "video" / f"ticks_{plan.first:06d}-{last:06d}.mp4"
    with Database(directory.database) as database, closing(Replay(tape, plan.first, trusted=trusted)) as replay:
        return _film(replay, plan, last, path, database, progress or (lambda tick: None))


def _film(
    replay: Replay, plan: VideoPlan, last: int, path: Path, database: Database, progress: Callable[[int], None]
) -> VideoMade:
    spec, facts = replay.world.spec, replay.world.facts
    if facts.render_mode != "rgb_array" and "rgb_array" in facts.render_modes:
        replay.world.close()
        replay.world = make_world(spec, "rgb_array", trusted=True)  # it was made before
    check_video(replay.world)
    rate = ticks_per_second(replay.world) * plan.speed
    stride = max(1, ceil(rate / FASTEST))
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = VideoWriter(path, rate / stride)
    try:
        for step, total in _steps(replay, last):
            if (step.tick - plan.first) % stride == 0:
                pixels = replay.world.frame()
                if pixels is None or isinstance(pixels, str):
                    raise WorldError(f"world {spec.name!r} gave no pixels to make a video of")
                writer.add(draw(pixels, _caption(facts, step, total, database)) if plan.overlay else pixels)
            progress(step.tick)
        _check(replay)
        finished = writer.close()
    except BaseException:
        writer.discard()
        raise
    if finished is None:
        raise UsageError(f"the video can't be written to {path}: {writer.problem}; choose another file with -o")
    frames, shown = writer.frames, rate / stride
    return VideoMade(
        replay.result.run_id, str(path), plan.first, last, frames, shown, frames / shown, path.stat().st_size
    )


def _steps(replay: Replay, last: int) -> Iterator[tuple[TapeStep, float]]:
    """Return each step with the reward of its episode up to it, as far as it was shown."""
    total, episode = 0.0, 0
    for step in replay:
        if step.episode != episode:
            total, episode = 0.0, step.episode
        total += step.reward or 0.0
        yield step, total
        if step.tick >= last:
            return


def _check(replay: Replay) -> None:
    difference = replay.result.difference
    if difference is not None:
        raise ReplayDiverged(
            f"the replay differs from the tape at tick {difference.tick}, so the video would show another run: "
            f"{'; '.join(difference.why)}; end it before with --to {difference.tick - 1}"
        )


def _caption(facts: WorldFacts, step: TapeStep, total: float, database: Database) -> Caption:
    action = facts.name_command(step.command)
    return Caption(step.tick, step.episode, action, step.reward, total, _reasons(database, step.tick))


def _reasons(database: Database, tick: int) -> str | None:
    """Return the reasons of the decision that the command of *tick* came from: the last one made before it."""
    query = """SELECT reasoning FROM action_history WHERE tick < ? AND execution_status IS NOT 'rolled_back'
               ORDER BY tick DESC, decision_id DESC LIMIT 1"""
    return next((reasoning for (reasoning,) in database.rows(query, tick)), None)
