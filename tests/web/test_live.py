"""What a live run tells while it goes, and how it is steered."""

from __future__ import annotations

import base64
import io
import json
import socket
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from ptp.config.tree import BY_FLAG, build
from ptp.errors import PtpError
from ptp.frames.pictures import FrameRing
from ptp.recording import RunDirectory
from ptp.replay import Replay, Tape
from ptp.runner import run
from ptp.runner.control import NotRunning, watch
from ptp.runner.live import MOST_RECORDS, LiveFeed, Mailbox
from ptp.runner.protocol import Now
from tests.steering import ask
from tests.web.parts import playing, serving, tick_of, wait_for

Live = tuple[httpx.Client, RunDirectory]


def events(client: httpx.Client, path: str = "/api/v1/live") -> Generator[tuple[str, Any], None, None]:
    with client.stream("GET", path) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        name = ""
        for line in response.iter_lines():
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                yield name, json.loads(line[6:])


def test_a_stream_sends_state_pictures_and_records_as_they_come(live: Live) -> None:
    client, _ = live
    seen: dict[str, Any] = {}
    ticks: list[int] = []
    for name, data in events(client):
        seen[name] = data
        if name == "records":
            ticks += [record["tick"] for record in data["records"] if record["record"] == "Step"]
        if len(ticks) > 40 and {"state", "frame", "records"} <= seen.keys():
            break
    assert ticks == list(range(ticks[0], ticks[0] + len(ticks)))
    assert seen["state"]["state"]["profile"] == "tallgrass"
    assert seen["state"]["now"]["paused"] is False
    picture = Image.open(io.BytesIO(base64.b64decode(seen["frame"]["data"])))
    assert picture.size == (160, 144)


def test_the_picture_of_the_stream_is_the_one_of_its_tick(live: Live) -> None:
    client, directory = live
    stream = events(client)
    frame = next(data for name, data in stream if name == "frame" and data["tick"] > 20)
    stream.close()
    ask(directory, "pause")
    address = f"/api/v1/screenshots/tick-{frame['tick']}/image"
    kept = wait_for(lambda: answer.content if (answer := client.get(address)).status_code == 200 else None)
    shown = Image.open(io.BytesIO(base64.b64decode(frame["data"]))).convert("RGB")
    assert shown.tobytes() == Image.open(io.BytesIO(kept)).convert("RGB").tobytes()


def pixels(response: httpx.Response) -> bytes:
    return Image.open(io.BytesIO(response.content)).convert("RGB").tobytes()


def test_a_live_run_gives_the_pictures_it_has_in_memory(live: Live) -> None:
    client, directory = live
    wait_for(lambda: tick_of(directory) > 30)
    ask(directory, "pause")
    held = wait_for(lambda: found if (found := ask(directory, "picture", tick=27))["tick"] == 24 else None)
    assert held["format"] == "png"
    near = wait_for(lambda: found if (found := client.get("/api/v1/frame?tick=27&near=true")).is_success else None)
    assert near.headers["x-tick"] == "24"
    assert pixels(near) == Image.open(io.BytesIO(base64.b64decode(held["data"]))).convert("RGB").tobytes()
    exact, drawn = client.get("/api/v1/frame?tick=27"), client.get("/api/v1/screenshots/tick-27/image")
    assert "x-tick" not in exact.headers
    assert pixels(exact) == pixels(drawn)
    exact, drawn = client.get("/api/v1/frame?tick=24"), client.get("/api/v1/screenshots/tick-24/image")
    assert exact.headers["x-tick"] == "24"
    assert pixels(exact) == pixels(drawn)
    for odd, why in ((None, "not a request"), ("x", "not a request"), (-1, "no picture of tick -1")):
        with pytest.raises(PtpError, match=why):
            ask(directory, "picture", tick=odd)


def test_a_run_whose_process_is_stopped_does_not_hold_up_its_pictures(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "control.sock"))
        silent.listen()
        with pytest.raises(NotRunning, match="is not running"):
            ask(RunDirectory(tmp_path), "picture", 0.2, tick=8)


def test_a_paused_run_shows_itself_to_one_who_comes_later(live: Live) -> None:
    client, directory = live
    ask(directory, "pause")
    seen: dict[str, Any] = {}
    for name, data in events(client):
        seen[name] = data
        if {"state", "frame"} <= seen.keys():
            break
    assert seen["state"]["now"]["paused"] is True
    assert seen["frame"]["tick"] == tick_of(directory)


