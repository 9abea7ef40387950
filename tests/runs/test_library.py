"""Finding and listing runs: one finder, and no damaged run that ends a list."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ptp
from ptp.errors import RunUnreadable, UnknownName, UsageError
from ptp.recording import RunDirectory
from ptp.runs import Library, Run, find_run, list_runs, open_run
from ptp.runs.library import read_summaries
from ptp.runs.query import Query, group_runs
from tests.runs.conftest import Call
from tests.web.parts import record

IDS = ["01a1e142-0000-7000-8000-000000000001", "01a1e142-0000-7000-8000-000000000002", "02000000-0000-7000-8000-0"]


@pytest.fixture
def three(tmp_path: Path) -> Path:
    for run_id in IDS:
        (tmp_path / "records" / run_id).mkdir(parents=True)
        (tmp_path / "records" / run_id / "metadata.json").write_text("{}")
    return tmp_path


def finder(data_dir: Path) -> Callable[[str | None], RunDirectory]:
    return lambda name: find_run(data_dir, name)


@pytest.mark.parametrize("find", [finder, lambda data_dir: Library(data_dir).find], ids=["once", "library"])
def test_a_run_is_found_by_id_beginning_and_latest(three: Path, find: Any) -> None:
    look = find(three)
    assert [look(name).run_id for name in (IDS[1], "02", "latest", None)] == [IDS[1], IDS[2], IDS[2], IDS[2]]
    with pytest.raises(UsageError, match="2 runs begin with '01a1'; give more of the id"):
        look("01a1")
    with pytest.raises(UnknownName, match="no run named 'zzz'; see "):
        look("zzz")


def test_a_run_is_found_by_its_directory_but_not_through_a_library(three: Path) -> None:
    path = three / "records" / IDS[0]
    assert find_run(three, str(path)).run_id == open_run(path, three).id == IDS[0]
    with pytest.raises(RunUnreadable, match="is not a run directory"):
        find_run(three, str(three))
    with pytest.raises(UnknownName):
        Library(three).find(str(path))


def test_the_live_run_is_meant_before_the_newest(three: Path) -> None:
    live = RunDirectory(three / "records" / IDS[1])
    live.acquire()
    assert find_run(three).run_id == IDS[1]
    live.release()
    assert find_run(three).run_id == IDS[2]


def test_no_runs_at_all_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="make one with `ptp run`"):
        find_run(tmp_path, "latest")
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="--data-dir"):
        list_runs(tmp_path / "file")


def test_runs_are_filtered_and_sorted(shelf: Path, pole: Run, game: Run) -> None:
    def ids(**filters: Any) -> list[str]:
        return [run.id for run in list_runs(shelf, **filters)]

    assert ids(limit=2) == [game.id, pole.id]
    assert len(ids()) == len(ids(status="completed")) == 6
    assert ids(agent="explorer") == ids(experiment="walks") == ids(text="walks TALLGRASS") == [game.id]
    assert ids(sort="ticks", limit=2) == [game.id, pole.id]
    assert ids(sort="ticks", descending=False)[-1] == game.id
    assert ids(world="pokemon-red", status="crashed") == []


def test_runs_are_filtered_by_time_ticks_and_reward(shelf: Path, pole: Run, game: Run) -> None:
    def ids(**filters: Any) -> list[str]:
        return [run.id for run in list_runs(shelf, **filters)]

    assert ids(since="1h") == ids(since="2026-01-01") == [game.id, pole.id]
    assert len(ids(until="2026-01-01T00:00:00Z")) == 4
    assert ids(min_ticks=201) == [game.id]
    assert ids(max_ticks=200, since="1h") == [pole.id]
    assert ids(min_reward=200) == [pole.id]
    assert ids(max_reward=199, world="CartPole-v1") == []
    assert ids(sort="badges")[0] == game.id
    with pytest.raises(UsageError, match="'soon' is not a time; write 2026-01-31, "):
        ids(since="soon")
    with pytest.raises(UnknownName, match="no column named 'tick'; did you mean 'ticks'"):
        ids(sort="tick")


def test_groups_add_up_what_their_runs_have(shelf: Path, pole: Run) -> None:
    lines = read_summaries(shelf, Query())
    groups = {group.group: group for group in group_runs(lines, "world")}
    assert groups["CartPole-v1"].runs == 1
    assert (groups["CartPole-v1"].ticks, groups["CartPole-v1"].mean_reward) == (200, 200.0)
    assert sum(group.runs for group in groups.values()) == 6
    old = next(group for group in groups.values() if group.group not in {"CartPole-v1", "tallgrass"})
    assert (old.mean_reward, old.best_reward) == (None, None)


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "a bad byte": lambda text: text.replace(b"random", b"r\xffndom"),
    "deep nesting": lambda text: b'{"world":' + b'{"options":' * 100_000,
    "no JSON": lambda text: text[: len(text) // 2],
    "another run's header": lambda text: text.replace(b'"run_id": "', b'"run_id": "0'),
}


@pytest.fixture(params=DAMAGE, scope="module")
def damaged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damaged")
    record(folder, world="CliffWalking-v1", max_ticks=5)
    bad = record(folder, world="CliffWalking-v1", max_ticks=5).path / "metadata.json"
    bad.write_bytes(DAMAGE[request.param](bad.read_bytes()))
    record(folder, world="CliffWalking-v1", max_ticks=5)
    return folder


def test_a_damaged_run_is_one_line_with_what_is_wrong(damaged: Path) -> None:
    runs = list_runs(damaged)
    assert len(runs) == 3
    page = Library(damaged).page(Query())
    assert [line.run_id for line in page.runs] == [runs[0].id, runs[2].id]
    assert (page.unreadable, page.damaged[0].run_id) == (1, runs[1].id)
    assert page.damaged[0].problem
    assert repr(runs[1]).startswith(f"<Run {runs[1].id}: ")
    assert runs[1].id in runs[1]._repr_html_()


@pytest.mark.parametrize("line", ["runs", "du", "schema verify", "status", "version"])
def test_a_damaged_run_ends_no_verb_for_the_others(damaged: Path, ptp_in: Call, line: str) -> None:
    _, told, problem = ptp_in(damaged, *line.split(), "--json")
    assert "Traceback" not in problem
    assert "internal" not in problem.lower()
    if line == "runs":
        assert len(json.loads(told)) >= 2
    assert told


def test_a_library_sees_what_comes_and_goes(tmp_path: Path, pole: Run) -> None:
    library = Library(tmp_path)
    assert library.lines() == []
    shutil.copytree(pole.path, tmp_path / "records" / pole.id)
    assert [line.run_id for line in library.lines()] == [pole.id]
    assert library.metadata(library.find(pole.id)).ticks == 200
    shutil.rmtree(tmp_path / "records" / pole.id)
    assert library.page(Query()).total_count == 0


def test_the_room_itself_lists_runs(shelf: Path, pole: Run, game: Run) -> None:
    assert [run.id for run in ptp.runs(shelf)[:2]] == [game.id, pole.id]
    assert [run.id for run in ptp.runs(data_dir=str(shelf), world="CartPole-v1", limit=1)] == [pole.id]
    assert all(type(run) is Run for run in ptp.runs(shelf, status="completed"))
    with pytest.raises(TypeError, match="colour"):
        ptp.runs(shelf, colour="red")


def test_playing_and_opening_give_a_run(tmp_path: Path) -> None:
    played = ptp.run("CartPole-v1", max_ticks=50, data_dir=tmp_path)
    assert (type(played), played.last_tick, played.status) == (Run, 50, "completed")
    opened = ptp.open("latest", tmp_path)
    assert (type(opened), opened.id) == (Run, played.id)
