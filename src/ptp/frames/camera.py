"""The camera of a run: told of every tick, it draws a picture only when one is due."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from ptp._util.attempt import attempt
from ptp.config.tree import Screenshot
from ptp.errors import RecordingError
from ptp.frames.archive import ArchiveStore
from ptp.frames.disk import DiskWatch
from ptp.frames.files import FileStore
from ptp.frames.pictures import FrameRing, Picture, as_rgb, checked
from ptp.frames.profiles import StorageProfile
from ptp.frames.shots import BackgroundLane, DirectLane, Drawn, Shot, Store
from ptp.frames.sink import ForwardingStore
from ptp.frames.triggers import Moment, Trigger, Triggers
from ptp.frames.video import VideoWriter
from ptp.records import FrameKept, Record, RunResult
from ptp.sinks import RunContext, Sink
from ptp.worlds.knowledge import knowledge_of

MEASURE_EVERY = 1.0  # seconds of play


class Camera(Sink):
    """Keeps the pictures of one run.

    A picture is drawn for a screenshot, for the video, or for the ring; each is drawn once and used by all. Of a world
    that can tell, what is to be seen in a kept picture is kept too.
    """

    inline = True
    each_tick = True

    def __init__(self, run: RunContext, profile: StorageProfile, video: VideoWriter | None = None) -> None:
        self._run = run
        self._world = world = run.play.world
        self._progress = run.play.progress
        config = run.config.screenshot
        mode = world.facts.render_mode
        asked = config != Screenshot()  # whoever sets anything about pictures wants them
        wanted = asked or profile.pictures == "all" or mode == "ansi"
        self._draws = mode is not None and profile.tier != "none" and wanted
        turns = knowledge_of(world.facts.family).turn_kinds
        self._triggers = Triggers(config, profile.keep_every_n_frames, profile.store_reward_spikes_only, turns)
        self._ring_every = profile.ring_every_n_ticks if self._draws else 0
        self._video = video
        self._told: set[str] = set()
        self._store = _open_store(run.path, config, profile, run.config.storage.frame_sink) if self._draws else Store()
        self.counts = self._store.counts
        self.ring = FrameRing(profile.ring_frames)
        self.watch = DiskWatch(run.path, profile.max_record_bytes)
        self._lane: DirectLane[Drawn]
        if config.in_background:
            self._lane = BackgroundLane(self._keep, patient=False)
        elif (world.releases_lock or profile.background) and self._draws:
            self._lane = BackgroundLane(self._develop, patient=True)
        else:
            self._lane = DirectLane(self._develop)
        self._measured = 0.0
        self.each_tick = self._draws or video is not None

    def _develop(self, drawn: Drawn) -> list[Record]:
        """Hold a picture for going back, and keep it when it is due; the run may go on meanwhile."""
        self.ring.add(drawn.tick, drawn.picture)
        return self._keep(drawn)

    def _keep(self, drawn: Drawn) -> list[Record]:
        if not isinstance(drawn, Shot):
            return []
        picture = drawn.picture if isinstance(drawn.picture, str) else as_rgb(drawn.picture)
        return self._store.keep(msgspec.structs.replace(drawn, picture=picture))

    def took(self, records: Sequence[Record]) -> None:
        """Take in what one tick told, and keep the picture that is due."""
        if self._draws or self._video is not None:
            moment = self._triggers.read(records, self._progress.signals.engaged)
            if moment is not None:
                self._see(moment)
            self._run.tell(*self._lane.done())
        elapsed = self._progress.elapsed
        if elapsed - self._measured >= MEASURE_EVERY:
            self._measured = elapsed
            self._measure()

    def _see(self, moment: Moment) -> None:
        due = moment.trigger if self._draws else None
        if due is not None and self.watch.full:
            self.counts.skipped += 1
            due = None
        film = self._video if moment.step is not None else None
        for_ring = self._ring_every and moment.tick % self._ring_every == 0
        if due is None and film is None and not for_ring:
            return
        picture = self._draw()
        if picture is None:
            return
        if film is not None and not isinstance(picture, str):
            film.add(picture)
            self._check(film)
        elif film is not None:
            self._video = None
            self._warn("video_ended", "the world draws text, so there is no video; try --render-mode rgb_array")
        if not self._lane.patient:
            self.ring.add(moment.tick, picture)
        if self._lane.patient or due is not None:
            self._hand_over(moment, due, picture)

    def _draw(self) -> Picture | None:
        picture = attempt(lambda: checked(self._world.raw_frame()))
        if isinstance(picture, Exception):
            self.counts.failed += 1
            self._warn("frame_failed", f"the world can't draw its picture: {picture!r}")
            return None
        if picture is None:
            self._draws = False
            self._warn("frame_absent", "the world has no picture; none are kept")
        return picture

    def _hand_over(self, moment: Moment, trigger: Trigger | None, picture: Picture) -> None:
        tick, step, at = moment.tick, moment.step, self._run.clock.time()
        drawn = Drawn(tick, at, picture)
        if trigger is not None:
            screen_type = self._run.play.context.partition(":")[0] or None
            shown = attempt(lambda: msgspec.to_builtins(self._world.annotations()))
            if isinstance(shown, Exception):
                self._warn("annotations_failed", f"the world can't tell what its picture shows: {shown!r}")
                shown = None
            drawn = Shot(tick, at, picture, trigger, step.episode if step else 0, screen_type, shown)
        if not self._lane.put(drawn, urgent=trigger is not None) and trigger is not None:
            self.counts.dropped += 1
            self._warn("frame_dropped", "pictures come faster than they can be kept; some are dropped")

    def _check(self, film: VideoWriter) -> None:
        if film.problem is not None:
            self._video = None
            self._warn("video_ended", f"the video ended early: {film.problem}")

    def _warn(self, kind: str, message: str) -> None:
        if kind not in self._told:
            self._told.add(kind)
            self._run.notice("warning", kind, message)

    def rewound(self, tick: int) -> None:
        """Forget the ticks after *tick*, which the run has taken back."""
        for record in self._lane.settle():
            if type(record) is not FrameKept or record.tick <= tick:
                self._run.tell(record)
        self.ring.forget_after(tick)
        self._store.forget_after(tick)

    def disk_used(self) -> int:
        """Return the bytes that the run takes on disk."""
        return self.watch.measure(self.counts.bytes).used

    def _measure(self) -> None:
        use = self.watch.measure(self.counts.bytes)
        self._run.measure("disk_used", use.used, "bytes")
        self._run.measure("disk_free", use.free, "bytes")
        self._run.measure("screenshot_queue_size", self._lane.waiting, "pictures")
        for outcome in ("kept", "dropped", "failed"):
            self._run.measure(f"frames_{outcome}", getattr(self.counts, outcome), "pictures")
        self._run.tell(*self.watch.judge(use, self._run.clock.time(), self._run.tick))

    def ended(self, result: RunResult) -> None:
        """Keep what is still waiting."""
        self._measure()
        if self._video is not None:
            self._video.close()
            self._check(self._video)
        self._run.tell(*self._lane.close(), *self._store.close())


def _open_store(run: Path, config: Screenshot, profile: StorageProfile, sink_url: str | None) -> Store:
    quota, quality, once = profile.quota(config), config.quality, profile.snapshot_deduplication
    store: Store
    try:
        if profile.tier == "archive":
            store = ArchiveStore(run, quota, profile, quality)
        else:
            store = FileStore(run, quota, profile.format, quality, compress=config.compress, once=once)
    except OSError as problem:
        raise RecordingError(f"can't keep pictures in {run}: {problem.strerror or problem}") from None
    return store if sink_url is None else ForwardingStore(store, sink_url, run.name, profile.format, quality)
