"""One game being played for clients, whatever protocol they speak; recorded as a run if asked."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lz4.block
import msgspec
import numpy as np

from ptp._util.clock import Clock
from ptp.emulators.png import png
from ptp.engine import Play
from ptp.errors import PtpError, RecordingError, SnapshotError, UsageError, WorldError
from ptp.records import Record, WorldSpec
from ptp.runner.lane import Lane, settings
from ptp.scripts import Execution, Played, ScriptCompiler, Target, play
from ptp.worlds import Outcome, make_world
from ptp.worlds.knowledge import knowledge_of

if TYPE_CHECKING:
    from ptp.emulators.gym import GymSession

MAGIC = b"PTPEMU\x01"
MOST_SAVED = 16 << 20  # bytes of an unpacked snapshot
MOST_COMMANDS = 1_000_000  # that lead from the start of an episode to a snapshot of it
MOST_FRAMES = 200_000  # of the commands of one request; ticks, in a world without frames


class NotBegun(UsageError):
    """There is no game to play yet."""


class EpisodeOver(PtpError):
    """The episode has ended; another has to begin."""


class Stopping(PtpError):
    """The game was taken away while it was played."""


class Saved(msgspec.Struct, frozen=True):
    """What a snapshot holds: a state, or the commands that lead there from a seed."""

    world: str
    identity: str
    seed: int
    step: int
    reward: float
    state: bytes | None = None
    commands: list[str] = []


class Session:
    """A world and who plays it; it must be used on the thread that made it."""

    def __init__(self, spec: WorldSpec, data_dir: Path, record: bool = False) -> None:
        self.world = world = make_world(spec, trusted=True)
        self.data_dir = data_dir
        self.timing = world.view().timing
        self.scale = 2 if self.timing else 1
        self.gym: GymSession | None = None
        """The session of the pokemon-gym protocol, once it is initialised."""
        self.unfinished: Callable[[], None] | None = None
        """What a request leaves to be done after its answer."""
        self.stopping = threading.Event()
        """Set when the game is to end, also in the middle of a long request."""
        self.episode_id: str | None = None
        self.seed: int | None = None
        """The seed of the episode; None before the first."""
        self.shows_frames = False
        """Whether every observation has a picture."""
        self._failure: RecordingError | None = None
        self._record = record
        self._lane: Lane | None = None
        self._commands: list[str] | None = None
        self._before = (0, 0.0)
        self._compiler: ScriptCompiler | None = None
        self.play = Play(world, Clock(), secrets.randbelow(2**31))

    # -- playing -----------------------------------------------------------------------------------------------

    def begin(self, player: str, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode; without a seed it gets one, so that it can be played again."""
        if self._record and self._lane is None:
            self._lane = Lane(self.world, settings(None, self.data_dir, None), agent=player)
            self.play = self._lane.play
        seed = self.play.next_seed() if seed is None else seed
        observation = self.world.reset(seed, options)
        if self._lane is not None:
            self._lane.began(observation, seed, options)
        else:
            if not self.play.over:
                self.play.end(False, 0.0, [])
            self.play.note_begin(observation, seed, options)
        self.seed = seed
        self._commands = [] if self.world.facts.snapshot == "tape" else None
        self._before = (0, 0.0)

    def parse(self, command: Any) -> Any:
        """Return a command as the world takes it, from what a client wrote: text, or data."""
        return self.world.parse(command if isinstance(command, str) else msgspec.json.encode(command).decode())

    def check_length(self, commands: Sequence[Any]) -> None:
        """Refuse commands that would keep everybody waiting for too long."""
        frames = sum(map(self.timing.length, commands)) if self.timing else len(commands)
        if frames > MOST_FRAMES:
            raise UsageError(f"{frames:,} frames in one request are too many; allowed: {MOST_FRAMES:,}")

    def step(self, command: Any) -> Outcome:
        """Apply one command."""
        play, lane = self.play, self._lane
        if self.stopping.is_set():
            raise Stopping("the game is ending; begin another")
        if self.seed is None:
            raise NotBegun("no game has begun; POST /initialize or /reset first")
        if play.over:
            raise EpisodeOver("the episode has ended; POST /reset begins the next one")
        if lane is None:
            records: list[Record] = []
            outcome = play.apply(command, self.world.encode(command), records)
        else:
            outcome = self._step_recorded(lane, command)
        if self._commands is not None:
            self._commands.append(self.world.encode(command))
        return outcome

    def _step_recorded(self, lane: Lane, command: Any) -> Outcome:
        try:
            lane.before_step()
        except KeyboardInterrupt:  # somebody stopped the run, as one stops any other
            self.end()
            raise NotBegun("the run was stopped by request; POST /initialize or /reset begins another") from None
        outcome = self.world.step(command)
        lane.stepped(command, outcome)
        return outcome

    def execute(self, text: str) -> Played:
        """Play a button script; every mistake in it is named before anything is played."""
        target = Target(self.world.view())
        self._compiler = self._compiler or ScriptCompiler(target)
        if self.seed is None:
            raise NotBegun("no game has begun; POST /initialize or /reset first")
        script = self._compiler.compile(text)
        if script.frames.low > MOST_FRAMES:
            raise UsageError(f"a script of {script.frames.low:,} frames is too long; allowed: {MOST_FRAMES:,}")
        turns, state, left = play(Execution(script, target), self.play.state), None, MOST_FRAMES
        try:
            while True:
                command = self.world.parse(turns.send(state))
                left -= self.timing.length(command) if self.timing else 1
                if left < 0:
                    raise UsageError(f"the script has played {MOST_FRAMES:,} frames, the most in one request")
                self.step(command)
                state = self.play.state
        except StopIteration as end:
            played: Played = end.value
            return played

    def finish(self) -> None:
        """Do what the last request left to be done; what went wrong is told once, by `confess`."""
        work, self.unfinished = self.unfinished, None
        try:
            if work is not None:
                work()
        except OSError as problem:
            self._failure = RecordingError(f"the session's files can't be written: {problem}; make room for them")

    def confess(self) -> None:
        """Raise what went wrong after the last answer."""
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    # -- what is there -----------------------------------------------------------------------------------------

    @property
    def steps(self) -> int:
        """Commands since the episode began, those before a restored snapshot too."""
        return self._before[0] + self.play.step

    @property
    def reward(self) -> float:
        """The reward of the episode so far."""
        return self._before[1] + self.play.episode_reward

    @property
    def run_id(self) -> str | None:
        """The run that this is recorded as."""
        return None if self._lane is None else self._lane.run.run_id

    def picture(self) -> bytes | None:
        """Return the present picture as a PNG file; None where a world has none."""
        if self.world.facts.render_mode != "rgb_array":
            return None
        pixels = self.world.raw_frame()
        return png(pixels, self.scale) if isinstance(pixels, np.ndarray) else None

    # -- snapshots ---------------------------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """Return everything that is needed to continue from here, in this game or another of the same world."""
        if self.seed is None:
            raise NotBegun("no game has begun; POST /initialize or /reset first")
        if self._commands is not None and len(self._commands) > MOST_COMMANDS:
            raise SnapshotError(f"the episode is longer than {MOST_COMMANDS:,} commands; begin another with /reset")
        saved = Saved(
            self.world.spec.name,
            self._identity(),
            self.seed,
            self.steps,
            self.reward,
            self.world.save() if self._commands is None else None,
            self._commands or [],
        )
        return b"".join((MAGIC, lz4.block.compress(msgspec.msgpack.encode(saved))))

    def restore(self, player: str, data: bytes) -> None:
        """Begin an episode that continues a snapshot, or that begins in a state of the emulator; or change nothing."""
        saved, commands = self.check(data)
        options = None if saved.state is None else self.world.options_from(saved.state)
        self.begin(player, saved.seed, options)
        for command in commands:
            self.step(command)
        self._before = saved.step - self.play.step, saved.reward - self.play.episode_reward

    def check(self, data: bytes) -> tuple[Saved, list[Any]]:
        """Return what a snapshot holds, and its commands; one that can't be restored here is refused."""
        saved = self._read(data)
        if saved.state is not None:
            before = self.world.save()
            try:
                self.world.reset(0, self.world.options_from(saved.state))
            except WorldError as problem:
                raise SnapshotError(str(problem)) from None
            finally:
                self.world.load(before)
        return saved, [self.world.parse(text) for text in saved.commands]

    def _read(self, data: bytes) -> Saved:
        if not data.startswith(MAGIC) and self.world.facts.snapshot == "state":
            return Saved(self.world.spec.name, self._identity(), 0, 0, 0.0, data)
        if not data.startswith(MAGIC):
            raise SnapshotError("not a snapshot of a game server; take one with GET /v1/snapshot")
        packed = data[len(MAGIC) :]
        if int.from_bytes(packed[:4], "little") > MOST_SAVED:
            raise SnapshotError(f"a snapshot of more than {MOST_SAVED:,} bytes; take another")
        try:
            saved = msgspec.msgpack.decode(lz4.block.decompress(packed), type=Saved)
        except (msgspec.DecodeError, lz4.block.LZ4BlockError, ValueError) as problem:
            raise SnapshotError(f"the snapshot is damaged: {problem}; take another") from None
        if (saved.world, saved.identity) != (self.world.spec.name, self._identity()):
            raise SnapshotError(f"a snapshot of {saved.world!r} can't be restored in {self.world.spec.name!r}")
        if (saved.state is None) is not (self.world.facts.snapshot == "tape") or not 0 <= saved.seed < 2**63:
            raise SnapshotError("the snapshot is damaged: it lacks what its world needs; take another")
        return saved

    def _identity(self) -> str:
        facts = self.world.facts
        return facts.origin.get(knowledge_of(facts.family).identity or "", facts.version)

    # -- the end -----------------------------------------------------------------------------------------------

    def interrupt(self) -> None:
        """Let what is being played end soon; the one thing that another thread may call."""
        self.stopping.set()
        if self._lane is not None:
            self._lane.run.paused = False

    def end(self) -> None:
        """End the run, if this is recorded; the next episode begins another."""
        if self._lane is not None:
            self._lane.close()
            self._lane = None
            self.play = Play(self.world, Clock(), secrets.randbelow(2**31))
        self.seed = None

    def close(self) -> None:
        """End everything."""
        self.finish()
        if self.gym is not None:
            self.gym.close()
        self.end()
        self.world.close()
        self.confess()
