"""A run as one object, whether a process plays it, it has ended, it crashed, or it is archived."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ptp import records
from ptp._util.lazy import lazy
from ptp.errors import PtpError, UsageError
from ptp.recording.database import Database
from ptp.recording.directory import RunDirectory
from ptp.recording.tally import tally
from ptp.runs.logs import LogLines, read_log
from ptp.runs.summary import RunSummary, describe
from ptp.runs.tables import R, Rows
from ptp.runs.ticks import ANY, newest_tick, state_at

if TYPE_CHECKING:
    from ptp import replay, runner
    from ptp.config import RunConfig
    from ptp.frames import Picture
    from ptp.recording import figures, labels
    from ptp.replay import video
    from ptp.runner import control, protocol
    from ptp.runs import drawing, settings, sharing, shots, steering, verification
    from ptp.runs.steering import Restored, Steered
    from ptp.snapshots import SnapshotHeader
else:  # what plays, draws or steers is loaded when a run is played, drawn or steered
    figures, labels = lazy("ptp.recording.figures"), lazy("ptp.recording.labels")
    replay, runner, video = lazy("ptp.replay"), lazy("ptp.runner"), lazy("ptp.replay.video")
    control, protocol = lazy("ptp.runner.control"), lazy("ptp.runner.protocol")
    drawing, sharing, shots = lazy("ptp.runs.drawing"), lazy("ptp.runs.sharing"), lazy("ptp.runs.shots")
    settings, steering = lazy("ptp.runs.settings"), lazy("ptp.runs.steering")
    verification = lazy("ptp.runs.verification")

SHOWN = ("run_id", "name", "notes", "status", "world", "agent", "ticks", "episodes", "total_reward", "total_cost",
         "started_at", "tags", "stopped_by", "error")  # fmt: skip


def _table(record: type[R], about: str) -> Callable[[Run], Rows[R]]:
    """Return the method of a run that gives its records of one type."""

    def rows(run: Run) -> Rows[R]:
        return Rows(run.directory, record)

    rows.__doc__ = about
    return rows


class Run:
    """One run; nothing is read before it is used, and a live run is read anew each time."""

    def __init__(self, directory: RunDirectory) -> None:
        self.directory = directory

    @property
    def id(self) -> str:
        """The run's id, a UUIDv7."""
        return self.directory.run_id

    @property
    def path(self) -> Path:
        """The run's folder."""
        return self.directory.path

    @property
    def metadata(self) -> records.Metadata:
        """The header: world, agent, seed, and how the run ended."""
        return self.directory.read_metadata()

    @property
    def status(self) -> records.Status:
        """How the run stands: running, completed, crashed or manual_stop."""
        return self.metadata.status

    @property
    def is_live(self) -> bool:
        """Whether a process plays it."""
        return self.directory.is_alive()

    @property
    def config(self) -> RunConfig:
        """The settings as they are now: as recorded, with what was changed while it played."""
        return settings.read_config(self.directory)

    @property
    def tags(self) -> list[str]:
        """What people tagged it with, sorted."""
        return self.metadata.tags

    def tag(self, *tags: str, remove: Sequence[str] = ()) -> list[str]:
        """Add tags to find and keep the run by, remove others, and return those that it has then."""
        return self._relabel(protocol.Label(add=list(tags), remove=list(remove))).tags

    def rename(self, name: str) -> None:
        """Give the run a name, which finds it as its id does; an empty one removes the name."""
        self._relabel(protocol.Label(name=name))

    def note(self, notes: str) -> None:
        """Replace the notes; empty ones remove them."""
        self._relabel(protocol.Label(notes=notes))

    def _relabel(self, change: protocol.Label) -> records.Metadata:
        if self.is_live:
            control.ask(self.directory, change)
            return self.metadata
        return labels.relabel_ended(self.directory, **msgspec.structs.asdict(change))

    def summary(self) -> RunSummary:
        """Return the run in a line."""
        metadata = self.metadata
        return describe(metadata, tally(self.directory, metadata))

    # -- what happened -----------------------------------------------------------------------------------------

    def steps(self, first: int | None = None, last: int | None = None) -> Rows[records.Step]:
        """Return the tape: every command and what came of it, from tick *first* to tick *last*."""
        return Rows(self.directory, records.Step, "tick BETWEEN ? AND ?", first or 0, ANY if last is None else last)

    episodes = _table(records.EpisodeEnded, "Return the whole episodes.")
    episode_starts = _table(records.EpisodeBegan, "Return how each episode began.")
    decisions = _table(
        records.DecisionMade,
        "Return the decisions; those of ticks that were rolled back have the status `rolled_back`.",
    )
    transitions = _table(records.Transition, "Return what a learner took from each step.")
    learning = _table(records.EpisodeLearnt, "Return what a learner said of itself after each episode.")
    model_calls = _table(records.ModelCall, "Return the calls of models.")
    events = _table(records.Event, "Return what the world itself calls events.")
    metrics = _table(records.Metric, "Return the measurements.")
    resources = _table(records.ResourceUse, "Return what the run's process took of the machine.")
    frames = _table(records.FrameKept, "Return which pictures were kept; `frame` gives the picture of any tick.")
    notices = _table(records.Notice, "Return what a person should know.")
    errors = _table(records.ErrorSeen, "Return what went wrong.")
    rewinds = _table(records.Rewound, "Return when the run went back.")
    config_changes = _table(records.ConfigChanged, "Return which settings were changed while it played.")

    def log(self, lines: int = 200, after: int | None = None, level: str | None = None) -> LogLines:
        """Return the newest lines of the log, or those *after* so many bytes."""
        return read_log(self.path / "run.log", lines, after, level)

    def report(self) -> figures.Report:
        """Return the run in figures."""
        return figures.make_report(self.directory)

    # -- any tick ----------------------------------------------------------------------------------------------

    @property
    def last_tick(self) -> int:
        """The newest tick, 0 when there is none."""
        with Database(self.directory.database) as database:
            return newest_tick(database)

    def state(self, tick: int | None = None) -> dict[str, Any]:
        """Return the world's state after a tick, or after the newest; empty where none was kept."""
        with Database(self.directory.database) as database:
            return state_at(database, ANY if tick is None else tick)

    def frame(self, tick: int | None = None) -> Picture:
        """Return the picture after a tick, or after the newest: rows of red, green and blue, or text."""
        return shots.as_picture(self.picture(tick))

    def picture(self, tick: int | None = None) -> drawing.Drawn:
        """Return the same as the bytes of a file: as it was kept, or drawn from the tape."""
        album = shots.Album(drawing.draw_here)
        return album.at_tick(self.directory, self.metadata, self.last_tick if tick is None else tick)

    def video(
        self,
        output: str | Path | None = None,
        first: int = 1,
        last: int | None = None,
        *,
        speed: float = 1.0,
        overlay: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> video.VideoMade:
        """Play the tape and write its pictures as a video, by default in the run's folder."""
        plan = video.VideoPlan(first, last, speed, overlay)
        return video.make_video(self.directory, plan, None if output is None else Path(output), progress)

    def verify(self) -> verification.Verdict:
        """Hold everything that is kept of the run against its seal, without playing it."""
        return verification.verify(self.directory)

    def replay(self, from_tick: int = 1) -> replay.Replayed:
        """Play the tape again and compare every tick."""
        with closing(replay.Replay(replay.Tape(self.directory), from_tick)) as played:
            for _ in played:
                pass
        return played.result

    # -- steering; whether a process must be asked is decided here and nowhere else ------------------------------

    def pause(self) -> Steered:
        """Pause a live run."""
        return steering.steer(self.directory, protocol.Pause())

    def step(self, ticks: int = 1) -> Steered:
        """Let a live run play some ticks, then pause it."""
        return steering.steer(self.directory, protocol.Step(ticks))

    def set(self, **changes: object) -> Steered:
        """Change settings of a live run: flags of `ptp run`, as in `run.set(max_ticks=500)`."""
        flags = {f"--{name.replace('_', '-')}": str(value) for name, value in changes.items()}
        return steering.steer(self.directory, protocol.Change(flags))

    def stop(self) -> Steered:
        """End a live run as Ctrl-C would."""
        return steering.steer(self.directory, protocol.End())

    def rollback(self, count: int = 1) -> Steered:
        """Take a live run back by some of its snapshots in memory; what came after is discarded."""
        return steering.steer(self.directory, protocol.Rollback(count))

    def rewind(self, ticks: int = 1) -> Restored:
        """Go back some ticks; what came after is discarded."""
        if self.is_live:
            now = steering.steer(self.directory, protocol.Rewind(ticks))
            return steering.Restored(self.id, now.tick, True, None)
        return self.restore(tick=self.last_tick - ticks)

    def unpause(self) -> Steered:
        """Let a paused live run play on."""
        return steering.steer(self.directory, protocol.Resume())

    def resume(self, **changes: object) -> Steered | records.RunResult:
        """Unpause a live run, or play one that ended or crashed until it ends again, with some settings changed."""
        if self.is_live:
            return self.unpause()
        return runner.resume(self.directory, self._changed(changes))

    def fork(self, at_tick: int | None = None, **changes: object) -> records.RunResult:
        """Play a new run that has this one's history up to a tick, with some settings changed."""
        return runner.fork(self.directory, self.last_tick if at_tick is None else at_tick, self._changed(changes))

    def snapshots(self) -> list[SnapshotHeader]:
        """Return the snapshots, newest first; of a live run those in memory too."""
        if self.is_live:
            return control.ask(self.directory, protocol.ListSnapshots()).snapshots or []
        return steering.store_of(self.directory).headers()

    def snapshot(self, name: str | None = None, message: str | None = None) -> SnapshotHeader:
        """Take a snapshot: of a live run now, of another at its last tick."""
        if not self.is_live:
            return steering.create_snapshot(self.directory, name, message)
        taken = control.ask(self.directory, protocol.TakeSnapshot(name, message)).snapshot
        assert taken is not None
        return taken

    def restore(self, snapshot: str | None = None, *, tick: int | None = None) -> Restored:
        """Go back to a snapshot, by name or id, or to any tick; what came after it is discarded."""
        if (snapshot is None) == (tick is None):
            raise UsageError("name a snapshot, or a tick with --tick N")
        if not self.is_live:
            if snapshot is None:
                steering.restore_tick(self.directory, tick or 0)
            else:
                tick = steering.restore_snapshot(self.directory, snapshot).tick
            return steering.Restored(self.id, tick or 0, False, f"ptp resume {self.id}")
        if snapshot is None:
            restored = steering.steer(self.directory, protocol.Rewind(to_tick=tick))
            return steering.Restored(self.id, restored.tick, True, None)
        known = (it.snapshot_id for it in self.snapshots() if snapshot in (it.snapshot_id, it.name, "latest"))
        restored = steering.steer(self.directory, protocol.Restore(next(known, snapshot)))
        return steering.Restored(self.id, restored.tick, True, None)

    def share(self, snapshot: str, target: str | Path) -> SnapshotHeader:
        """Write a snapshot with its tape to a file that another machine can resume from."""
        return sharing.export_snapshot(self.directory, snapshot, Path(target))

    def _changed(self, changes: dict[str, object]) -> RunConfig:
        return settings.change(self.config, {"data_dir": str(self.path.parent.parent), **changes})

    # -- how it shows itself -----------------------------------------------------------------------------------

    def __repr__(self) -> str:
        try:
            line = self.summary()
        except PtpError as problem:
            return f"<Run {self.id}: {problem}>"
        return f"<Run {self.id}: {line.agent} in {line.world}, {line.status}, {line.ticks} ticks>"

    def _repr_html_(self) -> str:
        from html import escape

        try:
            facts: dict[str, Any] = {name: getattr(self.summary(), name) for name in SHOWN}
        except PtpError as problem:
            facts = {"run_id": self.id, "error": problem}
        cells = "".join(
            f"<tr><th>{name}</th><td>{escape(', '.join(value) if isinstance(value, list) else str(value))}</td></tr>"
            for name, value in facts.items()
            if value not in (None, [])
        )
        return f"<table>{cells}</table>"
