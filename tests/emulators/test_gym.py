"""Clients written for pokemon-gym work unchanged, and what its users suffer from is not here."""

from __future__ import annotations

import base64
import csv
import io
import pickle
import shutil
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from PIL import Image

from ptp.emulators.gamestate import GymState
from ptp.emulators.score import Score
from ptp.replay import Tape
from ptp.worlds import make_world
from ptp.worlds.gameboy.tiles import COLUMNS, ROWS
from ptp.worlds.gameboy.world import GameBoyWorld
from ptp.worlds.registry import find_world
from tests.emulators.parts import get, post, serving
from tests.web.parts import record

WORDS = "player_name rival_name money location coordinates badges valid_moves inventory dialog pokemons"
FIELDS = {*WORDS.split(), "screenshot_base64", "collision_map", "step_number", "execution_time", "score"}
START = ["start", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a"]


def press(client: httpx.Client, *keys: str) -> dict[str, Any]:
    found: dict[str, Any] = post(client, "/action", action_type="press_key", keys=list(keys))
    return found


def test_before_initialize_there_is_nothing_to_play(tmp_path: Path) -> None:
    with serving("tallgrass", tmp_path) as client:
        assert get(client, "/status") == {"status": "not_initialized"}
        assert post(client, "/stop") == {"status": "not_initialized"}
        for method, path, body in (
            ("POST", "/action", {"action_type": "press_key", "keys": ["a"]}),
            ("GET", "/evaluate", None),
            ("POST", "/save_state", {}),
        ):
            refused = client.request(method, path, json=body)
            assert refused.status_code == 400
            assert "POST /initialize first" in refused.json()["detail"]


def test_a_session_has_every_field_and_its_files(grass: httpx.Client, grass_dir: Path) -> None:
    first = post(grass, "/initialize", headless=True, sound=False)
    assert set(first) == FIELDS
    assert (first["step_number"], first["player_name"]) == (0, "Not yet set")
    for number, key in enumerate(START, 1):
        state = post(grass, "/action", action_type="press_key", keys=[key.upper()], reasoning="told by nobody")
        assert state["step_number"] == number
    assert state["execution_time"] > 0
    status = get(grass, "/status")
    assert (status["status"], status["steps_taken"]) == ("running", len(START))
    assert status["remaining_time_minutes"] == pytest.approx(status["remaining_time_seconds"] / 60, abs=1)
    folder = Path(status["session_dir"])
    assert folder.parent == grass_dir / "sessions"
    stopped = post(grass, "/stop")
    assert stopped["final_score"] == status["score"]
    assert (folder / "final_state.state").stat().st_size > 1000
    assert len(list((folder / "images").glob("*.png"))) == len(START) + 1
    with (folder / "gameplay_data.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["step_number"]) for row in rows] == list(range(len(START) + 1))
    assert rows[1]["action_type"] == "press_key"
    assert get(grass, "/status") == {"status": "not_initialized"}


def test_a_key_is_held_for_10_frames_and_120_follow(grass: httpx.Client) -> None:
    post(grass, "/initialize")
    shown = [press(grass, "start"), press(grass, "a", "b"), post(grass, "/action", action_type="wait", frames=4000)]
    world = make_world(find_world("tallgrass"))
    assert isinstance(world, GameBoyWorld)
    world.reset(0)
    for state, commands in zip(
        shown, (["start:10/130"], ["a:10/130", "b:10/130"], ["none/3600", "none/400"]), strict=True
    ):
        for command in commands:
            world.step(world.parse(command))
        picture = np.asarray(Image.open(io.BytesIO(base64.b64decode(str(state["screenshot_base64"])))).convert("RGB"))
        assert picture.shape == (288, 320, 3)
        assert np.array_equal(picture, world.frame().repeat(2, 0).repeat(2, 1))
    world.close()


def test_the_player_on_a_map_sees_where_to_go(grass: httpx.Client) -> None:
    post(grass, "/initialize")
    state: dict[str, Any] = {}
    for _ in range(60):
        state = press(grass, "a")
        if state["collision_map"] and state["valid_moves"] and not state["dialog"]:
            break
    grid = str(state["collision_map"]).splitlines()
    assert grid[0] == grid[ROWS + 1] == "+" + "-" * COLUMNS + "+"
    assert all(len(line) == COLUMNS + 2 for line in grid[: ROWS + 2])
    assert grid[5][5] in "↑↓←→"
    assert "wall" in grid[-1]
    beside = {"up": grid[4][5], "down": grid[6][5], "left": grid[5][4], "right": grid[5][6]}
    assert state["valid_moves"] == [way for way, mark in beside.items() if mark == "·"]
    assert state["location"] == str(state["location"]).upper() != ""
    evaluation = get(grass, "/evaluate")
    assert evaluation["locations"]["items"] == [state["location"]]
    assert evaluation["score"] == state["score"] >= 1


def test_a_game_under_way_shows_its_party_and_counts_what_is_new(
    grass: httpx.Client, grass_dir: Path, tmp_path: Path
) -> None:
    tape = Tape(record(tmp_path, world="tallgrass", agent="explorer", max_ticks=600))
    world = make_world(find_world("tallgrass"))
    world.reset(*tape.start(1))
    for step in tape.steps(1):
        world.step(world.decode(step.command))
    known: Any = world.state(world.observe())
    post(grass, "/initialize", session_id="party")
    (grass_dir / "sessions" / "session_party" / "played.state").write_bytes(world.save())
    world.close()
    state = post(grass, "/initialize", load_state_file="session_party/played")
    assert [it["species"] for it in state["pokemons"]] == [member.species for member in known.party] != []
    for shown, member in zip(state["pokemons"], known.party, strict=True):
        assert (shown["level"], shown["hp"]) == (member.level, {"current": member.hp, "max": member.max_hp})
        assert [(it["name"], it["pp"]) for it in shown["moves"]] == [(move.name, move.pp) for move in member.moves]
    assert [it["quantity"] for it in state["inventory"]] == [it.quantity for it in known.inventory]
    assert (state["money"], state["player_name"]) == (known.money, known.player)
    species = len({member.species for member in known.party})
    assert state["score"] == 7 * len(state["badges"]) + 1 + len(state["badges"]) + 0.5 * species
    assert get(grass, "/evaluate")["pokemon"]["count"] == species


def test_badges_count_more_the_later_they_come() -> None:
    score, badges = Score(), [f"badge {number}" for number in range(8)]
    worth = [score.see(GymState(badges=badges[: number + 1])) for number in range(8)]
    assert worth == [7, 15.5, 25.5, 36.5, 49.5, 65.5, 83.5, 103.5]
    assert score.see(GymState(badges=badges, location="HOME")) == 103.5 + 7
    assert score.see(GymState(badges=badges, location="HOME")) == 103.5 + 7


def test_a_saved_state_continues_the_game(grass: httpx.Client) -> None:
    post(grass, "/initialize", session_id="mine")
    for key in START:
        press(grass, key)
    saved = post(grass, "/save_state", filename="here")
    assert saved["status"] == "success"
    assert saved["state_file"].endswith("session_mine/here.state")
    after = press(grass, "b")
    again = post(grass, "/initialize", load_state_file=saved["state_file"])
    assert again["step_number"] == 0
    assert press(grass, "b")["screenshot_base64"] == after["screenshot_base64"]
    by_name = post(grass, "/initialize", load_state_file="session_mine/here")
    assert by_name["screenshot_base64"] == again["screenshot_base64"]


def test_an_autosave_is_made_every_50_steps_and_continues_its_session(pole: httpx.Client) -> None:
    assert pole.post("/initialize", json={"load_autosave": True, "session_id": "nobody"}).status_code == 422
    post(pole, "/initialize", session_id="auto")
    for number in range(50):
        press(pole, ("left", "right")[number % 2])
    post(pole, "/stop")
    state = post(pole, "/initialize", load_autosave=True, session_id="auto")
    assert state["step_number"] == 50
    assert press(pole, "left")["step_number"] == 51


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ({"action_type": "jump"}, 422, "action_type: not allowed"),
        ({"keys": ["a"]}, 422, "action_type: missing"),
        ({"action_type": "press_key"}, 400, "keys: missing"),
        ({"action_type": "press_key", "keys": []}, 400, "keys: missing"),
        ({"action_type": "press_key", "keys": ["jump"]}, 422, "no button named 'jump'"),
        ({"action_type": "press_key", "keys": "a"}, 422, "keys: not allowed; allowed: a list"),
        ({"action_type": "press_key", "keys": ["a"] * 101}, 422, "keys: not allowed"),
        ({"action_type": "press_key", "keys": ["a:3"]}, 422, "command"),
        ({"action_type": "wait"}, 400, "frames: missing"),
        ({"action_type": "wait", "frames": 0}, 422, "frames: not allowed"),
        ({"action_type": "wait", "frames": 900_000}, 422, "too many"),
    ],
)
def test_bad_input_is_refused_with_the_reason(
    grass: httpx.Client, body: dict[str, object], status: int, reason: str
) -> None:
    post(grass, "/initialize")
    refused = grass.post("/action", json=body)
    assert (refused.status_code, reason in refused.json()["detail"]) == (status, True), refused.text
    assert refused.json()["message"] == refused.json()["detail"]


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../b", "", ".", "x" * 300, "a\0b", "..%2fx", "x.gb"])
def test_names_that_lead_elsewhere_are_refused(grass: httpx.Client, grass_dir: Path, name: str) -> None:
    (grass_dir / "x.state").write_bytes(b"outside")
    (grass_dir / "x.gb").write_bytes(b"outside")
    post(grass, "/initialize")
    for path, field in (("/initialize", "load_state_file"), ("/initialize", "session_id"), ("/save_state", "filename")):
        refused = grass.post(path, json={field: name})
        assert refused.status_code == 422, (path, refused.text)


