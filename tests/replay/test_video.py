"""Videos play everywhere, show what happened, and can be made of a run that kept no picture."""

from __future__ import annotations

import json
import signal
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import av
import numpy as np
import pytest

from ptp.config.tree import Screenshot
from ptp.errors import WorldError
from ptp.frames import StorageProfile, VideoWriter, video_of_run
from ptp.frames.pictures import Pixels
from ptp.frames.video import Caption, draw, enlargement
from ptp.testing import FakeWorld
from ptp.worlds import find_world, make_world, registry
from tests.frames.playing import PixelWorld, noise, play, still

Ptp = Callable[..., tuple[int, str, str]]


def frames_of(path: Path) -> list[Pixels]:
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


def facts_of(path: Path) -> dict[str, Any]:
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        context = stream.codec_context
        assert stream.duration is not None
        assert stream.time_base is not None
        return {
            "codec": context.name,
            "format": context.pix_fmt,
            "size": (stream.width, stream.height),
            "rate": float(stream.average_rate or 0),
            "frames": stream.frames,
            "seconds": float(stream.duration * stream.time_base),
        }


def write(path: Path, pictures: list[Pixels], rate: float = 30) -> Path | None:
    writer = VideoWriter(path, rate)
    for picture in pictures:
        writer.add(picture)
    return writer.close()


def close_to(picture: Pixels, color: tuple[int, int, int], tolerance: int = 12) -> bool:
    return bool(np.abs(picture.astype(int) - color).max() <= tolerance)


