"""Profiles, archives, endpoints and full disks: where pictures go, and what happens when they can't."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import apsw
import gymnasium
import numpy as np
import pytest

from ptp.config import RunConfig, replace
from ptp.config.tree import Screenshot, Storage
from ptp.errors import ConfigError, RunUnreadable, UnknownName
from ptp.frames import Camera, StorageProfile, find_profile
from ptp.frames.archive import ArchiveStore, archives
from ptp.frames.disk import DiskWatch, free_bytes, tree_bytes
from ptp.frames.profiles import built_in_profiles, read_profiles
from ptp.recording.database import Database
from ptp.records import Metric, Notice, Step
from ptp.testing import fake_run
from ptp.worlds.registry import WORLDS, find_world, make_world
from tests.frames.playing import PixelWorld, Snowing, archived_frames, noise, play, read_frame

# -- profiles ------------------------------------------------------------------------------------------------------


def test_every_family_has_a_profile() -> None:
    expected = {"toy_text", "gameboy", "box2d", "atari_sqlite", "stream", "telemetry_only"}
    assert set(built_in_profiles()) == expected


class Unknown(gymnasium.Env[Any, Any]):
    """An environment from nowhere."""

    action_space = observation_space = gymnasium.spaces.Discrete(2)


@pytest.mark.parametrize(
    ("name", "profile"),
    [
        *((name, "gameboy" if name == "tallgrass" else "toy_text") for name in WORLDS),
        ("LunarLander-v3", "box2d"), ("CartPole-v1", "box2d"), (f"{__name__}:Unknown", "toy_text"),
    ],
)  # fmt: skip
def test_every_world_has_the_profile_of_its_family_and_an_unknown_one_that_of_toy_text(name: str, profile: str) -> None:
    world = make_world(find_world(name), trusted=True)
    assert world.facts.storage_profile == profile
    find_profile(profile)
    world.close()


@pytest.mark.parametrize(("world", "flags"), [("Taxi-v4", ("--render-mode", "ansi")), ("LunarLander-v3", ())])
def test_taxi_as_text_and_lunar_lander_have_frame_refs_by_default(
    recorded: Callable[..., Path], world: str, flags: tuple[str, ...]
) -> None:
    directory = recorded(world, *flags, ticks=250)
    with Database(directory / "game_data.db") as database:
        kept = list(database.rows("SELECT tick, frame_ref FROM steps WHERE frame_ref IS NOT NULL ORDER BY tick"))
    assert [tick for tick, _ in kept] == [100, 200]
    for _, reference in kept:
        assert reference.endswith(".txt" if world == "Taxi-v4" else ".png")
        assert (directory / reference).exists()


def test_a_profile_of_ones_own_comes_before_the_built_in_ones(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("box2d: {tier: archive, keep_every_n_frames: 5}\nsmall: {tier: files, ring_frames: 8}\n")
    assert find_profile("box2d", file).keep_every_n_frames == 5
    assert find_profile("small", file).ring_frames == 8
    assert find_profile("gameboy", file) == find_profile("gameboy")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected storage profiles by name"),
        ("- a", "expected storage profiles by name"),
        ("a: [", "not valid YAML"),
        ("a: {}", "a: Object missing required field `tier`"),
        ("a: {tier: shelf}", "Invalid enum value 'shelf'"),
        ("a: {tier: files, ring_frame: 2}", "no knob named 'ring_frame'; did you mean 'ring_frames'?"),
        ("a: {tier: files, ring_frames: many}", "Expected `int`, got `str` - at `$.ring_frames`"),
        ("a: {tier: files, keep_every_n_frames: 0}", ">= 1"),
        ("a: nothing", "Expected `object`"),
    ],
)
def test_a_mistake_in_a_profile_is_named_with_its_place(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as problem:
        read_profiles(text, "mine.yaml")
    assert str(problem.value).startswith("mine.yaml:")
    assert message in str(problem.value)


def test_an_unknown_profile_is_answered_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="did you mean 'gameboy'"):
        find_profile("gamboy")
    with pytest.raises(ConfigError, match="name a file that can be read"):
        find_profile("box2d", tmp_path / "absent.yaml")


def test_telemetry_only_draws_nothing_even_when_asked(tmp_path: Path) -> None:
    world = Snowing()
    run = play(tmp_path, world, 50, Screenshot(interval=5), "telemetry_only")
    assert world.drawn == 0
    assert not (run.path / "frames").exists()


# -- archives ------------------------------------------------------------------------------------------------------

ARCHIVE = StorageProfile(tier="archive", format="png", segment_frames=16, max_frames_per_archive=32)


def test_long_pixel_games_go_into_archives_that_rotate(tmp_path: Path) -> None:
    run = play(tmp_path, Snowing(), 100, Screenshot(interval=1), ARCHIVE)
    paths = archives(run.path)
    assert [path.name for path in paths] == [f"archive_{number:06d}.db" for number in (1, 2, 3, 4)]
    pictures = [pair for path in paths for pair in archived_frames(path)]
    assert [tick for tick, _ in pictures] == list(range(1, 101))
    assert all(np.array_equal(np.asarray(picture), noise(tick)) for tick, picture in pictures)
    assert run.counts.kept == 100


def test_a_step_refers_into_its_archive(tmp_path: Path) -> None:
    run = play(tmp_path, Snowing(), 40, Screenshot(interval=1), ARCHIVE)
    for tick, reference in run.rows("SELECT tick, frame_ref FROM steps"):
        assert np.array_equal(np.asarray(read_frame(run.path, reference)), noise(tick))
    with pytest.raises(RunUnreadable, match="no picture of tick 999"):
        read_frame(run.path, "frames/archive_000001.db#999")
    with pytest.raises(RunUnreadable, match="draws it again from the tape"):
        read_frame(run.path, "frames/ab/absent.png")


def test_a_part_of_an_archive_can_be_read(tmp_path: Path) -> None:
    run = play(tmp_path, Snowing(), 30, Screenshot(interval=1), ARCHIVE)
    assert [tick for tick, _ in archived_frames(archives(run.path)[0], 10, 20)] == list(range(10, 21))


def test_an_archive_holds_a_number_of_episodes(tmp_path: Path) -> None:
    class Short(Snowing):
        def __init__(self) -> None:
            super().__init__()
            self.env._length = 4  # type: ignore[attr-defined]

    profile = StorageProfile(tier="archive", segment_frames=4, max_episodes_per_archive=3)
    run = play(tmp_path, Short(), 48, Screenshot(interval=1), profile)
    assert len(archives(run.path)) == 4


def test_equal_pictures_share_their_bytes_in_a_segment(tmp_path: Path) -> None:
    class Blinking(PixelWorld):
        def frame(self) -> Any:
            super().frame()
            return noise(self.drawn % 2)

    run = play(tmp_path, Blinking(), 16, Screenshot(interval=1), ARCHIVE)
    connection = apsw.Connection(str(archives(run.path)[0]))
    ((size,),) = connection.execute("SELECT length(data) FROM segments")
    ((frames, starts),) = connection.execute("SELECT count(*), count(DISTINCT start) FROM frames")
    connection.close()
    assert (frames, starts) == (16, 2)
    assert size < 3 * 64 * 64 * 3


def test_the_oldest_archives_make_room_for_new_pictures_and_their_rows_say_so(tmp_path: Path) -> None:
    run = play(tmp_path, Snowing(), 300, Screenshot(interval=1, max_storage=0.001), ARCHIVE)
    assert run.rows("SELECT count(*) FROM steps") == [(300,)]
    paths = archives(run.path)
    left = [tick for path in paths for tick, _ in archived_frames(path)]
    assert left == list(range(left[0], 301))
    assert (run.counts.kept, run.counts.removed) == (300, left[0] - 1)
    assert run.counts.bytes == sum(path.stat().st_size for path in paths) <= 1_000_000
    assert len(left) > 40
    for table, column in (("screenshots", "file_path"), ("steps", "frame_ref")):
        assert run.rows(f"SELECT tick FROM {table} WHERE {column} IS NOT NULL") == [(tick,) for tick in left]
    assert [notice.kind for notice in run.notices] == ["frames_nearly_full", "frames_removed"]


def test_archives_never_pass_their_quota(tmp_path: Path) -> None:
    quota, most = 700_000, 0
    store = ArchiveStore(tmp_path, quota, ARCHIVE, 85)
    for tick in range(1, 200):
        store.keep(_shot(tick))
        most = max(most, tree_bytes(tmp_path))
    store.close()
    assert quota / 2 < most <= quota
    again = ArchiveStore(tmp_path, quota, ARCHIVE, 85)  # a run that is gone on with
    assert again.counts.bytes == tree_bytes(tmp_path)
    newest = archives(tmp_path)[-1]
    told = [record for tick in range(200, 240) for record in again.keep(_shot(tick))] + again.close()
    assert tree_bytes(tmp_path) <= quota
    assert archives(tmp_path)[-1] > newest
    assert [type(record).__name__ for record in told].count("FrameKept") == 40


def test_a_quota_that_no_archive_fits_into_is_told_with_the_remedy(tmp_path: Path) -> None:
    run = play(tmp_path, Snowing(), 20, Screenshot(interval=1, max_storage=0.00001), ARCHIVE)
    assert (run.counts.kept, run.counts.failed) == (0, 20)
    assert archives(run.path) == []
    (notice,) = run.notices
    assert "raise --screenshot-max-storage" in notice.message


def test_ticks_that_were_taken_back_never_reach_an_archive(tmp_path: Path) -> None:
    from ptp.frames.shots import Shot
    from ptp.frames.triggers import Trigger

    store = ArchiveStore(tmp_path, 10**9, ARCHIVE, 85)
    for tick in range(1, 11):
        store.keep(Shot(tick, 0.0, noise(tick), Trigger.INTERVAL, 1))
    store.forget_after(6)
    store.keep(Shot(7, 0.0, noise(70), Trigger.INTERVAL, 1))
    store.close()
    pictures = dict(archived_frames(archives(tmp_path)[0]))
    assert sorted(pictures) == [1, 2, 3, 4, 5, 6, 7]
    assert np.array_equal(np.asarray(pictures[7]), noise(70))


# -- forwarding ----------------------------------------------------------------------------------------------------


class Endpoint:
    """A real HTTP server that remembers what it was sent."""

    def __init__(self, status: int = 200) -> None:
        got: list[tuple[str, dict[str, str], bytes]] = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                got.append((self.path, dict(self.headers), body))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *words: Any) -> None:
                pass

        self.got = got
        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/frames?run=1"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture(params=[200])
def endpoint(request: pytest.FixtureRequest) -> Iterator[Endpoint]:
    server = Endpoint(request.param)
    yield server
    server.close()


def test_pictures_are_forwarded_with_their_run_and_tick(tmp_path: Path, endpoint: Endpoint) -> None:
    run = play(tmp_path, Snowing(), 40, Screenshot(interval=10), "stream", sink=endpoint.url)
    assert [headers["X-Ptp-Tick"] for _, headers, _ in endpoint.got] == ["10", "20", "30", "40"]
    for path, headers, body in endpoint.got:
        assert path == "/frames?run=1"
        assert headers["X-Ptp-Run"] == run.path.name
        assert headers["Content-Type"] == "image/jpeg"
        assert body[:2] == b"\xff\xd8"
    assert run.counts.kept == 4
    assert run.notices[-1].message == "forwarded 4 pictures; 0 dropped, 0 refused"


@pytest.mark.parametrize("endpoint", [503], indirect=True)
def test_an_endpoint_that_refuses_is_told_and_the_run_goes_on(tmp_path: Path, endpoint: Endpoint) -> None:
    run = play(tmp_path, Snowing(), 40, Screenshot(interval=10), "stream", sink=endpoint.url)
    assert run.rows("SELECT count(*) FROM steps") == [(40,)]
    assert run.notices[-1].message == "forwarded 0 pictures; 0 dropped, 4 refused"


def test_an_endpoint_that_is_away_costs_pictures_there_and_nothing_here(tmp_path: Path) -> None:
    run = play(tmp_path, Snowing(), 300, Screenshot(interval=1), "stream", sink="http://127.0.0.1:9/")
    assert run.counts.kept == 300
    assert run.notices[-1].message == "forwarded 0 pictures; 300 dropped, 0 refused"
    assert "sink_failed" in [notice.kind for notice in run.notices]


@pytest.mark.parametrize("url", ["frames", "ftp://host/x", "http://", "//host"])
def test_an_address_that_is_none_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(ConfigError, match="is no address"):
        camera_of(tmp_path, "stream", Screenshot(interval=1), url)


# -- full disks ----------------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of one megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip("a file system can't be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_costs_pictures_never_the_run(tmp_path: Path, small_disk: Path) -> None:
    from ptp.frames.files import FileStore
    from ptp.frames.shots import Shot
    from ptp.frames.triggers import Trigger

    store = FileStore(small_disk, 10**9, "png", 85)
    told = [record for tick in range(1, 300) for record in store.keep(_shot(tick))]
    assert store.counts.failed > 0
    assert store.counts.kept > 10
    notices = [record for record in told if isinstance(record, Notice)]
    assert len(notices) == 1
    assert "the disk is full" in notices[0].message
    assert not [path for path in small_disk.rglob(".*") if path.name != ".lock"]
    for path in list(small_disk.rglob("*.png"))[:20]:
        path.unlink()
    kept = store.counts.kept
    store.keep(Shot(1000, 0.0, noise(1000), Trigger.INTERVAL, 1))
    assert store.counts.kept == kept + 1
    store.close()


def _shot(tick: int) -> Any:
    from ptp.frames.shots import Shot
    from ptp.frames.triggers import Trigger

    return Shot(tick, 0.0, noise(tick), Trigger.INTERVAL, 1)


def test_a_run_is_warned_at_80_percent_and_goes_on_without_pictures_at_100(tmp_path: Path) -> None:
    watch = DiskWatch(tmp_path, 1000, reserve=0)
    said = []
    for used in (100, 799, 800, 900, 1000, 1200, 100, 850):
        use = watch.measure(used)
        said.append(([notice.kind for notice in watch.judge(use, 0.0, 1)], watch.full))
    assert said == [
        ([], False), ([], False), (["run_nearly_full"], False), ([], False), (["run_full"], True), ([], True),
        ([], False), (["run_nearly_full"], False),
    ]  # fmt: skip


def test_a_disk_with_little_left_is_left_to_the_database(tmp_path: Path) -> None:
    watch = DiskWatch(tmp_path, 10**15, reserve=free_bytes(tmp_path) * 2)
    use = watch.measure(0)
    assert watch.full
    (notice,) = watch.judge(use, 0.0, 1)
    assert "no new pictures are kept" in notice.message


def camera_of(folder: Path, profile: str, screenshot: Screenshot, url: str | None = None) -> Camera:
    config = replace(RunConfig(), screenshot=screenshot, storage=Storage(frame_sink=url))
    return Camera(fake_run(folder, PixelWorld(), config), find_profile(profile))


def test_pictures_that_are_due_while_the_run_is_full_are_counted(tmp_path: Path) -> None:
    camera = camera_of(tmp_path, "box2d", Screenshot(interval=1))
    camera.watch.full = True
    camera.took([Step(1, 1, 1, "0", 0.0, False, False, 0.0, "h")])
    assert (camera.counts.skipped, camera.counts.kept) == (1, 0)


def test_the_metrics_tell_use_free_space_and_pictures(tmp_path: Path) -> None:
    (tmp_path / "game_data.db").write_bytes(bytes(500))
    camera = camera_of(tmp_path, "box2d", Screenshot())
    camera._progress.elapsed = 2.0
    camera.took([])
    found = {record.name: record.value for record in camera._run.fresh if isinstance(record, Metric)}
    assert found["disk_used"] == 500
    assert (found["disk_free"] or 0) > 0
    counts = {"frames_kept", "frames_dropped", "frames_failed", "screenshot_queue_size"}
    assert set(found) == {"disk_used", "disk_free"} | counts
    assert not [record for record in camera._run.fresh if isinstance(record, Notice)]
