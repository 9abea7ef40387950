"""The adapter on our own server, which can save its game."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from ptp.emulators import PokemonGymAdapter, PokemonGymClient, game
from ptp.errors import GameLost, WorldError
from ptp.snapshots import SnapshotStore
from ptp.worlds.registry import find_world, make_world
from tests.emulators.parts import serving
from tests.emulators.test_adapter_faults import WAY, play, play_again, quick, world_on
from tests.web.parts import wait_for

Call = Callable[..., tuple[int, str, str]]
FAST = ("--tick-rate-base", "0", "--random-seed", "7", "--json")


def url_of(server: httpx.Client) -> str:
    return str(server.base_url).rstrip("/")


@pytest.fixture
def recorded_there(ptp: Call, grass: httpx.Client) -> Callable[..., dict[str, Any]]:
    """Record a run on our server."""

    def record(*flags: str, ticks: int = 30) -> dict[str, Any]:
        code, out, err = ptp("run", "--world", url_of(grass), "--max-ticks", str(ticks), *FAST, *flags)
        assert code == 0, err
        result: dict[str, Any] = json.loads(out)
        return result

    return record


def test_a_run_on_our_server_is_recorded_with_snapshots_and_replays(
    ptp: Call, recorded_there: Callable[..., dict[str, Any]]
) -> None:
    result = recorded_there("--snapshot-disk", "10")
    header = json.loads(Path(result["directory"], "metadata.json").read_text())
    assert (result["ticks"], header["facts"]["snapshot"]) == (30, "state")
    assert len(SnapshotStore(Path(result["directory"], "snapshots")).headers()) >= 3
    code, out, err = ptp("replay", result["run_id"], "--verify")
    assert code == 0, out + err


def test_a_fork_leaves_a_run_on_our_server_at_a_tick_and_a_resumed_run_goes_on(
    ptp: Call, recorded_there: Callable[..., dict[str, Any]]
) -> None:
    run = recorded_there("--snapshot-disk", "10")["run_id"]
    code, out, err = ptp("fork", run, "--at-tick", "25", "--max-ticks", "40", "--json")
    assert code == 0, err
    fork = json.loads(out)
    assert fork["ticks"] == 40
    code, out, err = ptp("resume", run, "--max-ticks", "45", "--json")
    assert code == 0, err
    for each in (fork["run_id"], run):
        code, out, err = ptp("replay", each, "--verify")
        assert code == 0, out + err


def test_a_saved_game_is_loaded_and_played_on_equally(grass: httpx.Client) -> None:
    with world_on(url_of(grass)) as world:
        play(world, WAY[:10])
        saved, state, seen = world.save(), world.state(None), world.observe().copy()
        after = play_on(world, WAY[10:])
        world.load(saved)
        assert world.state(None) == state
        assert (world.observe() == seen).all()
        assert (world.frame() == seen).all()
        assert play_on(world, WAY[10:]) == after


def test_a_second_episode_is_the_first_again_and_is_what_a_lost_game_begins_with(grass: httpx.Client) -> None:
    with world_on(url_of(grass)) as world:
        first = play(world, WAY[:8])
        assert play(world, WAY[:8]) == first
        grass.post("/stop")
        after = play_again(world, {3: lambda: grass.post("/stop")})
        assert after[:8] == first


def play_on(world: PokemonGymAdapter, commands: list[int]) -> list[str]:
    hashes = []
    for command in commands:
        outcome = world.step(command)
        hashes.append(world.state_hash(outcome.observation, outcome.reward, outcome.terminated, outcome.truncated))
    return hashes


def test_the_adapter_shows_what_the_cartridge_itself_shows(grass: httpx.Client) -> None:
    here = make_world(find_world("tallgrass"))
    here.reset(None)
    with world_on(url_of(grass), frames=77) as world:
        world.reset(None)
        for name in ("start", "a", "wait", "a", "down"):
            there = world.step(world.parse(name)).observation
            near = here.step(here.parse("none/77" if name == "wait" else f"{name}:10/130")).observation
            assert (there[::2, ::2] == near).all()
    here.close()


def test_the_client_plays_many_commands_and_scripts_on_our_server(grass: httpx.Client) -> None:
    with PokemonGymClient(url_of(grass)) as client:
        client.reset_game()
        stepped = client.step(["a", "none", "up"], rewards=True)
        assert (stepped.played, stepped.rewards, stepped.states) == (3, [0.0] * 3, None)
        assert client.position().step == stepped.position.step == 3
        with pytest.raises(GameLost, match="before an input"):
            client.get_state()
        snapshot = client.snapshot()
        outcome = client.run_script('PRESS START\nCHECKPOINT "menu"\nEXPECT badges > 7')
        assert (outcome.success, outcome.checkpoints, len(outcome.failures)) == (False, ["menu"], 1)
        assert client.frame().startswith(b"\x89PNG")
        client.restore(snapshot)
        assert client.position().step == 3


def test_what_is_no_saved_game_is_refused(grass: httpx.Client) -> None:
    with world_on(url_of(grass)) as world, pytest.raises(WorldError, match="not a saved game of a server"):
        world.load(b"\xc1")


def test_a_token_is_taken_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving("tallgrass", tmp_path, token="0123456789abcdef") as server:
        with pytest.raises(Exception, match="401"), world_on(url_of(server)):
            pass
        monkeypatch.setenv("PTP_TOKEN", "0123456789abcdef")
        with world_on(url_of(server)) as world:
            play(world, WAY[:2])


class Served:
    """Our server in a process, and its owner."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = ""
        self.restarts = 0
        self.restart()

    def restart(self) -> str:
        words = ["emulator", "serve", "--world", "tallgrass", "--port", "0", "--data-dir", str(self.folder), "--json"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ptp", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        text = ""
        while not text.endswith("}\n") or text.count("{") != text.count("}"):
            line = self.process.stdout.readline()
            assert line, f"the server ended: {text}"
            text += line
        answer = msgspec.json.decode(text)
        assert "url" in answer, answer
        self.url = answer["url"]
        wait_for(self.is_ready)
        self.restarts += 1
        return self.url

    def is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/health").is_success
        except httpx.TransportError:
            return False

    def reallocate_port(self) -> str:
        raise AssertionError("the port is free")

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.close()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    server = Served(tmp_path / "served")
    yield server
    server.close()


@pytest.mark.slow
def test_our_server_is_restarted_after_it_was_killed_and_goes_on_from_the_last_snapshot(
    served: Served, grass: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(game, "SNAPSHOT_EVERY", 5)
    with world_on(url_of(grass)) as world:
        calm = play(world)
    recovery = quick()
    recovery.rescue = served
    with world_on(served.url, recovery) as world:
        assert play_again(world, {13: served.kill, 20: served.kill}) == calm
        assert (world.client.status().steps_taken or 0) < 15  # not from the beginning
    assert served.restarts == 3
