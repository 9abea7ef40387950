"""A video of a run, drawn again from its tape; the run need not have kept a single picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import chain
from math import ceil
from pathlib import Path
from typing import Any

import msgspec

from ptp.errors import ReplayDiverged, UsageError, WorldError
from ptp.frames.pictures import Pixels
from ptp.frames.video import Caption, VideoWriter, check_video, draw, needs_av, ticks_per_second
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.replay.tape import Replay, Tape, TapeStep
from ptp.worlds import World, make_world

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
    last = tape.length if plan.last is None else plan.last
    if not 1 <= plan.first <= last <= tape.length:
        tape.close()
        raise UsageError(f"ticks {plan.first} to {last} are not on the tape; it has ticks 1 to {tape.length}")
    path = output or directory.path / "video" / f"ticks_{plan.first:06d}-{last:06d}.mp4"
    with Database(directory.database) as database, closing(Replay(tape, plan.first, trusted=trusted)) as replay:
        return _film(replay, plan, last, path, _Reasons(database), progress or (lambda tick: None))


def _film(
    replay: Replay, plan: VideoPlan, last: int, path: Path, reasons: _Reasons, progress: Callable[[int], None]
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
                pixels = _picture(replay.world)
                writer.add(draw(pixels, _caption(replay.world, step, total, reasons)) if plan.overlay else pixels)
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


def _picture(world: World) -> Pixels:
    picture = world.frame()
    if picture is None or isinstance(picture, str):
        raise WorldError(f"world {world.spec.name!r} gave no pixels to make a video of")
    return picture


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


def _caption(world: World, step: TapeStep, total: float, reasons: _Reasons) -> Caption:
    names = world.names_of_commands()
    known = step.command.isdigit() and int(step.command) < len(names)
    action = names[int(step.command)] if known else step.command
    return Caption(step.tick, step.episode, action, step.reward, total, reasons.at(step.tick))


class _Reasons:
    """What the agent had in mind at each tick, in the order of the tape."""

    def __init__(self, database: Database) -> None:
        query = """SELECT tick, reasoning FROM action_history WHERE execution_status IS NOT 'rolled_back'
                   ORDER BY tick, decision_id"""
        self._rows: Iterator[tuple[Any, ...]] = database.rows(query)
        self._present: str | None = None

    def at(self, tick: int) -> str | None:
        """Return the reasons of the decision that the command of *tick* came from: the last one made before it."""
        for row in self._rows:
            if row[0] >= tick:
                self._rows = chain([row], self._rows)
                break
            self._present = row[1]
        return self._present
