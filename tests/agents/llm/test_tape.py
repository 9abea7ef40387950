"""What a model said is kept: the run replays without it, its agent can be played again, and a run resumes its mind."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptp.agents import Observation
from ptp.agents.contract import AgentSetup
from ptp.agents.registry import find_agent
from ptp.worlds import find_world, make_world
from tests.agents.llm.conftest import SECRET
from tests.agents.llm.servers import Reply, act, serving
from tests.agents.llm.test_llm import KINDS, LAKE, POLE, Ptp, rows


@pytest.fixture
def without_keys(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Take the keys away."""

    def take() -> None:
        for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
            monkeypatch.delenv(name)

    return take


def wander(body: dict[str, Any], number: int) -> Reply:
    """Look, note, move this way and that, and once say nothing of use."""
    turns = [
        Reply(tools=[("query_status", {}), ("remember", {"name": f"n{number}", "text": "seen"})]),
        act("right", "left"), act("down"), Reply("Hm.\x1b[2J"), act("up", "right", expect=["observation == 99", ""]),
    ]  # fmt: skip
    return turns[number % len(turns)]


@KINDS
def test_a_run_replays_and_its_agent_can_be_played_again_without_server_and_key(
    ptp: Ptp, without_keys: Callable[[], None], kind: str
) -> None:
    with serving(kind, wander) as server:
        assert ptp(*LAKE, *server.flags(), "--max-ticks", "12")[0] == 0
    without_keys()
    assert ptp("replay", "latest", "--verify")[0] == 0
    code, out, error = ptp("replay", "latest", "--rerun-agent")
    assert code == 0, (out, error)
    assert "equal: 12 ticks" in out
    assert f"{len(server.requests)} prompts" in out


def test_pictures_are_on_the_tape_once_and_the_agent_sees_them_again(ptp: Ptp, tmp_path: Path) -> None:
    look = Reply(tools=[("request_snapshot", {})])
    with serving("openai", [look, act("left", "right"), look, act("left")]) as server:
        assert ptp(*POLE, *server.flags(), "--max-ticks", "5")[0] == 0
    bodies = [zlib.decompress(row["body"]) for row in rows(tmp_path, "SELECT body FROM model_texts")]
    assert sum(body.startswith(b"\x89PNG") for body in bodies) == 2
    assert not any(b"iVBORw0KGgo" in body for body in bodies), "no picture is kept inside a message"
    assert ptp("replay", "latest", "--rerun-agent")[0] == 0


def test_the_first_prompt_that_differs_is_named_with_a_diff(ptp: Ptp, tmp_path: Path) -> None:
    with serving("openai", wander) as server:
        ptp(*LAKE, *server.flags(), "--max-ticks", "8")
    (path,) = (tmp_path / "var" / "records").glob("*/config.yaml")
    text = path.read_text()
    assert "openai:gpt-4o" in text
    path.write_text(text.replace("openai:gpt-4o", "openai:gpt-4o-mini"))
    code, out, _ = ptp("replay", "latest", "--rerun-agent")
    assert code == 1
    assert "different: the prompt after tick 0 is not the recorded one" in out
    assert "-model: openai:gpt-4o\n+model: openai:gpt-4o-mini" in out


def test_an_agent_that_does_not_repeat_itself_is_not_played_again(ptp: Ptp) -> None:
    ptp("run", "--world", "FrozenLake-v1", "--agent", "random", "--max-ticks", "3", "--tick-rate-base", "0")
    assert ptp("replay", "latest", "--rerun-agent")[0] == 0, "the random agent repeats itself"


def test_no_file_of_a_run_holds_the_key(ptp: Ptp, tmp_path: Path) -> None:
    with serving("anthropic", wander) as server:
        ptp(*LAKE, *server.flags(), "--max-ticks", "6")
    assert any(SECRET in value for headers in server.headers for value in headers.values()), "the server was sent it"
    files = [path for path in (tmp_path / "var").rglob("*") if path.is_file()]
    assert len(files) > 5
    for path in files:
        assert SECRET.encode() not in path.read_bytes(), path
    for row in rows(tmp_path, "SELECT body FROM model_texts"):
        assert SECRET.encode() not in zlib.decompress(row["body"])