def test_a_link_that_leads_elsewhere_is_refused(grass: httpx.Client, grass_dir: Path) -> None:
    post(grass, "/initialize", session_id="linked")
    (grass_dir / "secret.state").write_bytes(b"outside")
    (grass_dir / "sessions" / "session_linked" / "link.state").symlink_to(grass_dir / "secret.state")
    refused = grass.post("/initialize", json={"load_state_file": "session_linked/link.state"})
    assert (refused.status_code, "no state that a session here saved" in refused.text) == (422, True)


class Trap:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (Path.touch, (Path(__file__).with_name("sprung"),))  # type: ignore[return-value]


def test_a_pickle_is_never_loaded_and_the_game_goes_on(grass: httpx.Client, grass_dir: Path) -> None:
    before = post(grass, "/initialize", session_id="trap")
    (grass_dir / "sessions" / "session_trap" / "evil.state").write_bytes(pickle.dumps(Trap()))
    refused = grass.post("/initialize", json={"load_state_file": "evil"})
    assert (refused.status_code, "pickle" in refused.json()["detail"]) == (422, True)
    assert not Path(__file__).with_name("sprung").exists()
    assert get(grass, "/status")["session_dir"].endswith("session_trap")
    assert post(grass, "/action", action_type="wait", frames=1)["step_number"] == before["step_number"] + 1


