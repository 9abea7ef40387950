"""One object for every run: live, ended, crashed, archived, or of an old schema."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ptp.errors import PtpError, UnknownName
from ptp.records import DecisionMade, Event, Step
from ptp.replay import Replay, Tape
from ptp.retention.rollup import pack_run
from ptp.runner.control import NotRunning
from ptp.runs import Run, list_runs, open_run
from ptp.runs.ticks import NoTick
from tests.runs.conftest import TAPELESS, old
from tests.web.parts import playing, record, wait_for


def test_an_ended_run_gives_its_tables_as_the_records_themselves(game: Run) -> None:
    steps = game.steps().to_list()
    assert [step.tick for step in steps] == [*range(1, 421)]
    assert all(type(step) is Step for step in steps)
    assert {step.terminated for step in steps} == {False}
    first = game.decisions().to_list()[0]
    assert type(first) is DecisionMade
    assert (first.number, first.tick) == (0, 0)
    assert 0 <= first.at - began(game) < 60
    assert "party" in first.state
    events = game.events().to_list()
    assert type(events[0]) is Event
    assert {event.title for event in events if event.kind == "MapChanged"} >= {"went to FERNHOLLOW"}
    assert len(game.metrics()) == len(game.metrics().to_list()) > 0


def began(run: Run) -> float:
    from datetime import datetime

    return datetime.fromisoformat(run.metadata.started_at).timestamp()


def test_some_of_the_steps_are_chosen_by_their_ticks(pole: Run) -> None:
    assert [step.tick for step in pole.steps(10, 12)] == [10, 11, 12]
    assert len(pole.steps(first=150)) == 51
    assert pole.steps(last=0).to_list() == []


def test_an_ended_run_tells_how_it_stands(game: Run) -> None:
    assert (game.status, game.is_live, game.last_tick) == ("completed", False, 420)
    assert game.summary().ticks == 420
    assert game.config.limits.max_ticks == 420
    assert game.report().steps == 420
    assert game.log().lines[-1].event == "run_ended"
    assert [header.tick for header in game.snapshots()] == [420, 400, 300, 200, 100]
    assert "explorer in tallgrass, completed, 420 ticks" in repr(game)
    assert "<td>tallgrass</td>" in game._repr_html_()


def test_the_picture_of_a_tick_is_the_one_that_a_replay_shows(game: Run) -> None:
    replay = Replay(Tape(game.directory))
    for step in replay:
        if step.tick == 333:
            break
    shown = replay.world.frame()
    replay.close()
    assert isinstance(shown, np.ndarray)
    assert np.array_equal(game.frame(333), shown[:, :, :3])
    with pytest.raises(NoTick, match="the run has ticks 0 to 420"):
        game.frame(421)


def test_a_picture_is_text_where_the_world_draws_text(tmp_path: Path) -> None:
    run = Run(record(tmp_path, world="FrozenLake-v1", max_ticks=5, render_mode="ansi"))
    assert "SFFF" in str(run.frame(1)).replace("\x1b[41mS\x1b[0m", "S")


def test_the_state_of_any_tick_is_that_of_the_last_change_before_it(game: Run) -> None:
    tick, state = 0, None
    for step in game.steps(1, 50):
        state = state if step.state is None else step.state
        tick = step.tick
    assert state is not None
    assert game.state(tick) == state
    assert "party" in game.state(0)


def test_a_run_is_verified_by_playing_its_tape_again(pole: Run) -> None:
    assert pole.replay().equal
    assert pole.replay(from_tick=150).ticks == 51


@pytest.mark.parametrize("version", TAPELESS)
def test_a_run_of_an_old_schema_answers_and_what_it_lacks_is_empty(shelf: Path, version: str) -> None:
    run = old(shelf, version)
    assert (run.status, len(run.steps()), run.episode_starts().to_list()) == ("completed", 0, [])
    assert run.last_tick == 30
    first: Any = run.decisions().to_list()[0]
    assert (first.number, first.tick, first.context, first.reasoning) == (None, 10, {"row": 1}, "reasoning 1")
    assert first.at == 1705311000.0
    assert run.errors().to_list()[0].recovered is True
    assert run.errors().to_list()[0].tick is None
    assert run.state() == {"row": 3}
    with pytest.raises(PtpError, match="keeps no tape"):
        run.replay()
    with pytest.raises(PtpError, match=r"has no config\.yaml"):
        _ = run.config


def test_an_archived_run_reads_like_any_other(tmp_path: Path, pole: Run) -> None:
    folder = tmp_path / "records" / pole.id
    shutil.copytree(pole.path, folder)
    run = open_run("latest", tmp_path)
    run.directory.acquire()
    pack_run(run.directory)
    run.directory.release()
    assert not run.directory.database.exists()
    assert [step.state_hash for step in run.steps()] == [step.state_hash for step in pole.steps()]
    assert run.config == pole.config


def test_a_crashed_run_is_read_and_resumed(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ptp", "run", "--world", "CliffWalking-v1", "--tick-rate-base", "500",
               "--data-dir", str(tmp_path), "--quiet"]  # fmt: skip
    process = subprocess.Popen(command)
    try:
        run = wait_for(lambda: next((run for run in list_runs(tmp_path) if played(run) > 100), None))
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert (run.status, run.is_live) == ("crashed", False)
    ticks = len(run.steps())
    result: Any = run.resume(max_ticks=ticks + 50, tick_rate_base=0)
    assert (result.ticks, run.status) == (ticks + 50, "completed")
    assert run.config.limits.max_ticks == ticks + 50
    with pytest.raises(UnknownName, match="no setting named 'max_tick'; did you mean 'max_ticks'"):
        run.resume(max_tick=3)


def played(run: Run) -> int:
    try:
        return len(run.steps())
    except PtpError:
        return 0  # it is just starting


def test_a_live_run_is_read_and_steered_by_the_same_names(tmp_path: Path) -> None:
    with playing(tmp_path) as directory:
        run = open_run(None, tmp_path)
        assert (run.id, run.status, run.is_live) == (directory.run_id, "running", True)
        tick = run.pause().tick
        assert run.step(3).tick == tick
        wait_for(lambda: run.last_tick >= tick + 3)
        assert run.set(max_ticks=5000).paused in (True, False)
        header = run.snapshot("here", "for the test")
        assert (header.name, header.tick) == ("here", tick + 3)
        assert header.snapshot_id in [each.snapshot_id for each in run.snapshots()]
        resumed: Any = run.resume()
        assert resumed.paused is False
        wait_for(lambda: run.last_tick > tick + 10)
        restored = run.restore("here")
        assert (restored.tick, restored.live) == (tick + 3, True)
        assert isinstance(run.frame(tick + 1), np.ndarray)
        run.stop()
    assert run.status == "manual_stop"
    with pytest.raises(NotRunning, match="is not running"):
        run.pause()


def test_an_ended_run_takes_and_restores_snapshots_and_forks(tmp_path: Path) -> None:
    run = Run(record(tmp_path, world="tallgrass", agent="explorer", max_ticks=120, snapshot_disk=50))
    assert run.snapshot("end").tick == 120
    restored = run.restore(run.snapshots()[2].snapshot_id)
    assert (restored.tick, restored.live, restored.next) == (100, False, f"ptp resume {run.id}")
    assert [header.name for header in run.snapshots()] == ["end", None, None]
    assert (len(run.steps()), [rewound.to_tick for rewound in run.rewinds()]) == (100, [100])
    forked = run.fork(60, max_ticks=80)
    assert isinstance(forked.ticks, int)
    child = open_run(forked.run_id, tmp_path)
    assert child.metadata.parent is not None
    assert child.metadata.parent.tick == 60
    assert [step.state_hash for step in child.steps(1, 60)] == [step.state_hash for step in run.steps(1, 60)]


def test_tags_are_given_and_taken(tmp_path: Path) -> None:
    run = Run(record(tmp_path, world="CliffWalking-v1", max_ticks=3))
    assert run.tag("good", "first") == ["first", "good"]
    assert run.tag(remove=["good"]) == run.tags == ["first"]


def test_reading_a_run_loads_no_world_and_no_server() -> None:
    heavy = ("gymnasium", "numpy", "pyboy", "fastapi", "av", "polars", "yaml")
    code = f"import sys, ptp.runs; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
