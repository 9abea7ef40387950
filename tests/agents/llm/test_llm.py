"""The language-model agent plays: against servers that speak as Anthropic's and OpenAI's do."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.agents.llm.conftest import SECRET
from tests.agents.llm.servers import ModelServer, Reply, act, serving

Ptp = Callable[..., tuple[int, str, str]]
LAKE = ("run", "--world", "FrozenLake-v1", "--world-option", "is_slippery=false", "--random-seed", "1",
        "--tick-rate-base", "0", "--agent-option", "backoff=0.001")  # fmt: skip
POLE = ("run", "--world", "CartPole-v1", "--render-mode", "rgb_array", "--random-seed", "1", "--tick-rate-base", "0")
KINDS = pytest.mark.parametrize("kind", ["anthropic", "openai"])


def rows(tmp_path: Path, query: str) -> list[dict[str, Any]]:
    """Return the rows of the only run."""
    (path,) = (tmp_path / "var" / "records").glob("*/game_data.db")
    database = sqlite3.connect(path)
    database.row_factory = sqlite3.Row
    try:
        return [dict(row) for row in database.execute(query)]
    finally:
        database.close()


def said(server: ModelServer, number: int = -1) -> str:
    """Return everything that a request told the model."""
    return json.dumps(server.requests[number]["messages"])


@KINDS
def test_a_model_plans_several_moves_and_every_call_is_a_record(ptp: Ptp, tmp_path: Path, kind: str) -> None:
    with serving(kind, [Reply(**{**_fields(act("right", "right", "down")), "tokens": (100, 20, 60)})]) as server:
        assert ptp(*LAKE, *server.flags(), "--max-ticks", "3")[0] == 0
    assert len(server.requests) == 1, "three moves take one call"
    (call,) = rows(tmp_path, "SELECT * FROM model_calls")
    assert (call["provider"], call["model"], call["status"]) == (kind, server.model, "ok")
    assert (call["tokens_in"], call["tokens_out"], call["tokens_cached"]) == (100, 20, 60)
    assert call["cost"] > 0
    assert call["latency_ms"] > 0
    assert [tool["name"] for tool in json.loads(call["tools"])] == ["act"]
    decisions = rows(tmp_path, "SELECT * FROM action_history ORDER BY tick")
    assert [row["decision_type"] for row in decisions] == ["PLAN", "STEP", "STEP"]
    assert json.loads(decisions[0]["decision_context"])["left"] == ["right", "down"]
    assert (decisions[0]["reasoning"], decisions[0]["tokens_used"]) == ("because", 120)
    (decided,) = rows(tmp_path, "SELECT * FROM llm_decisions")
    assert (decided["calls"], decided["tool_calls"], decided["action"]) == (1, 1, "2")
    assert (decided["prompt_hash"], decided["answer_hash"]) == (call["prompt_hash"], call["answer_hash"])
    (config,) = rows(tmp_path, "SELECT * FROM ai_model_configurations")
    assert config["model_name"] == server.model
    assert "FrozenLake" in config["system_prompt"]
    assert rows(tmp_path, "SELECT model_name FROM runs") == [{"model_name": server.model}]


def _fields(reply: Reply) -> dict[str, Any]:
    return {name: getattr(reply, name) for name in reply.__struct_fields__}


@KINDS
def test_the_model_is_asked_again_when_a_move_changes_nothing(ptp: Ptp, kind: str) -> None:
    with serving(kind, [act("left", "down"), act("right")]) as server:
        assert ptp(*LAKE, *server.flags(), "--max-ticks", "2")[0] == 0
    assert len(server.requests) == 2
    assert "'left' changed nothing" in said(server)


def test_the_model_is_asked_again_when_an_expectation_fails(ptp: Ptp) -> None:
    with serving("openai", [act("right", "right", "down", expect=["observation == 9", "", ""]), act("down")]) as server:
        ptp(*LAKE, *server.flags(), "--max-ticks", "2")
    assert len(server.requests) == 2
    assert "Surprise after 'right': EXPECT observation == 9 failed: observation is 1" in said(server)


def test_tools_that_only_look_are_answered_before_the_move(ptp: Ptp) -> None:
    looks = Reply(tools=[("remember", {"name": "hole", "text": "at 5"}), ("query_status", {})])
    recalls = Reply(tools=[("recall", {})])
    with serving("anthropic", [looks, recalls, act("right")]) as server:
        ptp(*LAKE, *server.flags(), "--max-ticks", "1")
    assert '{\\"hole\\": \\"at 5\\"}' in json.dumps(server.requests[2]["messages"][-1]).replace("\\\\", "\\")
    assert "last moves: none" in said(server, 1)


def test_a_script_of_the_model_is_played_and_its_end_reported(ptp: Ptp, tmp_path: Path) -> None:
    script = Reply(tools=[("run_script", {"script": "REPEAT 2 {\n  PRESS RIGHT\n}\nEXPECT observation == 9\n"})])
    with serving("openai", [script, act("down")]) as server:
        ptp(*LAKE, *server.flags(), "--max-ticks", "3")
    assert "The script failed in line 4" in said(server)
    assert [row["command"] for row in rows(tmp_path, "SELECT command FROM steps ORDER BY tick")] == ["2", "2", "1"]


def test_a_snapshot_of_the_model_can_be_found_by_its_name(ptp: Ptp, ptp_json: Callable[..., Any]) -> None:
    saves = Reply(tools=[("snapshot", {"name": "before-ice"}), ("act", {"moves": ["right"]})])
    with serving("anthropic", [saves, act("right")]) as server:
        ptp(*LAKE, *server.flags(), "--max-ticks", "2")
    assert "before-ice" in json.dumps(ptp_json("snapshot", "list"))


@KINDS
def test_a_picture_is_sent_once_while_the_screen_stays_the_same(ptp: Ptp, kind: str) -> None:
    look = Reply(tools=[("request_snapshot", {})])
    with serving(kind, [look, look, act("left")]) as server:
        ptp(*POLE, *server.flags(), "--max-ticks", "1")
    last = said(server)
    assert last.count("iVBORw0KGgo") == 1, "one PNG"
    assert "The screen is still the same as in picture" in last


def test_only_the_newest_pictures_stay_in_the_conversation(ptp: Ptp) -> None:
    look = Reply(tools=[("request_snapshot", {})])
    with serving("openai", [look, act("left"), look, act("left"), look, act("left")]) as server:
        ptp(*POLE, *server.flags(), "--max-ticks", "3", "--agent-option", "llm_snapshot_retention=1")
    assert said(server).count("iVBORw0KGgo") == 1
    assert "is no longer shown" in said(server)


@pytest.mark.parametrize("flags", [LAKE, (*POLE, "--snapshot-provider", "none")])
def test_a_world_of_text_offers_no_pictures(ptp: Ptp, flags: tuple[str, ...]) -> None:
    with serving("openai", [act("left")]) as server:
        ptp(*flags, *server.flags(), "--max-ticks", "1")
    assert "request_snapshot" not in {tool["function"]["name"] for tool in server.requests[0]["tools"]}


def test_tallgrass_is_played_with_ways_and_pictures(ptp: Ptp, tmp_path: Path) -> None:
    def answer(body: dict[str, Any], number: int) -> Reply:
        return Reply(tools=[("go_to", {"x": 200, "y": 200})]) if number == 0 else act("up", "a")

    with serving("anthropic", answer) as server:
        code, _, error = ptp("run", "--world", "tallgrass", "--random-seed", "1", "--tick-rate-base", "0",
                             *server.flags(), "--max-ticks", "6")  # fmt: skip
    assert code == 0, error
    assert {"go_to", "request_snapshot"} <= {tool["name"] for tool in server.requests[0]["tools"]}
    assert "No way to (200, 200) is known" in said(server, 1)
    assert rows(tmp_path, "SELECT count(*) AS n FROM steps") == [{"n": 6}]


def test_instructions_and_tools_are_cached_by_the_provider(ptp: Ptp) -> None:
    with serving("anthropic", [act("right")]) as server:
        ptp(*LAKE, *server.flags(), "--max-ticks", "1")
    request = server.requests[0]
    assert request["system"][-1]["cache_control"]["type"] == "ephemeral"
    assert request["tools"][-1]["cache_control"]["type"] == "ephemeral"


def test_an_answer_without_a_limit_of_tokens_is_streamed(ptp: Ptp, tmp_path: Path) -> None:
    with serving("anthropic", [act("right", "down")]) as server:
        assert ptp(*LAKE, *server.flags(), "--max-ticks", "2", "--agent-option", "max_tokens=null")[0] == 0
    assert server.requests[0]["stream"] is True
    assert rows(tmp_path, "SELECT tokens_in, tokens_out FROM model_calls") == [{"tokens_in": 100, "tokens_out": 20}]


def test_a_long_conversation_is_replaced_by_the_models_summary(ptp: Ptp, tmp_path: Path) -> None:
    def answer(body: dict[str, Any], number: int) -> Reply:
        if "tools" not in body:
            return Reply("I went right once and saw ice.")
        return Reply(tools=[("act", {"moves": ["right"]})], tokens=(5000 if number == 0 else 10, 1, 0))

    with serving("openai", answer) as server:
        ptp(*LAKE, *server.flags(), "--max-ticks", "3", "--agent-option", "history_tokens=1000")
    assert ["tools" in body for body in server.requests] == [True, False, True, True]
    told = [message for message in server.requests[2]["messages"] if message["role"] != "system"]
    assert len(told) == 1
    assert "I went right once and saw ice." in told[0]["content"]
    assert [row["decision"] for row in rows(tmp_path, "SELECT decision FROM model_calls")] == [0, 1, 1, 2]


# -- what goes wrong ---------------------------------------------------------------------------------------------------


@KINDS
@pytest.mark.parametrize(
    "bad",
    [
        Reply("slow down", status=429, headers={"retry-after": "0"}),
        Reply("broken", status=500),
        Reply("busy", status=529),
        Reply(raw=b"<html>not what was promised"),
        Reply(**{**_fields(act("left")), "cut": True}),
    ],
    ids=["429", "500", "529", "nonsense", "cut off"],
)
def test_a_call_that_fails_is_recorded_and_made_again(ptp: Ptp, tmp_path: Path, kind: str, bad: Reply) -> None:
    with serving(kind, [bad, act("right")]) as server:
        assert ptp(*LAKE, *server.flags(), "--max-ticks", "1")[0] == 0
    calls = rows(tmp_path, "SELECT status, error, cost, tokens_in, decision FROM model_calls ORDER BY call_id")
    assert [call["status"] for call in calls] == ["error", "ok"]
    assert calls[0]["error"]
    assert calls[0]["cost"] is None
    assert calls[0]["tokens_in"] is None
    assert len(server.requests) == 2, "only the agent tries again, so that each try is counted"


def test_a_call_that_takes_too_long_is_made_again(ptp: Ptp, tmp_path: Path) -> None:
    slow = Reply(**{**_fields(act("left")), "delay": 30.0})
    with serving("openai", [slow, act("right")]) as server:
        assert ptp(*LAKE, *server.flags(), "--max-ticks", "1", "--agent-option", "timeout=1.5")[0] == 0
    assert [row["status"] for row in rows(tmp_path, "SELECT status FROM model_calls ORDER BY call_id")] == [
        "error", "ok",
    ]  # fmt: skip


def test_a_wrong_key_ends_the_run_at_once_and_is_written_nowhere(ptp: Ptp, tmp_path: Path) -> None:
    with serving("openai", [Reply(f"Incorrect API key provided: {SECRET}", status=401)]) as server:
        code, _, error = ptp(*LAKE, *server.flags(), "--max-ticks", "1")
    assert code == 1
    assert "can't be asked" in error
    assert "_API_KEY]" in error
    assert len(server.requests) == 1
    assert [row["status"] for row in rows(tmp_path, "SELECT status FROM model_calls")] == ["error"]
    for path in (tmp_path / "var").rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path


@pytest.mark.parametrize("bad", [Reply("I'd rather talk."), Reply("I can't.", refused=True)], ids=["text", "refusal"])
@KINDS
def test_an_answer_that_does_not_move_is_recorded_and_asked_for_again(
    ptp: Ptp, tmp_path: Path, kind: str, bad: Reply
) -> None:
    with serving(kind, [bad, act("right")]) as server:
        assert ptp(*LAKE, *server.flags(), "--max-ticks", "1")[0] == 0
    statuses = [row["status"] for row in rows(tmp_path, "SELECT status FROM model_calls ORDER BY call_id")]
    assert statuses == ["refused" if bad.refused else "malformed", "ok"]
    assert "Call act, or another tool" in said(server)


def test_a_model_that_never_moves_ends_the_run_with_all_its_calls_recorded(ptp: Ptp, tmp_path: Path) -> None:
    with serving("openai", [Reply("Hm.")]) as server:
        code, _, error = ptp(*LAKE, *server.flags(), "--max-ticks", "1")
    assert code == 1
    assert "gave no move 3 times in a row: Hm." in error
    calls = rows(tmp_path, "SELECT status, cost FROM model_calls")
    assert [call["status"] for call in calls] == ["malformed"] * 3
    assert all(call["cost"] for call in calls)
    assert rows(tmp_path, "SELECT total_cost > 0 AS paid FROM runs") == [{"paid": 1}]


@pytest.mark.parametrize(
    ("tool", "said_back"),
    [
        (("act", {"moves": ["sideways"]}), "sideways"),
        (("act", {"moves": []}), "0 moves; plan 1 to 3"),
        (("act", {"moves": "right"}), "can't be read"),
        (("act", "{not json"), "can't be read"),
        (("fly", {}), "there is no tool 'fly'"),
        (("run_script", {"script": "PRESS NOWHERE"}), "Refused"),
    ],
)
def test_arguments_that_cant_be_used_are_refused_and_the_model_told_why(
    ptp: Ptp, tmp_path: Path, tool: tuple[str, Any], said_back: str
) -> None:
    with serving("openai", [Reply(tools=[tool]), act("right")]) as server:
        assert ptp(*LAKE, *server.flags(), "--max-ticks", "1")[0] == 0
    assert said_back in said(server)
    assert [row["status"] for row in rows(tmp_path, "SELECT status FROM model_calls ORDER BY call_id")] == [
        "malformed", "ok",
    ]  # fmt: skip


def test_a_price_that_nobody_knows_is_null(ptp: Ptp, tmp_path: Path) -> None:
    with serving("openai", [act("right")]) as server:
        server.model = "openai:a-model-of-mine"
        ptp(*LAKE, *server.flags(), "--max-ticks", "1")
    assert rows(tmp_path, "SELECT cost FROM model_calls") == [{"cost": None}]
    assert rows(tmp_path, "SELECT api_cost FROM action_history") == [{"api_cost": None}]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ([], "needs a model"),
        (["--model", "gpt-4o"], "needs a model"),
        (["--model", "nobody:x"], "--model nobody:x"),
        (["--model", "openai:x", "--base-url", "https://me:pass@host/v1"], "keys belong into the environment"),
        (["--model", "openai:x", "--base-url", "host"], "is not an address"),
        (["--model", "openrouter:x/y", "--base-url", "http://127.0.0.1:1/v1"], "has an address of its own"),
    ],
)
def test_a_model_that_cant_be_made_is_refused_before_the_run(
    ptp: Ptp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: list[str], message: str
) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", SECRET)
    code, _, error = ptp(*LAKE, "--agent", "llm", *flags)
    assert code == 2
    assert message in error
    assert error.count("\n") <= 2
    assert not [*(tmp_path / "var").glob("records/*")]


def test_a_model_without_a_key_is_refused_before_the_run(ptp: Ptp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    code, _, error = ptp(*LAKE, "--agent", "llm", "--model", "anthropic:claude-haiku-5-5")
    assert code == 2
    assert error == "ptp: --model anthropic:claude-haiku-5-5: it needs a key; set ANTHROPIC_API_KEY\n"
