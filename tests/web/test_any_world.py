"""What the API tells of runs in worlds without a story, and of any page of the action log."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from PIL import Image

from ptp.runs import find_run
from ptp.runs.actions import ActionLog, ActionQuery
from ptp.runs.run import Run
from tests.web.test_api import get


def open_run(name: str, shelf: Path) -> Run:
    return Run(find_run(shelf, name))


def test_the_ends_of_episodes_are_among_the_events(client: httpx.Client, shelf: Path, lake: str) -> None:
    episodes = list(open_run(lake, shelf).episodes())
    answer = get(client, "events", run=lake, kinds="Episode", limit=5)
    assert answer["kinds"]["Episode"] == answer["total_count"] == len(episodes)
    assert [event["tick"] for event in answer["events"]] == [ended.tick for ended in episodes[:5]]
    one = episodes[3]
    (event,) = get(client, f"tick/{one.tick}", run=lake)["events"]
    steps = f"{one.steps} step{'s' * (one.steps != 1)}"
    assert event["title"] == f"episode 4 ended after {steps}, return {one.reward:g}"
    assert event["at"] == pytest.approx(open_run(lake, shelf).directory.path.stat().st_mtime, abs=3600)


def test_a_tick_says_what_its_episode_returned_so_far(client: httpx.Client, shelf: Path, lake: str) -> None:
    steps = list(open_run(lake, shelf).steps(1, 40))
    for step in steps:
        wanted = sum(it.reward or 0 for it in steps if it.episode == step.episode and it.tick <= step.tick)
        assert get(client, f"tick/{step.tick}", run=lake)["episode_return"] == wanted
    assert get(client, "tick/0", run=lake)["episode_return"] is None


def test_commands_of_the_log_have_their_names_and_are_found_by_either(
    client: httpx.Client, shelf: Path, lake: str
) -> None:
    wanted = [step.tick for step in open_run(lake, shelf).steps() if step.command == "1"]
    for word in ("down", "DOWN", "1"):
        found = get(client, "actions", run=lake, action=word, page_size=1000)
        assert [line["context"]["tick"] for line in found["actions"]] == wanted
        assert {line["action"] for line in found["actions"]} == {"DOWN"}
    detail = get(client, "run", run=lake)
    assert detail["command_names"] == ["left", "down", "right", "up"]
    assert set(detail["commands"]) == {"left", "down", "right", "up"}


def test_a_run_tells_how_far_it_has_come(client: httpx.Client, shelf: Path, lake: str) -> None:
    (last,) = open_run(lake, shelf).steps(300, 300)
    progress = get(client, "run", run=lake)["progress"]
    assert (progress["tick"], progress["episode"], progress["episode_step"]) == (300, last.episode, last.step)
    assert progress["last_command"] == ("left", "down", "right", "up")[int(last.command)]
    assert isinstance(progress["observation"], int)


def test_a_run_tells_the_own_pace_of_its_world(client: httpx.Client, game: str, lake: str) -> None:
    assert get(client, "run", run=game)["ticks_per_second"] == 2.5  # 60 pictures a second, 24 in a tick
    assert get(client, "run", run=lake)["ticks_per_second"] == 4


def test_figures_of_a_game_are_absent_from_other_worlds(client: httpx.Client, lake: str) -> None:
    assert get(client, "metrics", run=lake)["game"] == {}


def test_a_difference_names_the_parts_that_changed(client: httpx.Client, game: str) -> None:
    found = get(client, "screenshots/diff", run=game, a="tick-200", b="tick-230")
    assert found["changed_pixels"] > 0
    for left, top, right, bottom in found["regions"]:
        assert 0 <= left < right <= 160
        assert 0 <= top < bottom <= 144
    same = get(client, "screenshots/diff", run=game, a="tick-200", b="tick-200")
    assert same["regions"] == []
    sheet = Image.open(io.BytesIO(client.get(found["image_url"]).content))
    assert sheet.size == (160 + 8 + 160, 144)


def test_the_list_names_its_folder(client: httpx.Client, shelf: Path) -> None:
    assert get(client, "runs")["data_dir"] == str(shelf)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("filters", [{}, {"kind": "commands"}, {"kind": "events"}, {"from_tick": 90, "to_tick": 333},
                                     {"text": "a"}, {"action": "dialog_shown"}, {"kind": "events", "text": "e"},
                                     {"action": "up", "from_tick": 100}, {"from_tick": 10_000}])  # fmt: skip
def test_pages_are_slices_of_the_whole_log(shelf: Path, game: str, filters: dict[str, Any], descending: bool) -> None:
    run, log = open_run(game, shelf), ActionLog()

    def page(number: int, size: int) -> list[str]:
        query = ActionQuery(**filters, descending=descending, page=number, page_size=size)
        found = log.page(run.directory, run.metadata, query)
        assert found.total_count == total or size == 10_000
        return [msgspec.json.encode(line).decode() for line in found.actions]

    total = 0
    whole = page(1, 10_000)
    total = len(whole)
    assert [it for number in range(1, total // 70 + 2) for it in page(number, 70)] == whole
    ticks = [msgspec.json.decode(line)["context"]["tick"] for line in whole]
    assert ticks == sorted(ticks, reverse=descending)
