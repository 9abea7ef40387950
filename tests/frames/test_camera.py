"""Pictures of a run: when they are taken, what is kept of them, and what they never do to the run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from PIL import Image

from ptp.config import RunConfig, replace
from ptp.config.tree import Screenshot
from ptp.frames import Camera, StorageProfile
from ptp.frames.disk import tree_bytes
from ptp.frames.pictures import as_rgb, fingerprint
from ptp.records import ErrorSeen, FrameKept, Step
from ptp.testing import FakeWorld, fake_run
from ptp.worlds import find_world, make_world
from tests.frames.playing import PixelWorld, Snowing, noise, play, read_frame, still

FILES = StorageProfile(tier="files", format="png")
JPEG = StorageProfile(tier="files")


def test_a_picture_is_kept_at_every_interval_and_drawn_only_then(tmp_path: Path) -> None:
    world = Snowing()
    run = play(tmp_path, world, 50, Screenshot(interval=10), FILES)
    rows = run.rows("SELECT tick, file_path, file_size_bytes, metadata FROM screenshots ORDER BY tick")
    assert [tick for tick, *_ in rows] == [10, 20, 30, 40, 50]
    assert world.drawn == 5
    for index, (_, path, size, metadata) in enumerate(rows, 1):
        assert (run.path / path).stat().st_size == size
        facts = json.loads(metadata)
        assert facts["resolution"] == {"width": 64, "height": 64}
        assert (facts["compression"], facts["trigger"]) == ("png", "INTERVAL")
        assert facts["hash"] == fingerprint(noise(index))
        assert np.array_equal(np.asarray(Image.open(run.path / path)), noise(index))


def test_a_step_refers_to_its_picture(tmp_path: Path) -> None:
    run = play(tmp_path, Snowing(), 30, Screenshot(interval=10), FILES)
    rows = run.rows("SELECT s.tick, s.frame_ref = f.file_path FROM steps s JOIN screenshots f USING (tick)")
    assert rows == [(10, 1), (20, 1), (30, 1)]
    ((reference,),) = run.rows("SELECT frame_ref FROM steps WHERE tick = 20")
    picture = read_frame(run.path, reference)
    assert not isinstance(picture, str)
    assert np.array_equal(picture, noise(2))


@pytest.mark.parametrize(("format", "kind"), [("jpeg", "JPEG"), ("png", "PNG"), ("webp", "WEBP")])
def test_every_format_can_be_opened_by_anybody(tmp_path: Path, format: str, kind: str) -> None:
    profile = StorageProfile(tier="files", format=format)  # type: ignore[arg-type]
    run = play(tmp_path, Snowing(), 10, Screenshot(interval=5, quality=70), profile)
    for path, metadata in run.rows("SELECT file_path, metadata FROM screenshots"):
        with Image.open(run.path / path) as image:
            assert (image.format, image.size) == (kind, (64, 64))
        assert json.loads(metadata)["quality"] == (None if format == "png" else 70)


def test_a_lower_quality_takes_less_space(tmp_path: Path) -> None:
    sizes = [
        play(tmp_path, Snowing(), 10, Screenshot(interval=10, quality=quality), JPEG).counts.bytes
        for quality in (0, 50, 85, 100)
    ]
    assert sizes == sorted(set(sizes))


def test_a_picture_that_is_text_is_kept_as_text(tmp_path: Path) -> None:
    world = FakeWorld()
    world.where = "S F F\nF H F\n"
    run = play(tmp_path, world, 20, Screenshot(interval=20), FILES)
    ((path, metadata),) = run.rows("SELECT file_path, metadata FROM screenshots")
    assert path.endswith(".txt")
    assert (run.path / path).read_text() == "S F F\nF H F\n"
    assert json.loads(metadata)["compression"] == "text"
    assert json.loads(metadata)["resolution"] == {"width": 5, "height": 2}
    assert read_frame(run.path, path) == "S F F\nF H F\n"


def test_equal_pictures_have_a_row_each_and_share_one_file(tmp_path: Path) -> None:
    run = play(tmp_path, PixelWorld(), 2_000, Screenshot(interval=1), JPEG)
    assert (run.counts.kept, run.counts.repeated) == (2_000, 1_999)
    ((reference, rows),) = run.rows("SELECT file_path, count(*) FROM screenshots GROUP BY 1")
    assert rows == 2_000
    assert run.rows("SELECT DISTINCT frame_ref FROM steps") == [(reference,)]
    assert [path.name for path in (run.path / "frames").rglob("*.jpg")] == [Path(reference).name]


def test_every_row_of_a_picture_that_is_removed_refers_to_none(tmp_path: Path) -> None:
    class Slides(PixelWorld):
        def frame(self) -> Any:
            super().frame()
            return noise(self.drawn // 10)

    quota = Screenshot(interval=1, max_storage=60_000 / 1e9)
    run = play(tmp_path, Slides(), 200, quota, FILES)
    assert run.counts.removed > 5
    kept = {path for (path,) in run.rows("SELECT DISTINCT file_path FROM screenshots WHERE file_path IS NOT NULL")}
    assert kept == {str(path.relative_to(run.path)) for path in (run.path / "frames").rglob("*.png")}
    assert run.rows("SELECT count(*) FROM steps JOIN screenshots USING (tick) WHERE frame_ref IS NOT file_path") == [
        (0,)
    ]


def test_equal_pictures_in_an_archive_share_their_bytes(tmp_path: Path) -> None:
    run = play(tmp_path, PixelWorld(), 300, Screenshot(interval=1), StorageProfile(tier="archive"))
    assert (run.counts.kept, run.counts.repeated) == (300, 298)  # in two segments
    assert run.rows("SELECT count(DISTINCT frame_ref), count(*) FROM steps") == [(300, 300)]
    assert tree_bytes(run.path / "frames") < 60_000


def test_equal_pictures_are_kept_once_even_when_others_were_between(tmp_path: Path) -> None:
    class Blinking(PixelWorld):
        def frame(self) -> Any:
            super().frame()
            return noise(self.drawn % 3)

    run = play(tmp_path, Blinking(), 300, Screenshot(interval=1), FILES)
    assert len(run.rows("SELECT DISTINCT file_path FROM screenshots")) == 3
    assert run.counts.kept == 300
    assert len(list((run.path / "frames").rglob("*.png"))) == 3


def test_without_deduplication_every_picture_has_a_file(tmp_path: Path) -> None:
    profile = StorageProfile(tier="files", format="png", snapshot_deduplication=False)
    run = play(tmp_path, PixelWorld(), 40, Screenshot(interval=10), profile)
    assert len(list((run.path / "frames").rglob("*.png"))) == 4


def test_pictures_in_the_background_are_the_same_ones(tmp_path: Path) -> None:
    run = play(tmp_path, Snowing(), 30, Screenshot(interval=1, in_background=True), FILES)
    kept = run.rows("SELECT tick, metadata->>'hash' FROM screenshots ORDER BY tick")
    assert kept == [(tick, fingerprint(noise(tick))) for tick, _ in kept]
    assert len(kept) + run.counts.dropped == 30
    assert run.rows("SELECT count(*) FROM steps WHERE frame_ref IS NOT NULL") == [(len(kept),)]


def test_pictures_that_come_too_fast_are_dropped_counted_and_told(tmp_path: Path) -> None:
    class Large(PixelWorld):
        def frame(self) -> Any:
            super().frame()
            return noise(self.drawn % 7 + 1000 * (self.drawn % 2), 400, 400)

    run = play(tmp_path, Large(), 2000, Screenshot(interval=1, in_background=True), FILES)
    assert run.counts.dropped > 0
    assert run.counts.kept + run.counts.dropped == 2000
    assert [notice.kind for notice in run.notices].count("frame_dropped") == 1


def test_of_a_world_that_plays_beside_python_every_picture_is_kept(tmp_path: Path) -> None:
    class Beside(Snowing):
        releases_lock: ClassVar[bool] = True

    run = play(tmp_path, Beside(), 200, Screenshot(interval=1), FILES)
    assert (run.counts.kept, run.counts.dropped) == (200, 0)
    kept = run.rows("SELECT tick, metadata->>'hash' FROM screenshots ORDER BY tick")
    assert kept == [(tick, fingerprint(noise(tick))) for tick in range(1, 201)]
    assert run.ring.ticks() == list(range(1, 201))


def test_alpha_is_left_out_and_grey_is_spread() -> None:
    colours = noise(3)
    alpha = np.dstack([colours, np.full(colours.shape[:2], 7, np.uint8)])
    np.testing.assert_array_equal(as_rgb(alpha), colours)
    np.testing.assert_array_equal(as_rgb(colours[:, :, 0])[5, 6], [colours[5, 6, 0]] * 3)
    np.testing.assert_array_equal(as_rgb(colours[:, :, :1])[5, 6], [colours[5, 6, 0]] * 3)


def test_a_world_that_fails_to_draw_goes_on_playing(tmp_path: Path) -> None:
    class Broken(PixelWorld):
        def frame(self) -> Any:
            raise OSError("no video device")

    run = play(tmp_path, Broken(), 50, Screenshot(interval=10), FILES)
    assert run.rows("SELECT count(*) FROM steps") == [(50,)]
    assert run.counts.failed == 5
    (notice,) = run.notices
    assert "no video device" in notice.message


@pytest.mark.parametrize("shape", [(8, 8, 2), (8,), (0, 8, 3)])
def test_a_picture_of_no_known_shape_is_counted_and_told(tmp_path: Path, shape: tuple[int, ...]) -> None:
    run = play(tmp_path, PixelWorld(np.zeros(shape, np.uint8)), 10, Screenshot(interval=10), FILES)
    assert run.counts.failed == 1
    assert "can't be kept" in run.notices[0].message


@pytest.mark.parametrize("shape", [(9, 7), (9, 7, 1), (9, 7, 3), (9, 7, 4)])
def test_grey_and_transparent_pictures_are_kept_in_colour(tmp_path: Path, shape: tuple[int, ...]) -> None:
    run = play(tmp_path, PixelWorld(np.full(shape, 99, np.uint8)), 10, Screenshot(interval=10), FILES)
    ((path,),) = run.rows("SELECT file_path FROM screenshots")
    assert np.array_equal(np.asarray(Image.open(run.path / path)), np.full((9, 7, 3), 99, np.uint8))


def test_a_world_with_toy_text_keeps_no_pictures_unless_they_are_asked_for(tmp_path: Path) -> None:
    silent = play(tmp_path, "FrozenLake-v1", 200)
    assert not (silent.path / "frames").exists()
    asked = play(tmp_path, "FrozenLake-v1", 200, Screenshot(interval=50))
    assert asked.rows("SELECT count(*) FROM screenshots") != [(0,)]


def test_what_a_world_sees_in_its_picture_is_kept_with_it(tmp_path: Path) -> None:
    seen = {"detected_text": [{"text": "HELLO", "bbox": [8, 112, 48, 120], "confidence": 1.0}]}

    class Reading(PixelWorld):
        def annotations(self) -> object:
            return seen

    world = Reading()
    world.where = "dialog:home"
    run = play(tmp_path, world, 10, Screenshot(interval=10), FILES)
    ((screen, annotations),) = run.rows("SELECT screen_type, annotations FROM screenshots")
    assert screen == "dialog"
    assert json.loads(annotations) == seen
    blind = play(tmp_path, PixelWorld(), 10, Screenshot(interval=10), FILES)
    assert blind.rows("SELECT annotations FROM screenshots") == [(None,)]


def test_the_ring_holds_the_newest_pictures_and_no_more(tmp_path: Path) -> None:
    profile = StorageProfile(tier="none", ring_frames=512)
    run = play(tmp_path, Snowing(), 10, None, profile)
    assert run.ring.ticks() == []
    profile = StorageProfile(tier="files", ring_frames=512, ring_every_n_ticks=1)
    run = play(tmp_path, Snowing(), 1000, None, profile)
    assert run.ring.ticks() == list(range(489, 1001))
    found = run.ring.at(700)
    assert found is not None
    assert found[0] == 700
    np.testing.assert_array_equal(found[1], noise(700))
    assert run.ring.at(10) is None
    assert run.ring.at(5000) is not None


def test_a_thousand_steps_of_lunar_lander_keep_at_most_512_pictures_in_memory(tmp_path: Path) -> None:
    profile = StorageProfile(tier="files", ring_every_n_ticks=1)
    run = play(tmp_path, "LunarLander-v3", 1000, Screenshot(interval=250), profile)
    assert len(run.ring.ticks()) == 512
    assert run.ring.bytes < 512 * 400 * 600 * 3 / 10
    assert run.rows("SELECT count(*) FROM screenshots") == [(4,)]


def test_ticks_that_were_taken_back_leave_the_ring(tmp_path: Path) -> None:
    profile = StorageProfile(tier="files", ring_every_n_ticks=1)
    run = play(tmp_path, Snowing(), 20, None, profile)
    before = run.ring.bytes
    run.ring.forget_after(12)
    assert run.ring.ticks() == list(range(1, 13))
    assert run.ring.bytes == pytest.approx(before * 12 / 20, rel=0.05)  # noise packs to about the same each time


def test_a_picture_of_no_interest_is_not_drawn(tmp_path: Path) -> None:
    world = PixelWorld(still())
    play(tmp_path, world, 99, Screenshot(interval=100), FILES)
    assert world.drawn == 0


def camera_of(tmp_path: Path, world: PixelWorld, screenshot: Screenshot, profile: StorageProfile = FILES) -> Camera:
    return Camera(fake_run(tmp_path, world, replace(RunConfig(), screenshot=screenshot)), profile)


def step(tick: int) -> Step:
    return Step(tick, 1, tick, "0", 0.0, False, False, 0.0, "h")


def kept(camera: Camera) -> list[FrameKept]:
    return [record for record in camera._run.fresh if isinstance(record, FrameKept)]


def test_the_picture_of_a_tick_that_ends_an_episode_shows_its_end(tmp_path: Path) -> None:
    run = play(tmp_path, "FrozenLake-v1", 60, Screenshot(interval=1), FILES)
    ended = run.rows("SELECT tick, frame_ref FROM steps WHERE terminated AND frame_ref IS NOT NULL")
    begun = run.rows("SELECT s.frame_ref FROM steps s WHERE step = 1 AND frame_ref IS NOT NULL")
    assert ended
    start = make_world(find_world("FrozenLake-v1"))
    start.reset(1)
    first = start.frame()
    for _, reference in ended:
        assert not np.array_equal(np.asarray(read_frame(run.path, reference)), np.asarray(first))
    assert begun


def test_the_picture_of_a_crash_is_kept(tmp_path: Path) -> None:
    camera = camera_of(tmp_path, PixelWorld(), Screenshot())
    camera.took([ErrorSeen(0.0, 42, "ValueError", "lost", None, False, None)])
    (picture,) = kept(camera)
    assert (picture.tick, picture.metadata.trigger) == (42, "ERROR")


def test_a_run_that_goes_back_waits_for_its_pictures_and_forgets_what_it_takes_back(tmp_path: Path) -> None:
    profile = StorageProfile(tier="files", format="png", ring_every_n_ticks=1)
    camera = camera_of(tmp_path, Snowing(), Screenshot(interval=1, in_background=True), profile)
    for tick in range(1, 11):
        camera.took([step(tick)])
    told = len(kept(camera))
    camera.rewound(6)
    assert camera.ring.ticks() == [1, 2, 3, 4, 5, 6]
    assert {record.tick for record in kept(camera)[told:]} <= set(range(1, 7))
    assert {record.tick for record in kept(camera)} >= set(range(1, 7))


def test_a_world_that_misreads_its_picture_still_has_it_kept(tmp_path: Path) -> None:
    class Misreading(PixelWorld):
        def annotations(self) -> object:
            raise KeyError("no such tile")

    run = play(tmp_path, Misreading(), 10, Screenshot(interval=5), FILES)
    assert run.rows("SELECT annotations FROM screenshots") == [(None,), (None,)]
    assert "no such tile" in run.notices[0].message