def test_a_resumed_run_continues_with_its_memory(ptp: Ptp, tmp_path: Path) -> None:
    replies = [
        Reply(tools=[("remember", {"name": "plan", "text": "keep left"}), ("act", {"moves": ["right", "down"]})])
    ]
    with serving("openai", [*replies, act("left")]) as server:
        ptp(*LAKE, *server.flags(), "--max-ticks", "3")
        asked = len(server.requests)
        assert ptp("resume", "latest", "--max-ticks", "4")[0] == 0
    messages = server.requests[asked]["messages"]
    assert messages[: len(server.requests[asked - 1]["messages"])] == server.requests[asked - 1]["messages"]
    assert "keep left" in json.dumps(messages)
    assert "were not played by you" not in json.dumps(messages)


def test_a_run_without_snapshots_comes_to_the_same_mind_from_its_tape(ptp: Ptp, tmp_path: Path) -> None:
    with serving("anthropic", wander) as server:
        ptp(*LAKE, *server.flags(), "--max-ticks", "7")
        asked = len(server.requests)
        (run,) = (tmp_path / "var" / "records").iterdir()
        for path in (run / "snapshots").iterdir():
            path.unlink()
        assert ptp("resume", "latest", "--max-ticks", "9")[0] == 0
    before, after = (json.dumps(server.requests[at]["messages"]) for at in (asked - 1, asked))
    assert "were not played by you" not in after
    assert len(after) > len(before)
    spent = rows(tmp_path, "SELECT count(*) AS calls FROM model_calls")
    assert spent == [{"calls": len(server.requests)}], "what is taken from the tape is neither paid nor recorded again"


@KINDS
def test_a_mind_is_the_same_to_the_byte_after_it_was_saved_and_loaded(kind: str) -> None:
    world = make_world(find_world("CartPole-v1"), "rgb_array")
    look = Reply(tools=[("request_snapshot", {}), ("remember", {"name": "a", "text": "b"})])
    with serving(kind, [look, act("left", "right")]) as server:
        agents = [_agent(world, server) for _ in range(2)]
        value = world.reset(1)
        agents[0].decide(Observation(value, world.state(value), 0, 1, 0, world.frame))
        saved = json.dumps(agents[0].save())
        agents[1].load(json.loads(saved))
        assert json.dumps(agents[1].save()) == saved
        assert "iVBORw0KGgo" in saved
        for agent in agents:
            agent.close()
    world.close()


def _agent(world: Any, server: Any) -> Any:
    kind = find_agent("llm")
    return kind(world.view(), AgentSetup(1, kind.Options(), server.model, server.url))


def test_a_run_without_a_model_has_nothing_to_show(ptp: Ptp) -> None:
    assert ptp("run", "--world", "FrozenLake-v1", "--tick-rate-base", "0", "--max-ticks", "5")[0] == 0
    assert ptp("transcript", "latest")[:2] == (0, "no model was asked in these ticks\n")


def test_a_transcript_shows_what_was_said_with_ticks_and_cost(ptp: Ptp, ptp_json: Callable[..., Any]) -> None:
    with serving("openai", wander) as server:
        ptp(*LAKE, *server.flags(), "--max-ticks", "4")
    code, out, error = ptp("transcript", "latest", "-v")
    assert code == 0, error
    assert "tick 0  openai:gpt-4o  ok" in out
    assert '< calls act {"moves": ["right", "left"]' in out
    assert "> result of remember There are 1 notes." in out
    assert "! no tool was called: Hm." in out
    assert "\x1b[2J" not in out, "a model can't steer the terminal"
    assert "\\x1b[2J" in out
    found = ptp_json("transcript", "latest")
    assert len(found["calls"]) == len(server.requests)
    assert found["cost"] == pytest.approx(sum(call["cost"] for call in found["calls"]))
    assert [part["kind"] for part in found["calls"][0]["asked"]] == ["system", "user"]
    assert [part["kind"] for part in found["calls"][1]["asked"]] == ["tool result", "tool result"]
    late = ptp_json("transcript", "latest", "--from-tick", "2")
    assert {call["tick"] for call in late["calls"]} < {call["tick"] for call in found["calls"]}
