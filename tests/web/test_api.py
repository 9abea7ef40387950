"""What the API tells of runs."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import httpx
import msgspec
import polars
import pytest
from PIL import Image
from prometheus_client.parser import text_string_to_metric_families

from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.replay import Replay, Tape
from ptp.runs import find_run, list_runs
from ptp.runs.run import Run
from tests.web.parts import playing, record, serving, wait_for

STATUS = {
    "run_id": str, "experiment_name": str, "started_at": str, "elapsed_seconds": float,
    "current_state": {"screen_type", "location", "coordinates", "party", "inventory", "badges", "pokemon_caught",
                      "pokemon_owned"},
    "decision_pipeline": {"last_decision_at", "last_decision_type", "last_decision_confidence",
                          "last_decision_latency_ms", "tokens_this_decision", "cost_this_decision",
                          "current_decision_status"},
    "system_health": {"tick_rate_actual", "tick_rate_target", "memory_usage_mb", "api_calls_remaining", "error_count",
                      "snapshot_count"},
}  # fmt: skip


def get(client: httpx.Client, path: str, **values: Any) -> Any:
    response = client.get(f"/api/v1/{path}", params=values)
    assert response.status_code == 200, response.text
    return response.json()


def test_the_status_has_exactly_the_promised_fields(client: httpx.Client, game: str) -> None:
    status = get(client, "status", run=game)
    assert status.keys() == STATUS.keys()
    for name, fields in STATUS.items():
        if isinstance(fields, set):
            assert status[name].keys() == fields
    state = status["current_state"]
    assert state["party"][0].keys() == {"name", "level", "hp", "max_hp", "status"}
    assert state["coordinates"].keys() == {"x", "y"}
    assert {"pokeballs", "potions"} <= state["inventory"].keys()
    assert status["system_health"]["snapshot_count"] == 5
    assert status["decision_pipeline"]["current_decision_status"] == "completed"


@pytest.mark.parametrize(
    ("flags", "calls"),
    [
        ({}, None),
        ({"max_cost": 10.0}, 20),
        ({"max_cost": 10.0, "tick_rate_budget": "run", "tick_rate_budget_limit": 5.5}, 2),
        ({"tick_rate_budget": "daily", "tick_rate_budget_limit": 100.0}, 380),
        ({"tick_rate_budget": "hourly", "tick_rate_budget_limit": 100.0}, 390),
        ({"max_cost": 1.0}, 0),
    ],
)
def test_the_status_tells_how_many_calls_the_dollars_left_pay_for(
    tmp_path: Path, flags: dict[str, Any], calls: int | None
) -> None:
    directory = record(tmp_path, world="FrozenLake-v1", max_ticks=60, **flags)
    with serving(tmp_path) as client:
        assert get(client, "status")["system_health"]["api_calls_remaining"] is None  # nothing was paid yet
    pay(directory)
    with serving(tmp_path) as client:
        assert get(client, "status")["system_health"]["api_calls_remaining"] == calls


def pay(directory: RunDirectory) -> None:
    """Let the newest twenty decisions have cost a quarter of a dollar each, ten of them two hours before the end."""
    connection = apsw.Connection(str(directory.database))
    newest = "decision_id IN (SELECT decision_id FROM action_history ORDER BY decision_id DESC LIMIT {})"
    noon = "2026-03-01T12:30:00.000Z"
    connection.execute(f"UPDATE action_history SET api_cost = 0.25, timestamp = ? WHERE {newest.format(20)}", (noon,))
    late = "2026-03-01T14:30:00.000Z"
    connection.execute(f"UPDATE action_history SET timestamp = ? WHERE {newest.format(10)}", (late,))
    connection.close()
    directory.write_metadata(msgspec.structs.replace(directory.read_metadata(), completed_at=late))


def test_a_world_that_knows_no_party_says_null_and_keeps_the_keys(client: httpx.Client, lake: str) -> None:
    status = get(client, "status", run=lake)
    state = status["current_state"]
    assert state.keys() == STATUS["current_state"]
    assert (state["party"], state["coordinates"], state["badges"]) == (None, None, None)
    assert state["inventory"] == {"pokeballs": None, "potions": None}
    assert get(client, "metrics", run=lake)["game"] == {}


def test_without_a_name_the_newest_run_is_meant_and_a_beginning_of_its_id_is_enough(
    client: httpx.Client, game: str
) -> None:
    assert get(client, "status")["run_id"] == game
    assert get(client, "status", run="latest")["run_id"] == game
    assert get(client, "status", run=game[:20].upper())["run_id"] == game


def test_runs_are_filtered_sorted_and_paged(client: httpx.Client, game: str, lake: str) -> None:
    everything = get(client, "runs")
    assert [run["run_id"] for run in everything["runs"]] == [game, lake]
    assert everything["statuses"] == {"completed": 2}
    assert [run["run_id"] for run in get(client, "runs", sort="ticks", descending=False)["runs"]] == [lake, game]
    assert [run["run_id"] for run in get(client, "runs", page=2, page_size=1)["runs"]] == [lake]
    assert get(client, "runs", q="explorer tall")["total_count"] == 1
    assert get(client, "runs", status="running")["runs"] == []


def test_a_tag_shows_in_the_list_and_picks_its_runs(tmp_path: Path) -> None:
    first, second = (record(tmp_path, world="FrozenLake-v1", max_ticks=20) for _ in range(2))
    with serving(tmp_path) as client:
        assert get(client, "runs")["tags"] == []
        Run(first).tag("best", "paper")
        Run(second).tag("paper")
        wait_for(lambda: get(client, "runs")["tags"] == ["best", "paper"])
        assert [run["tags"] for run in get(client, "runs")["runs"]] == [["paper"], ["best", "paper"]]
        assert [run["run_id"] for run in get(client, "runs", tag="best")["runs"]] == [first.run_id]
        assert get(client, "runs", tag="pap")["runs"] == []
        assert get(client, "runs", q="BEST")["total_count"] == 1
        assert get(client, "run", run=first.run_id)["run"]["tags"] == ["best", "paper"]


def test_runs_are_filtered_by_experiment_time_ticks_and_reward(tmp_path: Path) -> None:
    for ticks in (20, 40):
        record(tmp_path, world="CartPole-v1", max_ticks=ticks, name=f"{ticks}")
    with serving(tmp_path) as client:

        def names(**query: Any) -> list[str]:
            return [run["name"] for run in get(client, "runs", **query)["runs"]]

        assert names() == names(since="2026-01-31T12:00:00Z", experiment="default") == ["40", "20"]
        assert names(min_ticks=30) == names(min_reward=30.5) == ["40"]
        assert names(max_ticks=30) == names(max_reward=30.5) == ["20"]
        assert names(until="2026-01-31T12:00:00Z") == names(experiment="other") == []
        assert sorted(names(sort="elapsed_seconds", descending=False)) == ["20", "40"]
        assert client.get("/api/v1/runs", params={"since": "soon"}).status_code == 422


def test_the_page_and_the_terminal_tell_the_same_of_a_live_and_of_a_killed_run(tmp_path: Path) -> None:
    words = ["run", "--world", "CliffWalking-v1", "--tick-rate-base", "0", "--data-dir", str(tmp_path), "-q"]
    process = subprocess.Popen([sys.executable, "-m", "ptp", *words])
    try:
        with serving(tmp_path) as client:
            live: list[int] = []
            while len(live) < 3:
                runs = wait_for(lambda: get(client, "runs", status="running")["runs"])
                told = int(runs[0]["ticks"])
                if told and told not in live:
                    live.append(told)
                    assert runs[0]["total_reward"] == _reward_until(tmp_path, told)
            process.kill()
            process.wait()
            (shown,) = wait_for(lambda: get(client, "runs", status="crashed")["runs"])
    finally:
        process.kill()
        process.wait()
    directory = list_runs(tmp_path)[0].directory
    assert shown == msgspec.to_builtins(Run(directory).summary())
    assert shown["total_reward"] == _reward_until(tmp_path, shown["ticks"])


def _reward_until(folder: Path, tick: int) -> float:
    directory = list_runs(folder)[0].directory
    with Database(directory.database) as database:
        return float(database.row("SELECT sum(reward) FROM steps WHERE tick <= ?", tick)[0])


def test_the_action_log_has_commands_and_events_in_the_order_of_their_ticks(client: httpx.Client, game: str) -> None:
    log = get(client, "actions", run=game, page_size=1000)
    assert log.keys() == {"actions", "total_count", "page", "page_size"}
    assert all(
        action.keys() == {"timestamp", "action", "context", "confidence", "latency_ms", "cost"}
        for action in log["actions"]
    )
    ticks = [action["context"]["tick"] for action in log["actions"]]
    assert ticks == sorted(ticks)
    commands = [action for action in log["actions"] if "reward" in action["context"]]
    assert [action["context"]["tick"] for action in commands] == list(range(1, 421))
    assert len(log["actions"]) == log["total_count"] > 420
    names = {action["action"] for action in log["actions"]}
    assert {"MOVE_UP", "A", "MAP_CHANGED", "DIALOG_SHOWN"} <= names
    assert any("from" in action["context"] for action in commands)


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_pages_of_the_action_log_join_to_the_whole(client: httpx.Client, game: str, order: str) -> None:
    whole = get(client, "actions", run=game, page_size=1000, order="asc")["actions"]
    pages = [get(client, "actions", run=game, page=page, page_size=97, order=order)["actions"] for page in range(1, 8)]
    joined = [action for page in pages for action in page]
    assert joined == (whole if order == "asc" else whole[::-1])


def test_the_action_log_is_filtered_by_kind_name_text_and_ticks(client: httpx.Client, game: str) -> None:
    whole = get(client, "actions", run=game, page_size=1000)["actions"]

    def names(**values: Any) -> list[str]:
        return [action["action"] for action in get(client, "actions", run=game, page_size=1000, **values)["actions"]]

    assert names(kind="commands") == [a["action"] for a in whole if "reward" in a["context"]]
    assert names(kind="events") == [a["action"] for a in whole if "reward" not in a["context"]]
    assert names(action="map changed") == names(action="MapChanged") == ["MAP_CHANGED"] * names().count("MAP_CHANGED")
    assert names(action="up") == names(action="MOVE_UP") == ["MOVE_UP"] * names().count("MOVE_UP")
    between = [a["action"] for a in whole if 100 <= a["context"]["tick"] <= 150]
    assert names(from_tick=100, to_tick=150) == between
    found = get(client, "actions", run=game, page_size=1000, q="fernhollow")["actions"]
    assert found
    assert all("fernhollow" in json.dumps(action).lower() for action in found)


def test_a_tick_is_told_with_state_command_decision_and_events(client: httpx.Client, game: str) -> None:
    first = get(client, "events", run=game, kinds="MapChanged")["events"][0]
    tick = get(client, f"tick/{first['tick']}", run=game)
    assert tick["state"]["location"] == first["detail"]["to_location"]
    assert "MapChanged" in [event["kind"] for event in tick["events"]]
    assert tick["decision"]["reasoning"]
    assert tick["step"]["command"] in {"up", "down", "left", "right", "a", "b", "none", "start"}
    start = get(client, "tick/0", run=game)
    assert (start["step"], start["last_tick"]) == (None, 420)


def test_decisions_come_newest_first_with_their_reasons(client: httpx.Client, game: str) -> None:
    page = get(client, "decisions", run=game, page_size=10)
    more = get(client, "decisions", run=game, page_size=10, before=page["next_before"])
    ids = [decision["number"] for decision in page["decisions"] + more["decisions"]]
    assert ids == sorted(set(ids), reverse=True)
    assert page["decisions"][0]["reasoning"]


@pytest.mark.parametrize("tick", [0, 1, 99, 250, 420, 120])
def test_the_picture_of_any_tick_is_the_one_that_the_replay_shows(
    client: httpx.Client, game: str, shelf: Path, tick: int
) -> None:
    assert client.get("/api/v1/frame", params={"run": game, "tick": tick}).headers["content-type"].startswith("image/")
    response = client.get(f"/api/v1/screenshots/tick-{tick}/image", params={"run": game})
    shown = Image.open(io.BytesIO(response.content)).convert("RGB")
    assert shown.size == (160, 144)
    if tick == 0:
        return
    replay = Replay(Tape(find_run(shelf, game)))
    for step in replay:
        if step.tick == tick:
            break
    assert shown.tobytes() == replay.world.frame().tobytes()  # type: ignore[union-attr]
    replay.close()


@pytest.mark.parametrize("name", ["latest", "tick-333"])
def test_a_picture_is_described_and_shown_whether_it_was_kept_or_not(
    client: httpx.Client, game: str, name: str
) -> None:
    shot = get(client, f"screenshots/{name}", run=game)
    assert shot.keys() == {"screenshot_id", "timestamp", "tick", "screen_type", "resolution", "file_size_bytes",
                           "compression", "quality", "annotations"}  # fmt: skip
    assert shot["resolution"] == {"width": 160, "height": 144}
    assert shot["annotations"].keys() == {"detected_text", "detected_sprites", "menu_regions"}
    image = client.get(f"/api/v1/screenshots/{shot['screenshot_id']}/image?run={game}")
    assert len(image.content) == shot["file_size_bytes"]
    assert Image.open(io.BytesIO(image.content)).size == (160, 144)
    small = client.get(f"/api/v1/screenshots/{shot['screenshot_id']}/thumbnail?run={game}")
    assert max(Image.open(io.BytesIO(small.content)).size) <= 96


def test_the_timeline_lists_what_was_kept_page_by_page(client: httpx.Client, game: str) -> None:
    whole = get(client, "screenshots", run=game, page_size=500)
    assert whole.keys() == {"screenshots", "total_count", "page", "page_size"}
    assert len(whole["screenshots"]) == whole["total_count"]
    for line in whole["screenshots"][:3]:
        assert line.keys() == {"id", "timestamp", "screen_type", "thumbnail_url"}
        assert client.get(line["thumbnail_url"]).status_code == 200


def test_two_pictures_are_compared(client: httpx.Client, game: str) -> None:
    same = get(client, "screenshots/diff", run=game, a="tick-100", b="tick-100")
    assert (same["equal"], same["changed_pixels"], same["bbox"]) == (True, 0, None)
    other = get(client, "screenshots/diff", run=game, a="tick-10", b="tick-300")
    assert not other["equal"]
    assert 0 < other["changed_share"] <= 1
    assert client.get(other["image_url"]).headers["content-type"] == "image/png"


def test_metrics_and_their_series_have_the_promised_names(client: httpx.Client, game: str) -> None:
    metrics = get(client, "metrics", run=game)
    assert metrics["performance"].keys() == {
        "tick_rate_actual", "tick_rate_target", "decision_latency_avg", "decision_latency_p95", "api_calls_per_minute",
        "api_cost_per_hour", "memory_usage_mb", "screenshot_queue_size", "error_rate"}  # fmt: skip
    assert metrics["game"].keys() == {
        "pokemon_caught", "pokemon_owned", "battles_won", "battles_lost", "battles_fled", "badges_earned",
        "current_level", "pokemon_party_size", "money"}  # fmt: skip
    names = "current_level,money,decision_latency_avg,party_health"
    series = get(client, "metrics/series", run=game, names=names, points=50)["series"]
    assert [each["name"] for each in series] == names.split(",")
    assert all(2 <= len(each["points"]) <= 60 for each in series)


@pytest.mark.parametrize("what", ["status", "steps", "decisions", "events", "episodes", "metrics", "errors"])
def test_every_table_is_exported_in_every_form(client: httpx.Client, game: str, what: str) -> None:
    values = {"run": game, "what": what}
    document = client.get("/api/v1/export", params={**values, "format": "json"}).json()
    rows = 1 if what == "status" else len(document[what])
    lines = client.get("/api/v1/export", params={**values, "format": "ndjson"}).text.splitlines()
    assert len([json.loads(line) for line in lines]) == rows
    table = client.get("/api/v1/export", params={**values, "format": "csv"}).text
    assert table.strip()
    parquet = client.get("/api/v1/export", params={**values, "format": "parquet"}).content
    assert polars.read_parquet(io.BytesIO(parquet)).height == rows


def test_settings_and_log_are_told(client: httpx.Client, game: str) -> None:
    assert get(client, "config", run=game)["config"]["world"]["name"] == "tallgrass"
    log = get(client, "logs", run=game)
    assert log["lines"][0]["event"] == "run_began"
    assert get(client, "logs", run=game, after=log["position"])["lines"] == []


def test_what_could_be_a_secret_is_not_told(tmp_path: Path) -> None:
    directory = record(tmp_path, world="FrozenLake-v1", max_ticks=5)
    config = directory.path / "config.yaml"
    config.write_text(config.read_text() + "extra:\n  api_key: hush\n  url: postgres://me:hush@host/db\n")
    with serving(tmp_path) as client:
        assert "hush" not in client.get("/api/v1/config").text


def test_prometheus_reads_counts_of_runs_and_only_the_figures_that_a_live_run_has(tmp_path: Path) -> None:
    record(tmp_path, world="FrozenLake-v1", max_ticks=5)
    others = ("--world", "CartPole-v1", "--agent", "random")
    with playing(tmp_path) as game, playing(tmp_path, *others) as pole, serving(tmp_path) as client:
        response = client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=")
    families = {family.name: family for family in text_string_to_metric_families(response.text)}
    assert {each.labels["status"]: each.value for each in families["ptp_runs"].samples} == {
        "completed": 1,
        "running": 2,
    }
    runs = {name: {each.labels["run"] for each in families[name].samples} for name in ("ptp_tick", "ptp_battles_won")}
    assert runs == {"ptp_tick": {game.run_id, pole.run_id}, "ptp_battles_won": {game.run_id}}
    assert families["ptp_tick_rate_target"].documentation == "Ticks per second to keep; 0 is as fast as possible."
    assert all(family.type == "gauge" for family in families.values())


@pytest.mark.parametrize("path", ["/", "/healthz", "/static/app.js", "/metrics", "/api/v1/status", "/api/v1/frame",
                                  "/api/v1/live", "/api/v1/export", "/api/v1/openapi.json"])  # fmt: skip
def test_head_answers_as_get_does_without_the_body(client: httpx.Client, path: str) -> None:
    head, whole = client.head(path), client.get(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-type"] == whole.headers["content-type"]


def test_a_fork_begins_a_new_run_with_a_shared_history(tmp_path: Path) -> None:
    parent = record(tmp_path, world="FrozenLake-v1", max_ticks=60)
    with serving(tmp_path) as client:
        made = client.post("/api/v1/fork", json={"tick": 40, "random_seed": 9, "max_ticks": 50}).json()
        assert (made["parent"], made["tick"]) == (parent.run_id, 40)
        detail = get(client, "run", run=made["run_id"])
        assert (detail["run"]["parent"], detail["parent_tick"]) == (parent.run_id, 40)
        refused = client.post("/api/v1/fork", params={"run": parent.run_id}, json={"tick": 4000})
        assert refused.status_code == 404
        assert "the run has ticks 0 to 60" in refused.json()["message"]
        unknown = client.post("/api/v1/fork", json={"agent": "nobody"})
        assert (unknown.status_code, "no agent named 'nobody'" in unknown.json()["message"]) == (404, True)


def test_forks_at_the_same_moment_get_ids_of_their_own_and_no_more_than_allowed_start(tmp_path: Path) -> None:
    parent = record(tmp_path, world="FrozenLake-v1", max_ticks=60).run_id

    def fork(seed: int) -> httpx.Response:
        wanted = {"tick": 40, "random_seed": seed, "tick_rate_base": 5, "max_ticks": 10_000}
        return client.post("/api/v1/fork", params={"run": parent}, json=wanted)

    def stop(run: str) -> bool:
        return client.post("/api/v1/control/stop", params={"run": run}).is_success

    with serving(tmp_path, most_runs=3) as client, ThreadPoolExecutor(5) as pool:
        answers = list(pool.map(fork, range(5)))
        started = [answer.json()["run_id"] for answer in answers if answer.is_success]
        assert len(set(started)) == len(started) == 3
        for answer in answers:
            if not answer.is_success:
                assert answer.status_code == 409
                assert answer.json()["message"] == "3 runs that were started here are still live; stop one first"
        assert {run["run_id"] for run in get(client, "runs")["runs"]} == {parent, *started}
        for run in started:
            wait_for(partial(stop, run))
        again = wait_for(lambda: found if (found := fork(9)).is_success else None)  # there is room again
        wait_for(partial(stop, again.json()["run_id"]))


def test_whole_numbers_may_be_written_as_javascript_does(tmp_path: Path) -> None:
    record(tmp_path, world="FrozenLake-v1", max_ticks=20)
    with serving(tmp_path) as client:
        made = client.post("/api/v1/fork", content=b'{"tick": 10.0, "max_ticks": 11.0}')
        assert (made.status_code, made.json()["tick"]) == (200, 10)
        wait_for(lambda: not get(client, "runs", status="running")["runs"])


def test_a_run_that_has_ended_goes_back_to_a_snapshot_and_says_how_to_go_on(tmp_path: Path) -> None:
    directory = record(tmp_path, world="FrozenLake-v1", max_ticks=250, snapshot_disk=100)
    with serving(tmp_path) as client:
        taken = client.post("/api/v1/control/snapshot", json={"name": "the end"}).json()
        assert taken["snapshot"]["name"] == "the end"
        listed = get(client, "snapshot/list")["snapshots"]
        wanted = next(each for each in listed if each["tick"] == 100)
        done = client.post(f"/api/v1/snapshot/restore/{wanted['snapshot_id']}").json()
        assert (done["tick"], done["live"], done["next"]) == (100, False, f"ptp resume {directory.run_id}")
        assert get(client, "actions", kind="commands")["total_count"] == 100
