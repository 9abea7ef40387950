"""A game on a server as a world: what it declares, takes, shows and refuses."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pytest

from ptp.config import RunConfig, replace
from ptp.emulators import PokemonGymAdapter
from ptp.errors import BadAnswer, BadCommand, ConfigError, ServerRefused, ServerUnreachable, UnknownName, WorldError
from ptp.records import WorldSpec
from ptp.worlds.registry import SERVER, choose_world, find_world, make_world
from tests.emulators.foreign import Foreign, serving
from tests.emulators.test_adapter_faults import WAY, play, world_on

Call = Callable[..., tuple[int, str, str]]
FAST = ("--tick-rate-base", "0", "--random-seed", "7", "--json")


def test_the_facts_say_what_a_foreign_server_can_not_do(foreign: Foreign) -> None:
    with world_on(foreign.url) as world:
        facts = world.facts
        assert (facts.name, facts.family, facts.snapshot) == (foreign.url, "pokemon-gym", "tape")
        assert (facts.render_mode, facts.storage_profile) == ("rgb_array", "gameboy")
        assert facts.commands == ("wait", "a", "b", "start", "select", "up", "down", "left", "right")
        assert set(facts.signals) <= {gauge.name for gauge in facts.gauges}
        assert facts.origin["server"] == foreign.url
        ends, unproven = world.remarks
        assert ends == f"{foreign.url} ends its session in 1800 s"
        assert "can't save its game, and whether its runs replay depends on it" in unproven
        with pytest.raises(WorldError, match="can't save its state; go back by replaying the tape"):
            world.save()
        with pytest.raises(WorldError, match="can't load a state"):
            world.load(b"")


def test_a_session_that_lasts_for_days_needs_no_remark(foreign: Foreign) -> None:
    foreign.remaining = 30 * 86400.0
    with world_on(foreign.url) as world:
        assert len(world.remarks) == 1


def test_commands_are_keys_and_wait_and_the_observation_is_the_screenshot(foreign: Foreign) -> None:
    with world_on(foreign.url, frames=7, session="mine") as world:
        first = world.reset(1)
        assert first.shape == (288, 320, 3)
        assert world.env.observation_space.contains(first)
        outcome = world.step(world.parse("right"))
        assert (outcome.observation[0, 0, 0], outcome.reward, outcome.terminated) == (12, 0.0, False)
        world.step(world.parse("WAIT"))
    bodies = [body for _, body in foreign.seen if body]
    assert bodies[0]["session_id"] == "mine"
    assert bodies[1:] == [{"action_type": "press_key", "keys": ["right"]}, {"action_type": "wait", "frames": 7}]


def test_a_command_that_is_no_key_is_refused_before_it_is_sent(foreign: Foreign) -> None:
    with world_on(foreign.url) as world:
        with pytest.raises(UnknownName, match="did you mean 'start'"):
            world.parse("strat")
        with pytest.raises(BadCommand, match="allowed: wait, a, b"):
            world.step(9)
    assert not any(path == "/action" for path, _ in foreign.seen)


def test_state_context_and_signals_come_from_the_answer(foreign: Foreign) -> None:
    with world_on(foreign.url) as world:
        world.reset(None)
        assert world.context() == "dialog"
        for _ in range(11):
            world.step(world.parse("right"))
        world.step(world.parse("down"))
        assert world.context() == "overworld:PALLET TOWN"
        assert world.state(None)["coordinates"] == [11, 1]
        assert not {"screenshot_base64", "step_number", "execution_time"} & set(world.state(None))
        assert world.signals().values == {"badges": 1.0, "level": 5.0, "score": 13.0}
        measured = world.measurements()
        assert measured["server_ms"] > 0
        assert measured["server_errors"] == 1  # it has no /v1/snapshot


def test_a_server_that_gets_slower_is_a_warning(foreign: Foreign) -> None:
    with world_on(foreign.url) as world:
        for _ in range(59):
            world.monitor.record("evaluate", 0.01)
        with pytest.warns(UserWarning, match=f"{foreign.url} gets slower: evaluate takes 0.050 s, and took 0.010 s"):
            slow_down(world)


def slow_down(world: PokemonGymAdapter) -> None:
    for _ in range(20):
        world.monitor.record("evaluate", 0.09)


def test_a_party_of_nobody_has_no_level(foreign: Foreign) -> None:
    foreign.faults.append(lambda answer: answer | {"pokemons": []})
    with world_on(foreign.url) as world:
        assert "level" not in world.signals().values
        assert "server_ms" not in world.measurements()


def test_the_first_episode_needs_no_second_beginning_and_every_later_one_does(foreign: Foreign) -> None:
    with world_on(foreign.url) as world:
        first = play(world, WAY[:4])
        assert [path for path, _ in foreign.seen].count("/initialize") == 1
        assert play(world, WAY[:4]) == first
        assert [path for path, _ in foreign.seen].count("/initialize") == 2
        with pytest.raises(WorldError, match="options"):
            world.reset(None, {"level": 3})


def test_two_worlds_can_not_spoil_one_game(foreign: Foreign) -> None:
    with world_on(foreign.url) as world:
        play(world, WAY[:2])
        with pytest.raises(WorldError, match="is being played by another run here; give each run its own server"):
            make_world(find_world(foreign.url), trusted=True)
        world.step(1)
    with world_on(foreign.url):
        pass
    locks = [path for path in Path(gettempdir()).glob("ptp-*.lock") if path.stat().st_uid == os.getuid()]
    assert locks
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in locks)


def test_a_world_that_failed_to_be_made_leaves_the_server_free() -> None:
    with serving() as server:
        server.faults.append(lambda answer: answer | {"badges": None})
        with (
            pytest.raises(BadAnswer, match="not compatible: badges: Expected `array`, got `null`"),
            world_on(server.url),
        ):
            pass
        server.faults.append(lambda answer: answer | {"screenshot_base64": ""})
        with pytest.raises(BadAnswer, match="a screenshot that is no PNG"), world_on(server.url):
            pass
        with world_on(server.url) as world:
            play(world, WAY[:1])


def test_a_server_that_refuses_snapshots_for_another_reason_is_no_world(
    foreign: Foreign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreign.RequestHandlerClass, "do_GET", lambda it: it._answer(500, {"detail": "broken"}))
    with pytest.raises(ServerRefused, match="500: broken"), world_on(foreign.url):
        pass


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"frames": 0}, "frames"),
        ({"timeout": 0}, "timeout"),
        ({"frame": 1}, "has no option 'frame'; it takes: id, frames, timeout, session"),
    ],
)
def test_wrong_options_are_refused_before_the_server_is_asked(options: dict[str, Any], reason: str) -> None:
    config = replace(RunConfig().world, name="http://127.0.0.1:1", options=options)
    with pytest.raises(ConfigError, match=reason):
        choose_world(config)


def test_another_render_mode_is_refused(foreign: Foreign) -> None:
    with pytest.raises(WorldError, match="can't render 'ansi'; it offers: rgb_array"):
        PokemonGymAdapter(find_world(foreign.url), "ansi")


def test_an_address_is_recorded_without_slash_and_a_login_is_refused_without_being_shown() -> None:
    assert find_world("http://host:8081/") == WorldSpec("http://host:8081", SERVER, {"id": "http://host:8081"})
    assert find_world("https://host/games/7").name == "https://host/games/7"
    with pytest.raises(ConfigError, match="the login before host:8081 would be recorded; leave it out") as problem:
        find_world("http://me:secret@host:8081")
    assert "secret" not in str(problem.value)


def test_a_run_that_came_from_elsewhere_reaches_no_server(foreign: Foreign) -> None:
    with pytest.raises(WorldError, match=f"not installed as a world: {foreign.url}; if you trust it, add --trust"):
        make_world(find_world(foreign.url))
    assert foreign.seen == []


# -- whole runs ------------------------------------------------------------------------------------------------


def test_a_run_on_a_foreign_server_is_recorded_and_replays(ptp: Call, foreign: Foreign) -> None:
    code, out, err = ptp("run", "--world", foreign.url, "--agent", "random", "--max-ticks", "30", *FAST)
    assert code == 0, err
    result = json.loads(out)
    assert result["ticks"] == 30
    assert result["signals"]["score"] > 1
    header = json.loads(Path(result["directory"], "metadata.json").read_text())
    assert header["world"] == {"name": foreign.url, "entry": SERVER, "options": {"id": foreign.url}}
    assert "whether its runs replay depends on it" in Path(result["directory"], "run.log").read_text()
    assert ptp("replay", result["run_id"], "--verify")[0] == 0


def test_a_run_on_a_foreign_server_is_forked_and_resumed_by_its_tape(ptp: Call, foreign: Foreign) -> None:
    code, out, err = ptp("run", "--world", foreign.url, "--max-ticks", "20", *FAST)
    run = json.loads(out)["run_id"]
    code, out, err = ptp("fork", run, "--at-tick", "15", "--max-ticks", "25", "--json")
    assert code == 0, err
    fork = json.loads(out)["run_id"]
    code, out, err = ptp("resume", run, "--max-ticks", "30", "--json")
    assert code == 0, err
    for each in (run, fork):
        assert ptp("replay", each, "--verify")[0] == 0


@pytest.mark.filterwarnings("default::UserWarning")
def test_a_run_whose_server_loses_the_game_says_so_in_its_log(ptp: Call, foreign: Foreign) -> None:
    foreign.faults += [lambda answer: answer] * 10 + ["drop"]
    code, out, err = ptp("run", "--world", foreign.url, "--max-ticks", "20", *FAST)
    assert code == 0, err
    result = json.loads(out)
    assert "lost the game; it was played again up to here" in Path(result["directory"], "run.log").read_text()
    assert ptp("replay", result["run_id"], "--verify")[0] == 0


def test_a_script_of_the_button_language_is_played_on_a_server(ptp: Call, foreign: Foreign, tmp_path: Path) -> None:
    script = tmp_path / "way.txt"
    script.write_text('REPEAT 3 { PRESS RIGHT; WAIT 2 }\nIF location == "PALLET TOWN" and badges == 0 { MOVE DOWN 2 }')
    code, _, err = ptp("run", "--world", foreign.url, "--agent", "script", "--script", str(script), *FAST)
    assert code == 0, err
    assert foreign.game is not None
    assert (foreign.game.x, foreign.game.y) == (3, 2)
    waits = [body for path, body in foreign.seen if path == "/action" and body["action_type"] == "wait"]
    assert waits == [{"action_type": "wait", "frames": 60}] * 6


def test_a_run_on_a_dead_server_ends_before_it_begins_with_one_line(ptp: Call, tmp_path: Path) -> None:
    with serving() as server:
        url = server.url
    code, _, err = ptp("run", "--world", url)
    assert code == 1
    assert err.startswith(f"ptp: {url}/initialize: nothing answers (")
    assert err.endswith("start the server, or correct the address\n")
    assert err.count("\n") == 1
    assert not list(tmp_path.glob("var/records/*"))
    with pytest.raises(ServerUnreachable):
        make_world(find_world(url), trusted=True)


def test_a_video_of_a_run_on_a_server_is_as_long_as_its_frames(ptp: Call, foreign: Foreign) -> None:
    code, out, err = ptp("run", "--world", foreign.url, "--max-ticks", "5", "--record-video", *FAST)
    assert code == 0, err
    assert list(Path(json.loads(out)["directory"], "video").glob("*.mp4"))
