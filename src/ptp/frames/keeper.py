"""The camera of a run: told of every tick, it draws a picture only when one is due."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from ptp._util.attempt import attempt
from ptp._util.clock import Clock
from ptp.config.tree import Screenshot
from ptp.engine.records import Notice, Record
from ptp.frames.disk import DiskWatch
from ptp.frames.lane import BackgroundLane, DirectLane
from ptp.frames.pictures import Picture, as_kept, check
from ptp.frames.profiles import StorageProfile
from ptp.frames.ring import FrameRing
from ptp.frames.shots import Counts, Drawn, Shot
from ptp.frames.stores import NoStore, make_store
from ptp.frames.triggers import Moment, Trigger, Triggers
from ptp.frames.video import VideoWriter
from ptp.worlds import World

_json = msgspec.json.Encoder().encode


class FrameKeeper:
    """Keeps the pictures of one run; it returns records, and the caller decides where they go.

    A picture is drawn for a screenshot, for the video, or for the ring; each is drawn once and used by all.
    What the world says is to be seen in a kept picture is kept too.
    """

    def __init__(
        self,
        world: World,
        run: Path,
        config: Screenshot,
        profile: StorageProfile,
        clock: Clock,
        *,
        video: VideoWriter | None = None,
        sink_url: str | None = None,
    ) -> None:
        self._world = world
        self._clock = clock
        self._draws = world.facts.render_mode is not None and self._wants(config, profile)
        self._triggers = Triggers(config, profile.keep_every_n_frames, profile.store_reward_spikes_only)
        self._ring_every = profile.ring_every_n_ticks if self._draws else 0
        self._video = video
        self._saw_last = False
        self._notices: list[msgspec.Struct] = []
        self._told: set[str] = set()
        self._store = make_store(run, config, profile, sink_url) if self._draws else NoStore()
        self.counts: Counts = self._store.counts
        self.ring = FrameRing(profile.ring_frames)
        self.watch = DiskWatch(run, profile.max_record_bytes)
        self._lane = self._open_lane(config.in_background)

    def _open_lane(self, in_background: bool) -> BackgroundLane | DirectLane:
        if in_background:
            return BackgroundLane(self._keep, patient=False)
        if self._world.releases_lock:
            return BackgroundLane(self._develop, patient=True)
        return DirectLane(self._develop)

    def _develop(self, drawn: Drawn) -> list[msgspec.Struct]:
        """Hold a picture for going back, and keep it when it is due; the run may go on meanwhile."""
        self.ring.add(drawn.tick, drawn.picture)
        return self._keep(drawn)

    def _keep(self, drawn: Drawn) -> list[msgspec.Struct]:
        if not isinstance(drawn, Shot):
            return []
        return self._store.keep(msgspec.structs.replace(drawn, picture=as_kept(drawn.picture)))

    def _wants(self, config: Screenshot, profile: StorageProfile) -> bool:
        if profile.tier == "none":
            return False
        asked = config != Screenshot()  # whoever sets anything about pictures wants them
        return asked or profile.pictures == "all" or self._world.facts.render_mode == "ansi"

    def look(self, records: Sequence[Record], battle: bool = False) -> list[msgspec.Struct]:
        """Take in what one tick told, keep the picture that is due, and return what was kept since the last call."""
        if self._saw_last:
            self._saw_last = False
        else:
            self._read(records, battle)
        return self._told_since()

    def before_reset(self, records: Sequence[Record], battle: bool = False) -> None:
        """Take in the last tick of an episode while the world still shows it; the next `look` passes over it."""
        self._read(records, battle)
        self._saw_last = True

    def _read(self, records: Sequence[Record], battle: bool) -> None:
        if self._draws or self._video is not None:
            moment = self._triggers.read(records, battle)
            if moment is not None:
                self._see(moment)

    def look_at_error(self, tick: int) -> list[msgspec.Struct]:
        """Keep the picture in which a run failed."""
        if self._draws:
            self._see(Moment(tick, None, Trigger.ERROR))
        return self._told_since()

    def _see(self, moment: Moment) -> None:
        due = moment.trigger if self._draws else None
        if due is not None and self.watch.full:
            self.counts.skipped += 1
            due = None
        film = self._video if moment.step is not None else None
        for_ring = self._ring_every and moment.tick % self._ring_every == 0
        if due is None and film is None and not for_ring:
            return
        picture = self._draw(moment.tick)
        if picture is None:
            return
        if film is not None:
            self._roll(film, picture, moment.tick)
        if self._lane.patient:
            self._hand_over(moment, due, picture)
            return
        self.ring.add(moment.tick, picture)
        if due is not None:
            self._hand_over(moment, due, picture)

    def _draw(self, tick: int) -> Picture | None:
        picture = attempt(self._frame)
        if isinstance(picture, Exception):
            self.counts.failed += 1
            self._tell(tick, "frame_failed", f"the world can't draw its picture: {picture!r}")
            return None
        if picture is None:
            self._draws = False
            self._tell(tick, "frame_absent", "the world has no picture; none are kept")
        return picture

    def _frame(self) -> Picture | None:
        picture = self._world.raw_frame()
        if picture is not None:
            check(picture)
        return picture

    def _hand_over(self, moment: Moment, trigger: Trigger | None, picture: Picture) -> None:
        tick, step, at = moment.tick, moment.step, self._clock.time()
        drawn = Drawn(tick, at, picture)
        if trigger is not None:
            screen_type = self._world.context().partition(":")[0] or None
            episode = step.episode if step else 0
            found = self._describe(tick)
            drawn = Shot(tick, at, picture, trigger, episode, screen_type, found, has_step=step is not None)
        if not self._lane.put(drawn, urgent=trigger is not None) and trigger is not None:
            self.counts.dropped += 1
            self._tell(moment.tick, "frame_dropped", "pictures come faster than they can be kept; some are dropped")

    def _describe(self, tick: int) -> str | None:
        """Return what is to be seen in the picture, as JSON."""
        found = attempt(lambda: _as_json(self._world.annotations()))
        if isinstance(found, Exception):
            self._tell(tick, "annotations_failed", f"the world can't tell what its picture shows: {found!r}")
            return None
        return found

    def _roll(self, film: VideoWriter, picture: Picture, tick: int) -> None:
        if isinstance(picture, str):
            self._video = None
            self._tell(tick, "video_ended", "the world draws text, so there is no video; try --render-mode rgb_array")
            return
        film.add(picture)
        if film.problem is not None:
            self._video = None
            self._tell(tick, "video_ended", f"the video ended early: {film.problem}")

    def _tell(self, tick: int, kind: str, message: str) -> None:
        if kind not in self._told:
            self._told.add(kind)
            self._notices.append(Notice(self._clock.time(), tick, "warning", kind, message))

    def _told_since(self) -> list[msgspec.Struct]:
        done = self._lane.done()
        if self._notices:
            done += self._notices
            self._notices = []
        return done

    def settle(self) -> list[msgspec.Struct]:
        """Wait until every picture so far is kept, and return its records; a run does this before it goes back."""
        done = self._lane.settle() + self._notices
        self._notices = []
        return done

    def rewound(self, tick: int) -> None:
        """Forget the ticks after *tick*, which the run has taken back."""
        self.ring.forget_after(tick)
        self._store.forget_after(tick)

    def measure(self, tick: int) -> tuple[list[tuple[str, float, str]], list[msgspec.Struct]]:
        """Return the metrics of pictures and disk, and what a person should know; called about once a second."""
        use = self.watch.measure(self.counts.bytes)
        metrics: list[tuple[str, float, str]] = [
            ("disk_used", use.used, "bytes"),
            ("disk_free", use.free, "bytes"),
            ("frames_kept", self.counts.kept, "pictures"),
            ("frames_dropped", self.counts.dropped, "pictures"),
            ("frames_failed", self.counts.failed, "pictures"),
        ]
        return metrics, self.watch.judge(use, self._clock.time(), tick)

    def close(self) -> list[msgspec.Struct]:
        """Keep what is still waiting and return the last records."""
        if self._video is not None:
            self._video.close()
            if self._video.problem is not None:
                self._tell(0, "video_ended", f"the video ended early: {self._video.problem}")
        done = self._lane.close() + self._store.close() + self._notices
        self._notices = []
        return done


def _as_json(found: object) -> str | None:
    return None if found is None else _json(found).decode()
