"""What goes and what stays: the plan is kept to, live runs and named snapshots are never touched."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptp._util.clock import parse_age
from ptp.config.tree import Storage
from ptp.errors import UsageError
from ptp.frames.disk import tree_bytes
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.retention import Limits, plan_pruning, prune
from ptp.retention.plan import limits_of, parse_bytes
from ptp.retention.prune import prune_all

Ptp = Callable[..., tuple[int, str, str]]


@pytest.fixture
def runs(recorded: Callable[..., Path]) -> list[Path]:
    """Four runs, oldest first."""
    return sorted(recorded(ticks=20) for _ in range(4))


def names(paths: list[Path]) -> list[str]:
    return [path.name for path in paths]


def grow_old(path: Path, days: float) -> None:
    header = json.loads((path / "metadata.json").read_text())
    header["started_at"] = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() - days * 86400))
    (path / "metadata.json").write_text(json.dumps(header))


def left(data: Path) -> list[str]:
    return sorted(path.name for path in (data / "records").iterdir())


def test_the_dry_run_lists_exactly_what_the_real_one_removes(ptp_json: Any, runs: list[Path], tmp_path: Path) -> None:
    sizes = {path.name: tree_bytes(path) for path in runs}
    words = ("prune", "--max-sessions", "2")
    planned = ptp_json(*words, "--dry-run")
    assert left(tmp_path / "var") == names(runs)
    done = ptp_json(*words)
    assert planned["removed"] == done["removed"]
    assert planned["freed"] == done["freed"]
    assert {run["run_id"]: run["bytes"] for run in done["removed"]} == {n: sizes[n] for n in names(runs[:2])}
    assert left(tmp_path / "var") == names(runs[2:])
    assert ptp_json(*words)["removed"] == []


def test_runs_that_began_long_ago_go(ptp_json: Any, runs: list[Path], tmp_path: Path) -> None:
    grow_old(runs[1], 8)
    assert [run["run_id"] for run in ptp_json("prune", "--older-than", "7d")["removed"]] == [runs[1].name]
    assert left(tmp_path / "var") == names([runs[0], *runs[2:]])


def test_the_oldest_go_until_the_rest_fits(ptp_json: Any, runs: list[Path], tmp_path: Path) -> None:
    most = sum(tree_bytes(path) for path in runs[2:]) + 10
    done = ptp_json("prune", "--max-record-bytes", str(most))
    assert [run["why"] for run in done["removed"]] == ["too many bytes"] * 2
    assert left(tmp_path / "var") == names(runs[2:])
    assert tree_bytes(tmp_path / "var" / "records") <= most


def test_a_live_run_is_never_touched(ptp_json: Any, runs: list[Path]) -> None:
    owner = RunDirectory(runs[0])
    owner.acquire()
    done = ptp_json("prune", "--max-sessions", "0")
    assert runs[0].exists()
    assert [kept["run_id"] for kept in done["protected"]] == [runs[0].name]
    assert len(done["removed"]) == 3
    owner.release()


def test_a_run_that_comes_to_life_after_the_plan_is_spared(runs: list[Path], tmp_path: Path) -> None:
    limits = Limits(max_sessions=0)
    plan = plan_pruning(tmp_path / "var", limits)
    owner = RunDirectory(runs[2])
    owner.acquire()
    pruned = prune(plan, limits)
    assert pruned.spared == [runs[2].name]
    assert left(tmp_path / "var") == [runs[2].name]
    assert pruned.freed == sum(doomed.bytes for doomed in pruned.removed)
    owner.release()


def test_a_run_that_is_just_starting_is_not_taken_for_an_old_one(runs: list[Path], tmp_path: Path) -> None:
    newborn = tmp_path / "var" / "records" / "00000000-0000-7000-8000-000000000000"
    newborn.mkdir()
    plan = plan_pruning(tmp_path / "var", Limits(max_sessions=0))
    assert newborn.name not in {doomed.run_id for doomed in plan.remove}
    assert [kept.why for kept in plan.protected] == ["it may be starting"]
    later = plan_pruning(tmp_path / "var", Limits(max_sessions=0), now=time.time() + 7200)
    assert newborn.name in {doomed.run_id for doomed in later.remove}


def test_a_run_with_a_snapshot_that_a_person_named_stays(
    recorded: Callable[..., Path], ptp_json: Any, tmp_path: Path
) -> None:
    named = recorded("FrozenLake-v1", "--snapshot-name", "before the lake", ticks=20)
    recorded(ticks=20)
    done = ptp_json("prune", "--max-sessions", "0")
    assert left(tmp_path / "var") == [named.name]
    assert done["protected"][0]["why"] == "it has the named snapshot 'before the lake'"


def test_a_tag_or_an_experiment_keeps_its_runs(recorded: Callable[..., Path], ptp_json: Any, tmp_path: Path) -> None:
    paper = recorded("FrozenLake-v1", "--experiment-name", "paper", ticks=20)
    tagged, other = recorded(ticks=20), recorded(ticks=20)
    ptp_json("tag", tagged.name, "best")
    ptp_json("prune", "--max-sessions", "0", "--keep-tag", "paper", "--keep-tag", "best")
    assert left(tmp_path / "var") == sorted([paper.name, tagged.name])
    assert not other.exists()


def test_a_removal_that_was_interrupted_is_finished_by_the_next(ptp_json: Any, runs: list[Path]) -> None:
    trash = runs[0].with_name(".removed-" + runs[0].name)
    runs[0].rename(trash)
    size = tree_bytes(trash)
    assert runs[0].name not in [run["run_id"] for run in ptp_json("runs")]
    assert ptp_json("prune", "--max-sessions", "9", "--dry-run")["freed"] == size
    assert trash.exists()
    assert ptp_json("prune", "--max-sessions", "9")["freed"] == size
    assert not trash.exists()


def test_a_damaged_run_can_be_pruned(ptp_json: Any, runs: list[Path]) -> None:
    (runs[0] / "metadata.json").write_text("{")
    grow = time.time() - 10 * 86400
    os.utime(runs[0], (grow, grow))
    assert [run["run_id"] for run in ptp_json("prune", "--older-than", "7d")["removed"]] == [runs[0].name]


def test_rolling_up_says_what_it_needs(ptp: Ptp) -> None:
    code, _, error = ptp("prune", "--roll-up")
    assert code == 2
    assert error == "ptp: nothing says what to roll up; give --max-record-bytes, --max-sessions or --older-than\n"
    assert ptp("prune", "--older-than", "soon")[0] == 2
    assert ptp("prune", "--max-record-bytes", "lots")[0] == 2
    assert ptp("prune", "--max-sessions", "-1")[0] == 2
    assert ptp("prune", "--max-sessions", "x")[0] == 2


def test_there_may_be_nothing_to_prune(ptp_json: Any, ptp: Ptp) -> None:
    assert ptp_json("prune", "--max-sessions", "0")["removed"] == []
    assert ptp("prune", "--max-sessions", "0")[1] == "removed 0 runs, 0 B\n"
    assert ptp_json("du")["total"] == 0


@pytest.mark.parametrize(("text", "seconds"), [("7d", 604800), ("1.5h", 5400), ("30m", 1800), ("2W", 1209600)])
def test_ages_are_written_with_a_unit(text: str, seconds: float) -> None:
    assert parse_age(text) == seconds


@pytest.mark.parametrize(("text", "size"), [("1000", 1000), ("2G", 2 * 10**9), ("500 MB", 5 * 10**8), ("1.5k", 1500)])
def test_sizes_may_be_written_with_a_unit(text: str, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "-1", "1e9", "five", "3 X"])
def test_a_size_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no size"):
        parse_bytes(text)


def test_du_adds_up(ptp_json: Any, runs: list[Path], tmp_path: Path) -> None:
    (runs[0] / "frames" / "ab").mkdir(parents=True)
    (runs[0] / "frames" / "ab" / "x.jpg").write_bytes(bytes(1234))
    size = ptp_json("du")
    assert [run["run_id"] for run in size["runs"]] == names(runs)
    assert size["runs"][0]["frames"] == 1234
    for run, path in zip(size["runs"], runs, strict=True):
        assert run["total"] == tree_bytes(path)
        parts = ("database", "frames", "snapshots", "video", "episodes", "other")
        assert run["total"] == sum(run[part] for part in parts)
        assert run["database"] > 0
    assert size["total"] == tree_bytes(tmp_path / "var")
    assert size["free"] > 0
    assert ptp_json("du", runs[1].name)["total"] == tree_bytes(runs[1])


def test_du_is_readable(ptp: Ptp, runs: list[Path]) -> None:
    _, out, _ = ptp("du")
    assert out.splitlines()[0].split()[:3] == ["run", "status", "database"]
    assert "in 4 runs" in out.splitlines()[-1]
    shutil.rmtree(runs[0])
    assert "in 3 runs" in ptp("du")[1]


def test_pruning_all_finishes_what_was_interrupted(runs: list[Path], tmp_path: Path) -> None:
    scratch = tmp_path / "var" / "tmp"
    for name, age in (("old", 2 * 86400), ("new", 60)):
        (scratch / name).mkdir(parents=True)
        os.utime(scratch / name, (time.time() - age,) * 2)
    plan, pruned = prune_all(tmp_path / "var", Limits(max_sessions=1))
    assert [doomed.run_id for doomed in plan.remove] == [doomed.run_id for doomed in pruned.removed]
    assert left(tmp_path / "var") == names(runs[3:])
    assert [path.name for path in scratch.iterdir()] == ["new"]
    assert prune_all(tmp_path / "elsewhere", Limits(max_sessions=1))[1].removed == []


def test_without_a_limit_the_settings_and_the_profiles_are_followed(
    ptp_json: Any, runs: list[Path], recorded: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded("CartPole-v1", ticks=20)  # another profile, which keeps any number
    file = tmp_path / "profiles.yaml"
    file.write_text("toy_text: {tier: files, max_sessions: 3}\n")
    monkeypatch.setenv("PTP_STORAGE_PROFILES", str(file))
    planned = ptp_json("prune", "--dry-run")
    assert [(run["run_id"], run["why"]) for run in planned["removed"]] == [
        (runs[0].name, "more than 3 runs of toy_text")
    ]
    assert planned["freed"] == tree_bytes(runs[0])
    assert ptp_json("prune")["removed"] == planned["removed"]
    assert ptp_json("prune")["removed"] == []
    monkeypatch.setenv("PTP_MAX_SESSIONS", "1")
    assert len(ptp_json("prune", "--dry-run")["removed"]) == 3


def test_the_built_in_profiles_keep_so_many_runs() -> None:
    kept = {name: profile.max_sessions for name, profile in limits_of(Storage()).profiles.items()}
    assert kept == {
        "toy_text": 10,
        "gameboy": None,
        "box2d": None,
        "atari_sqlite": 3,
        "stream": None,
        "telemetry_only": 10,
    }


def test_pictures_of_toy_text_go_after_seven_days_and_the_run_stays(
    ptp_json: Any, recorded: Callable[..., Path], tmp_path: Path
) -> None:
    young, old = (recorded("FrozenLake-v1", "--screenshot-interval", "5", ticks=20) for _ in range(2))
    grow_old(old, 8)
    planned = ptp_json("prune", "--dry-run")
    assert [run["run_id"] for run in planned["emptied"]] == [old.name]
    done = ptp_json("prune")
    assert (done["removed"], done["freed"]) == ([], planned["freed"])
    assert (young / "frames").exists()
    assert not (old / "frames").exists()
    with Database(old / "game_data.db") as database:
        assert database.row("SELECT count(frame_ref), count(*) FROM steps") == (0, 20)


def test_a_run_prunes_others_while_it_plays_and_keeps_what_it_did(
    runs: list[Path], recorded: Callable[..., Path], tmp_path: Path
) -> None:
    newest = recorded("CartPole-v1", "--prune-on-start", "--max-sessions", "2", ticks=20)
    assert left(tmp_path / "var") == names([runs[3], newest])
    with Database(newest / "game_data.db") as database:
        (message,) = database.row("SELECT message FROM notices WHERE kind = 'pruned'")
    assert message.startswith("removed 3 runs and 0 old pictures, ")
    assert message in (newest / "run.log").read_text()


def test_pruning_speaks_to_a_person(ptp: Ptp, runs: list[Path]) -> None:
    owner = RunDirectory(runs[0])
    owner.acquire()
    lines = ptp("prune", "--max-sessions", "2", "--dry-run")[1].splitlines()
    assert lines[0].split() == ["run", "bytes", "why"]
    assert lines[1].startswith(runs[1].name)
    assert lines[2] == f"kept {runs[0].name}: a process plays it"
    assert lines[-1].startswith("would remove 1 runs, ")
    owner.release()
    assert ptp("prune", "--max-sessions", "3", "--roll-up", "--dry-run")[1].startswith("would roll up 1 runs, ")
    rolled = ptp("prune", "--max-sessions", "3", "--roll-up")[1].splitlines()
    assert rolled[1].startswith(runs[0].name)
    assert rolled[-1].startswith("rolled up 1 runs, freed ")
    assert ptp("prune", "--restore", runs[0].name)[1] == f"restored the database of {runs[0].name}\n"
    assert ptp("prune", "--restore", runs[0].name)[0] == 1
    assert ptp("prune", "--max-sessions", "0", "-q")[1] == ""
