"""A whole run of the built-in game: what counts as caught, and what is kept of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptp.config import RunConfig
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.records import RunResult
from ptp.runner import fork, run
from ptp.runs import Run
from ptp.runs.actions import ActionLog, ActionQuery
from ptp.runs.metrics import read_metrics
from ptp.runs.status import read_status
from ptp.snapshots import SnapshotStore
from tests.runner.test_run import config

Rows = Callable[[str], list[tuple[Any, ...]]]


def playing(data_dir: Path, buttons: Path, **flags: object) -> RunConfig:
    return config(data_dir, world="tallgrass", agent="script", script=str(buttons), **flags)


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory, buttons: Path) -> RunResult:
    flags = {"max_ticks": 50_000, "snapshot_on_event": ("catch", "battle"), "screenshot_async": True}
    return run(playing(tmp_path_factory.mktemp("game"), buttons, max_pokemon_caught=2, **flags))


@pytest.fixture(scope="module")
def directory(result: RunResult) -> RunDirectory:
    return RunDirectory(Path(result.directory))


@pytest.fixture
def rows(directory: RunDirectory) -> Rows:
    def read(sql: str) -> list[tuple[Any, ...]]:
        with Database(directory.database) as database:
            return list(database.rows(sql))

    return read


def test_the_first_creature_is_given_and_does_not_count_as_caught(result: RunResult, directory: RunDirectory) -> None:
    assert result.stop is not None
    assert (result.stop.name, result.ticks < 50_000) == ("max-pokemon-caught", True)
    assert (result.signals["caught"], result.signals["owned"]) == (2, 3)
    shown = read_status(directory, directory.read_metadata()).current_state
    game = read_metrics(directory).game
    assert (shown.pokemon_caught, shown.pokemon_owned) == (game.pokemon_caught, game.pokemon_owned) == (2, 3)


def test_limits_tables_and_events_agree_on_what_was_caught(rows: Rows) -> None:
    (caught,) = rows("SELECT count(*) FROM objectives WHERE objective_type = 'catch' AND status = 'completed'")[0]
    (told,) = rows("SELECT count(*) FROM events WHERE kind = 'Caught'")[0]
    assert caught == told == 2


def test_a_fork_from_between_two_catches_counts_on(directory: RunDirectory, rows: Rows, buttons: Path) -> None:
    (first, second) = (tick for (tick,) in rows("SELECT tick FROM events WHERE kind = 'Caught' ORDER BY tick"))
    flags = {"max_pokemon_caught": 2, "max_ticks": second + 500}
    forked = fork(directory, second - 1, playing(directory.data_dir, buttons, **flags))
    assert forked.signals["caught"] == 2
    assert forked.ticks >= second > first


def test_the_run_keeps_level_model_and_what_it_took_of_the_machine(result: RunResult, rows: Rows) -> None:
    assert rows("SELECT model_name, final_level FROM runs") == [(None, result.signals["level"])]
    used = rows("SELECT cpu_usage > 0, memory_usage_mb > 10, disk_usage_bytes > 10000 FROM performance_profiles")
    assert set(used) == {(1, 1, 1)}
    measured = {name for (name,) in rows("SELECT DISTINCT metric_type FROM performance_metrics")}
    assert {"latency", "screenshot_queue_size", "tick_rate", "memory", "cost"} <= measured
    assert rows("SELECT count(*) FROM objectives WHERE started_at IS NULL") == [(0,)]
    assert rows("SELECT count(*) FROM battles WHERE json_type(used_items) <> 'array'") == [(0,)]


def test_the_queue_of_pictures_is_told_when_they_are_written_beside_the_run(directory: RunDirectory) -> None:
    assert read_metrics(directory).performance.screenshot_queue_size is not None


def test_a_snapshot_of_an_event_is_found_by_its_short_name(directory: RunDirectory, rows: Rows) -> None:
    store = SnapshotStore(directory.path / "snapshots")
    battles = [header for header in store.headers() if "battle" in header.tags]
    assert store.find("battle-1").tick == max(header.tick for header in battles)
    assert len(battles) == len({header.name for header in battles}) > 1
    (species, tick) = rows("SELECT detail ->> 'species', tick FROM events WHERE kind = 'Caught' ORDER BY tick DESC")[0]
    assert store.find(f"catch-{species}").tick == tick


def test_the_action_log_has_the_words_of_the_specification(directory: RunDirectory) -> None:
    page = ActionLog().page(directory, directory.read_metadata(), ActionQuery(page_size=5000))
    names = Counter(action.action for action in page.actions)
    assert {"MOVE_UP", "MOVE_DOWN", "A", "ENCOUNTER", "BATTLE_START", "BATTLE_END", "CAUGHT"} <= names.keys()
    facts = {action.action: action.context for action in page.actions}
    assert {"pokemon", "level"} <= facts["ENCOUNTER"].keys()
    assert facts["BATTLE_START"]["party_index"] == 0
    assert {"enemy", "enemy_level"} <= facts["BATTLE_START"].keys()
    for name in ("BATTLE_START", "BattleStarted"):
        found = ActionLog().page(directory, directory.read_metadata(), ActionQuery(action=name))
        assert found.total_count == names["BATTLE_START"]


def test_pictures_of_battles_name_both_creatures(directory: RunDirectory) -> None:
    frames = list(Run(directory).frames())
    assert frames
    with Database(directory.database) as database:
        ids = [name for (name,) in database.rows("SELECT screenshot_id FROM screenshots ORDER BY tick")]
    assert ids == [f"shot_{frame.tick:06d}" for frame in frames]
    fights = [frame.annotations for frame in frames if frame.screen_type == "battle"]
    sprites = [each for fight in fights for each in fight["detected_sprites"]]
    sides = {(each["type"], each["name"].rpartition("_")[2]) for each in sprites}
    assert sides == {("pokemon", "front"), ("pokemon", "back")}