def test_many_streams_share_one_run_and_none_is_starved(live: Live) -> None:
    client, _ = live
    counts = [0] * 20

    def count(index: int) -> None:
        for name, _ in events(client):
            counts[index] += name == "state"
            if counts[index] >= 10:
                return

    threads = [threading.Thread(target=count, args=(index,)) for index in range(len(counts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [10] * 20


def test_a_run_is_paused_stepped_changed_and_stopped(tmp_path: Path) -> None:
    with playing(tmp_path) as directory, serving(tmp_path) as client:
        post = poster(client)
        assert post("control/pause")["paused"] is True
        at = tick_of(directory)
        post("control/step", {"ticks": 3})
        wait_for(lambda: tick_of(directory) == at + 3)
        assert client.get("/api/v1/run").json()["paused"] is True
        post("control/set", {"settings": {"tick-rate-base": "77"}})
        refused = client.post("/api/v1/control/set", json={"settings": {"world": "x"}})
        assert refused.status_code == 409
        assert post("control/resume")["paused"] is False
        post("control/stop")
        ended = wait_for(lambda: (found := client.get("/api/v1/run").json())["live"] is False and found)
        assert ended["run"]["status"] == "manual_stop"
        assert client.post("/api/v1/control/pause").status_code == 409


def poster(client: httpx.Client) -> Callable[..., Any]:
    def post(path: str, body: Any = None) -> Any:
        response = client.post(f"/api/v1/{path}", json=body)
        assert response.status_code == 200, response.text
        return response.json()

    return post


def test_a_live_run_goes_back_to_a_snapshot_and_its_tape_still_replays(tmp_path: Path) -> None:
    with playing(tmp_path) as directory, serving(tmp_path) as client:
        post = poster(client)
        post("control/pause")
        taken = post("control/snapshot", {"name": "here"})
        post("control/step", {"ticks": 30})
        wait_for(lambda: tick_of(directory) == taken["tick"] + 30)
        back = post("control/restore", {"snapshot": "here"})
        assert (back["tick"], back["live"]) == (taken["tick"], True)
        assert tick_of(directory) == taken["tick"]
        assert client.get("/api/v1/actions?kind=commands").json()["total_count"] == taken["tick"]
    replay = Replay(Tape(directory))
    for _ in replay:
        pass
    replay.close()
    assert replay.result.equal


def test_a_stream_ends_when_the_run_does(tmp_path: Path) -> None:
    with playing(tmp_path) as directory, serving(tmp_path) as client:
        stream = events(client)
        next(stream)
        ask(directory, "stop")
        assert list(stream)[-1][0] == "end"
        wait_for(lambda: not directory.is_alive())
        assert [name for name, _ in events(client)] == ["end"]


def test_watching_a_dead_run_names_the_verb_that_goes_on(tmp_path: Path) -> None:
    flags = {"world": "FrozenLake-v1", "max_ticks": 5, "tick_rate_base": 0, "data_dir": str(tmp_path)}
    done = run(build({BY_FLAG["--" + name.replace("_", "-")]: value for name, value in flags.items()}))
    with pytest.raises(NotRunning, match="ptp resume"):
        next(watch(RunDirectory(Path(done.directory))))


def now(tick: int) -> Now:
    return Now(0.0, tick, 1, False, 0.0, 0.0, 0.0, 0.0, "", 0)


def test_one_who_reads_too_slowly_loses_the_oldest_and_is_told_how_many() -> None:
    from ptp.records import Notice

    mailbox = Mailbox()
    for tick in range(MOST_RECORDS + 50):
        mailbox.put(now(tick), [Notice(0.0, tick, "info", "x", "x")], {}, None)
    mailbox.close()
    (line,) = map(json.loads, mailbox.lines())
    assert line["lost"] == 50
    assert [record["tick"] for record in line["records"]] == list(range(50, MOST_RECORDS + 50))


def test_nobody_watching_costs_one_look() -> None:
    class Untouchable:
        """A run that must not be asked anything."""

        class play:  # noqa: N801
            class world:  # noqa: N801
                class facts:  # noqa: N801
                    render_mode = "rgb_array"

    LiveFeed(Untouchable(), FrameRing(0)).took(["anything"])  # type: ignore[arg-type, list-item]