def test_a_video_is_h264_that_every_player_knows(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mp4", [still(600, 400)] * 50, 50)
    assert path is not None
    assert facts_of(path) == {
        "codec": "h264", "format": "yuv420p", "size": (600, 400), "rate": 50.0, "frames": 50, "seconds": 1.0,
    }  # fmt: skip
    data = path.read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")  # a browser can begin before it has all


def test_a_video_shows_the_colours_that_were_drawn(tmp_path: Path) -> None:
    colors = [(200, 30, 30), (30, 200, 30), (30, 30, 200)]
    path = write(tmp_path / "a.mp4", [np.full((64, 64, 3), color, np.uint8) for color in colors])
    assert path is not None
    assert [close_to(frame, color) for frame, color in zip(frames_of(path), colors, strict=True)] == [True] * 3


@pytest.mark.parametrize(
    ("width", "height", "size"),
    [
        (160, 144, (640, 576)),
        (256, 256, (512, 512)),
        (600, 400, (600, 400)),
        (601, 401, (602, 402)),
        (161, 145, (486, 438)),
        (1, 1, (640, 640)),
        (1280, 719, (1280, 720)),
    ],
)
def test_small_screens_are_enlarged_and_odd_ones_fit(
    tmp_path: Path, width: int, height: int, size: tuple[int, int]
) -> None:
    path = write(tmp_path / "a.mp4", [still(width, height)] * 3)
    assert path is not None
    assert facts_of(path)["size"] == size
    assert close_to(frames_of(path)[0], (200, 200, 200))


def test_enlarged_pixels_stay_sharp(tmp_path: Path) -> None:
    board = np.zeros((144, 160, 3), np.uint8)
    board[::2, 1::2] = board[1::2, ::2] = 255
    path = write(tmp_path / "a.mp4", [board] * 2)
    assert path is not None
    shown = frames_of(path)[0][:, :, 0].astype(int)
    assert np.abs(shown - board[:, :, 0].repeat(4, 0).repeat(4, 1)).mean() < 8


def test_a_picture_of_another_size_is_fitted_into_the_first(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mp4", [still(160, 144), still(80, 200), still(160, 144)])
    assert path is not None
    assert facts_of(path)["size"] == (640, 576)
    assert len(frames_of(path)) == 3


def test_a_video_appears_only_when_it_is_whole(tmp_path: Path) -> None:
    writer = VideoWriter(tmp_path / "a.mp4", 30)
    for seed in range(100):
        writer.add(noise(seed))
    assert not (tmp_path / "a.mp4").exists()
    writer.discard()
    assert list(tmp_path.iterdir()) == []


def test_a_video_without_pictures_is_none(tmp_path: Path) -> None:
    assert write(tmp_path / "a.mp4", []) is None
    assert list(tmp_path.iterdir()) == []


def test_a_video_that_can_not_be_written_says_so_and_holds_nobody_up(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    writer = VideoWriter(tmp_path / "file" / "a.mp4", 30)
    for seed in range(200):
        writer.add(noise(seed))
    assert writer.close() is None
    assert writer.problem is not None


def test_a_run_can_be_filmed_while_it_is_played(tmp_path: Path) -> None:
    world = PixelWorld()
    run = play(tmp_path, world, 120, Screenshot(), StorageProfile(tier="none"), video=tmp_path / "run.mp4")
    assert facts_of(tmp_path / "run.mp4")["frames"] == 120
    assert world.drawn == 120
    assert run.notices == []


def test_a_picture_is_drawn_once_for_the_video_and_the_screenshot(tmp_path: Path) -> None:
    world = PixelWorld()
    profile = StorageProfile(tier="files", ring_every_n_ticks=1)
    play(tmp_path, world, 50, Screenshot(interval=1), profile, video=tmp_path / "run.mp4")
    assert world.drawn == 50


def test_a_video_that_fails_does_not_end_the_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    run = play(tmp_path, PixelWorld(), 100, None, StorageProfile(tier="none"), video=tmp_path / "file" / "a.mp4")
    assert run.rows("SELECT count(*) FROM steps") == [(100,)]
    assert [notice.kind for notice in run.notices] == ["video_ended"]


def test_a_world_that_draws_text_has_no_video_and_says_so(tmp_path: Path) -> None:
    run = play(tmp_path, FakeWorld(), 10, None, StorageProfile(tier="none"), video=tmp_path / "a.mp4")
    assert "draws text" in run.notices[0].message
    with pytest.raises(WorldError, match="world 'fake' has no pictures to make a video of; it offers: ansi"):
        video_of_run(tmp_path, FakeWorld(), 1)
    lake = make_world(find_world("FrozenLake-v1"), "ansi")
    with pytest.raises(WorldError, match="'FrozenLake-v1' draws ansi; leave out --render-mode"):
        video_of_run(tmp_path, lake, 1)
    lake.close()


def test_the_video_of_a_run_plays_at_the_pace_of_its_world(tmp_path: Path) -> None:
    world = make_world(find_world("LunarLander-v3"))
    writer = video_of_run(tmp_path, world, 1)
    writer.add(still())
    path = writer.close()
    world.close()
    assert path == tmp_path / "video" / "run_from_000001.mp4"
    assert facts_of(path)["rate"] == 50


# -- from the tape -------------------------------------------------------------------------------------------------


def test_a_run_without_pictures_becomes_the_video_of_what_happened(
    recorded: Callable[..., Path], ptp_json: Any, tmp_path: Path
) -> None:
    run = recorded("CartPole-v1", ticks=60)
    made = ptp_json("video", "latest", "-o", str(tmp_path / "a.mp4"))
    assert (made["frames"], made["frames_per_second"], made["run_id"]) == (60, 50.0, run.name)
    shown = frames_of(tmp_path / "a.mp4")
    for picture, drawn in zip(shown, played_again(run), strict=True):
        assert np.abs(picture.astype(int) - drawn).mean() < 3


def played_again(run: Path) -> list[Pixels]:
    """Return the pictures of a run, drawn without ptp's replay."""
    import gymnasium

    from ptp._util.ids import derive_seed

    connection = sqlite3.connect(run / "game_data.db")
    steps = connection.execute("SELECT episode, command FROM steps ORDER BY tick").fetchall()
    connection.close()
    env = gymnasium.make("CartPole-v1", render_mode="rgb_array")
    pictures, present = [], 0
    for episode, command in steps:
        if episode != present:
            present = episode
            env.reset(seed=derive_seed(7, "episode", episode))
        env.step(int(command))
        pictures.append(np.asarray(env.render()))
    env.close()
    return pictures


def test_a_part_of_a_run_can_be_shown(recorded: Callable[..., Path], ptp_json: Any, tmp_path: Path) -> None:
    recorded("CartPole-v1", ticks=60)
    ptp_json("video", "latest", "-o", str(tmp_path / "all.mp4"))
    made = ptp_json("video", "latest", "--from", "21", "--to", "40", "-o", str(tmp_path / "part.mp4"))
    assert (made["from_tick"], made["to_tick"], made["frames"]) == (21, 40, 20)
    whole, part = frames_of(tmp_path / "all.mp4"), frames_of(tmp_path / "part.mp4")
    assert all(np.abs(a.astype(int) - b).mean() < 2 for a, b in zip(whole[20:40], part, strict=True))


@pytest.mark.parametrize(
    ("speed", "frames", "rate"), [("1", 40, 50), ("0.5", 40, 25), ("2", 20, 50), ("10", 5, 55.556)]
)
def test_a_fast_video_leaves_out_ticks_and_a_slow_one_shows_them_longer(
    recorded: Callable[..., Path], ptp_json: Any, tmp_path: Path, speed: str, frames: int, rate: float
) -> None:
    recorded("CartPole-v1", ticks=40)
    made = ptp_json("video", "latest", "--speed", speed, "-o", str(tmp_path / "a.mp4"))
    assert made["frames"] == frames
    assert facts_of(tmp_path / "a.mp4")["rate"] == pytest.approx(rate, rel=1e-3)


@pytest.mark.parametrize("speed", ["0.25", "0.5", "1", "2", "4", "8", "16", "32", "64"])
def test_the_length_of_a_video_follows_its_speed(
    recorded: Callable[..., Path], ptp_json: Any, tmp_path: Path, speed: str
) -> None:
    recorded("tallgrass", ticks=160)  # 2.5 ticks a second
    made = ptp_json("video", "latest", "--speed", speed, "-o", str(tmp_path / "a.mp4"))
    assert made["seconds"] == pytest.approx(160 / 2.5 / float(speed), abs=0.05)
    assert made["frames_per_second"] <= 60


def test_a_speed_beyond_the_bounds_is_refused_with_them(recorded: Callable[..., Path], ptp: Ptp) -> None:
    recorded(ticks=10)
    for speed in ("0.001", "1001", "nan", "inf"):
        code, _, error = ptp("video", "latest", "--speed", speed)
        assert (code, error.count("\n")) == (2, 1)
        assert f"--speed {speed} is not allowed; allowed: 0.01 to 1000" in error


def test_without_a_name_the_video_goes_into_the_run(recorded: Callable[..., Path], ptp: Ptp) -> None:
    run = recorded("CartPole-v1", ticks=20)
    code, out, _ = ptp("video", "latest")
    assert code == 0
    assert "20 pictures of ticks 1 to 20" in out
    assert facts_of(run / "video" / "ticks_000001-000020.mp4")["frames"] == 20


def test_the_overlay_is_a_bar_below_the_picture(recorded: Callable[..., Path], ptp_json: Any, tmp_path: Path) -> None:
    recorded("FrozenLake-v1", ticks=10)
    ptp_json("video", "latest", "-o", str(tmp_path / "plain.mp4"))
    ptp_json("video", "latest", "--overlay", "-o", str(tmp_path / "told.mp4"))
    plain, told = frames_of(tmp_path / "plain.mp4")[3], frames_of(tmp_path / "told.mp4")[3]
    assert told.shape[1] == plain.shape[1]
    height = plain.shape[0]
    assert told.shape[0] > height
    assert np.abs(told[:height].astype(int) - plain).mean() < 3
    bar = told[height:]
    assert np.median(bar) < 40
    assert bar.max() > 180


def test_the_bar_tells_tick_action_reward_and_reasons() -> None:
    def bar(**facts: Any) -> Pixels:
        basis = {"tick": 7, "episode": 1, "action": "left", "reward": 1.0, "total": 2.0, "reasoning": "hungry"}
        return draw(still(), Caption(**{**basis, **facts}))[576:]

    changes: list[dict[str, Any]] = [
        {"tick": 8}, {"episode": 2}, {"action": "up"}, {"reward": -1.0}, {"total": 9.0}, {"reasoning": "full"},
    ]  # fmt: skip
    for change in changes:
        assert not np.array_equal(bar(), bar(**change)), change
    assert bar(reasoning=None, reward=None).shape == bar().shape
    assert bar(reasoning="a very long thought " * 100).shape == bar().shape
    assert bar(reasoning="x" * 5000).shape == bar().shape


def test_the_reasons_are_those_of_the_decision_that_led_to_the_tick(recorded: Callable[..., Path]) -> None:
    from ptp.recording.database import Database
    from ptp.replay.video import _reasons

    run = recorded("FrozenLake-v1", ticks=10)
    connection = sqlite3.connect(run / "game_data.db")
    connection.execute("UPDATE action_history SET reasoning = 'seen after ' || tick")
    connection.execute("DELETE FROM action_history WHERE tick IN (4, 5)")
    connection.commit()
    connection.close()
    with Database(run / "game_data.db") as database:
        found = [_reasons(database, tick) for tick in (1, 2, 5, 6, 7)]
    assert found == [f"seen after {tick}" for tick in (0, 1, 3, 3, 6)]


def test_a_run_recorded_as_text_can_be_shown_when_the_world_can_draw(
    recorded: Callable[..., Path], ptp_json: Any, tmp_path: Path
) -> None:
    recorded("FrozenLake-v1", "--render-mode", "ansi", ticks=10)
    assert ptp_json("video", "latest", "-o", str(tmp_path / "a.mp4"))["frames"] == 10


def test_a_world_without_pictures_is_named(
    recorded: Callable[..., Path], ptp: Ptp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry.WORLDS, "counting", "tests.replay.test_video:Blind")
    run = recorded("FrozenLake-v1", ticks=10)
    header = json.loads((run / "metadata.json").read_text())
    header["world"] = {"name": "counting", "entry": "tests.replay.test_video:Blind", "options": {}}
    header["facts"]["render_mode"] = None
    (run / "metadata.json").write_text(json.dumps(header))
    code, _, error = ptp("video", "latest", "-o", str(tmp_path / "a.mp4"))
    assert code == 1
    assert error == "ptp: world 'fake' has no pictures to make a video of; it offers: ansi\n"
    assert not (tmp_path / "a.mp4").exists()


class Blind(FakeWorld):
    """A world that only draws text, as the registry makes it."""

    def __init__(self, spec: object, render_mode: str | None = None) -> None:
        super().__init__()


def test_a_replay_that_differs_gives_no_video(recorded: Callable[..., Path], ptp: Ptp, tmp_path: Path) -> None:
    run = recorded("CartPole-v1", ticks=30)
    connection = sqlite3.connect(run / "game_data.db")
    connection.execute("UPDATE steps SET state_hash = 'beef' WHERE tick = 20")
    connection.commit()
    connection.close()
    code, _, error = ptp("video", "latest", "-o", str(tmp_path / "a.mp4"))
    assert code == 1
    assert "differs from the tape at tick 20" in error
    assert "--to 19" in error
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == []
    assert ptp("video", "latest", "--to", "19", "-o", str(tmp_path / "a.mp4"))[0] == 0


@pytest.mark.parametrize(
    "words",
    [
        ("--from", "0"), ("--to", "99"), ("--from", "9", "--to", "3"), ("--speed", "0"), ("--speed", "-1"),
        ("--speed", "x"), ("-o", "a.avi"), ("-o", "no/such/folder/a.mp4"), ("--loud",),
    ],
)  # fmt: skip
def test_bad_words_are_answered_in_one_line(recorded: Callable[..., Path], ptp: Ptp, words: tuple[str, ...]) -> None:
    run = recorded(ticks=10)
    code, out, error = ptp("video", "latest", *words)
    assert (code, out) == (2, "")
    assert error.startswith("ptp: ")
    assert error.count("\n") == 1
    assert not (run / "video").exists()


def test_the_largest_whole_enlargement_is_used() -> None:
    assert [enlargement(*size) for size in [(160, 144), (256, 256), (640, 1), (641, 1), (2000, 2000)]] == [
        4,
        2,
        1,
        1,
        1,
    ]


def test_a_video_stopped_by_a_signal_at_any_moment_is_given_up(tmp_path: Path) -> None:
    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, stop)
    try:
        for attempt in range(300):  # a queue with a lock of its own hangs within some hundreds
            writer = VideoWriter(tmp_path / "stopped.mp4", 30)
            with suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 0.0005 + attempt % 20 * 0.0005)
                while True:
                    writer.add(np.zeros((16, 16, 3), np.uint8))
            ended = threading.Thread(target=writer.discard, daemon=True)
            ended.start()
            ended.join(30)
            assert not ended.is_alive()
    finally:
        signal.signal(signal.SIGALRM, old)
    assert list(tmp_path.iterdir()) == []