def test_files_that_can_not_be_written_are_told_once_and_the_game_goes_on(pole: httpx.Client) -> None:
    post(pole, "/initialize")
    get(pole, "/status")
    shutil.rmtree(Path(get(pole, "/status")["session_dir"]) / "images")
    press(pole, "left")
    refused = pole.get("/status")
    assert (refused.status_code, "can't be written" in refused.text) == (409, True)
    assert get(pole, "/status")["steps_taken"] == 1
    assert post(pole, "/stop")["status"] == "stopped"


def test_two_sessions_in_one_second_have_folders_of_their_own(pole: httpx.Client) -> None:
    folders = set()
    for _ in range(3):
        post(pole, "/initialize")
        folders.add(get(pole, "/status")["session_dir"])
    assert len(folders) == 3


def test_any_world_can_be_played(pole: httpx.Client) -> None:
    first = post(pole, "/initialize")
    assert set(first) == FIELDS
    assert Image.open(io.BytesIO(base64.b64decode(first["screenshot_base64"]))).size == (600, 400)
    for _ in range(30):  # the pole falls, and another episode begins
        state = press(pole, "left")
    assert state["step_number"] == 30
    refused = pole.post("/action", json={"action_type": "wait", "frames": 5})
    assert (refused.status_code, "press a key" in refused.text) == (422, True)
