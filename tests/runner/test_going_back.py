"""Rollback, resume and fork: the tape always tells what led to now."""

from __future__ import annotations

import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptp.agents import registry
from ptp.config import RunConfig
from ptp.config.tree import BY_FLAG, build
from ptp.errors import PtpError, UsageError
from ptp.recording import RunDirectory
from ptp.replay import Replay, Tape
from ptp.runner import fork, resume, run
from ptp.runner.control import NotRunning, connect
from ptp.runs import Run, list_runs
from ptp.runs.steering import create_snapshot, restore_snapshot, store_of
from ptp.testing import FakeAgent
from tests.steering import ask


def config(tmp_path: Path, **flags: Any) -> RunConfig:
    given = {"world": "FrozenLake-v1", "tick_rate_base": 0, "data_dir": str(tmp_path), "random_seed": 3,
             "snapshot_disk": 100, **flags}  # fmt: skip
    return build({BY_FLAG["--" + name.replace("_", "-")]: value for name, value in given.items()})


def rows(directory: Path, sql: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(directory / "game_data.db")
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def hashes(directory: Path) -> list[str]:
    return [value for (value,) in rows(directory, "SELECT state_hash FROM steps ORDER BY tick")]


def verified(directory: Path) -> int:
    """Replay a run and return how many ticks were equal; a difference fails the test."""
    replay = Replay(Tape(RunDirectory(directory)))
    for _ in replay:
        pass
    replay.close()
    assert replay.result.equal, replay.result
    return replay.result.ticks


WORLDS = ["FrozenLake-v1", "Blackjack-v1", "CartPole-v1", "tallgrass"]


@pytest.mark.parametrize("world", WORLDS)
def test_a_resumed_run_is_the_run_that_was_never_stopped(tmp_path: Path, world: str) -> None:
    whole = run(config(tmp_path, world=world, max_ticks=300))
    half = run(config(tmp_path, world=world, max_ticks=170))
    directory = RunDirectory(Path(half.directory))
    result = resume(directory, config(tmp_path, world=world, max_ticks=300))
    assert (result.run_id, result.ticks, result.status) == (half.run_id, 300, "completed")
    assert hashes(directory.path) == hashes(Path(whole.directory))
    assert verified(directory.path) == 300
    metadata = directory.read_metadata()
    assert [resumed.tick for resumed in metadata.resumed] == [170]
    assert rows(directory.path, "SELECT count(*), count(DISTINCT decision_id) FROM action_history") == [(300, 300)]


@pytest.mark.parametrize("world", WORLDS)
def test_a_run_resumes_along_its_tape_when_it_has_no_snapshot(tmp_path: Path, world: str) -> None:
    half = run(config(tmp_path, world=world, max_ticks=60, snapshot_disk=0, snapshot_memory=0))
    store = store_of(RunDirectory(Path(half.directory)))
    for header in store.headers():
        store.delete(header.snapshot_id)
    result = resume(RunDirectory(Path(half.directory)), config(tmp_path, world=world, max_ticks=90))
    assert result.ticks == 90
    assert verified(Path(half.directory)) == 90


def test_a_run_that_has_reached_its_limit_is_not_resumed(tmp_path: Path) -> None:
    done = run(config(tmp_path, max_ticks=40))
    with pytest.raises(UsageError, match="is complete: --max-ticks was reached; raise it"):
        resume(RunDirectory(Path(done.directory)), config(tmp_path, max_ticks=40))
    assert len(hashes(Path(done.directory))) == 40


def test_a_damaged_snapshot_is_passed_over_for_an_older_one(tmp_path: Path) -> None:
    half = run(config(tmp_path, max_ticks=250))
    store = store_of(RunDirectory(Path(half.directory)))
    for header in store.headers()[:2]:
        path = store.path(header.snapshot_id)
        path.write_bytes(path.read_bytes()[:-5])
    result = resume(RunDirectory(Path(half.directory)), config(tmp_path, max_ticks=300))
    assert result.ticks == 300
    assert verified(Path(half.directory)) == 300


@pytest.mark.parametrize("world", WORLDS)
def test_a_fork_shares_the_history_and_takes_another_way(tmp_path: Path, world: str) -> None:
    parent = run(config(tmp_path, world=world, max_ticks=200))
    origin = RunDirectory(Path(parent.directory))
    other = fork(origin, 120, config(tmp_path, world=world, max_ticks=200, random_seed=99))
    same = fork(origin, 120, config(tmp_path, world=world, max_ticks=200))
    assert hashes(Path(other.directory))[:120] == hashes(origin.path)[:120]
    assert hashes(Path(other.directory)) != hashes(origin.path)
    assert hashes(Path(same.directory)) == hashes(origin.path)
    for result in (other, same):
        assert verified(Path(result.directory)) == 200
        parent_facts = RunDirectory(Path(result.directory)).read_metadata().parent
        assert parent_facts is not None
        assert (parent_facts.run_id, parent_facts.tick) == (parent.run_id, 120)
        assert rows(Path(result.directory), "SELECT DISTINCT run_id FROM action_history") == [(result.run_id,)]


def test_a_fork_can_be_played_by_another_agent(tmp_path: Path) -> None:
    parent = run(config(tmp_path, max_ticks=50))
    script = tmp_path / "moves.txt"
    script.write_text("left\nleft\n")
    result = fork(RunDirectory(Path(parent.directory)), 50, config(tmp_path, agent="script", script=str(script)))
    assert (result.ticks, result.agent) == (52, "script")
    assert verified(Path(result.directory)) == 52


@pytest.mark.parametrize("tick", [-1, 51])
def test_a_fork_at_a_tick_that_is_not_there_is_refused(tmp_path: Path, tick: int) -> None:
    parent = run(config(tmp_path, max_ticks=50))
    with pytest.raises(PtpError, match="it has ticks 0 to 50"):
        fork(RunDirectory(Path(parent.directory)), tick, config(tmp_path))
    assert len(list(list_runs(tmp_path))) == 1


class Stumbling(FakeAgent):
    """Fails at tick 250, as often as it is told to."""

    repeatable = False
    failures = 0

    def __init__(self, world: Any, options: Any) -> None:
        super().__init__(world)

    def decide(self, observation: Any) -> Any:
        if observation.tick == 250 and Stumbling.failures > 0:
            Stumbling.failures -= 1
            raise ValueError("stumbled")
        return super().decide(observation)


@pytest.fixture
def stumbling(monkeypatch: pytest.MonkeyPatch) -> type[Stumbling]:
    monkeypatch.setitem(registry.AGENTS, "stumbling", "tests.runner.test_going_back:Stumbling")
    return Stumbling


def test_an_error_is_rolled_back_and_tried_again(tmp_path: Path, stumbling: type[Stumbling]) -> None:
    stumbling.failures = 2
    flags = {"rollback_on_error": True, "rewind_memory": 0}  # key states are taken by the clock, snapshots are not
    result = run(config(tmp_path, agent="stumbling", max_ticks=300, **flags))
    directory = Path(result.directory)
    assert (result.status, result.ticks) == ("completed", 300)
    assert rows(directory, "SELECT from_tick, to_tick FROM rewinds") == [(250, 200), (250, 100)]
    assert rows(directory, "SELECT recovered, recovery_action FROM errors") == [
        (1, "rolled back to tick 200"), (1, "rolled back to tick 100")
    ]  # fmt: skip
    assert rows(directory, "SELECT rewind, count(*) FROM abandoned_steps GROUP BY 1") == [(1, 50), (2, 150)]
    assert verified(directory) == 300


def test_the_same_error_three_times_ends_the_run_with_the_evidence(tmp_path: Path, stumbling: type[Stumbling]) -> None:
    stumbling.failures = 99
    result = run(config(tmp_path, agent="stumbling", max_ticks=300, rollback_on_error=True))
    assert (result.status, result.exit_code) == ("crashed", 1)
    assert rows(Path(result.directory), "SELECT recovered FROM errors") == [(1,), (1,), (0,)]


def test_without_the_flag_an_error_ends_the_run(tmp_path: Path, stumbling: type[Stumbling]) -> None:
    stumbling.failures = 1
    assert run(config(tmp_path, agent="stumbling", max_ticks=300)).status == "crashed"


# -- finished runs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("world", ["Taxi-v4", "CartPole-v1", "tallgrass"])
def test_a_finished_run_goes_back_to_a_snapshot_and_on_from_there(tmp_path: Path, world: str) -> None:
    result = run(config(tmp_path, world=world, max_ticks=250))
    directory = RunDirectory(Path(result.directory))
    before = hashes(directory.path)
    hundred = next(header for header in store_of(directory).headers() if header.tick == 100)
    assert restore_snapshot(directory, hundred.snapshot_id).tick == 100
    assert len(hashes(directory.path)) == 100
    assert [header.tick for header in store_of(directory).headers()] == [100]
    assert resume(directory, config(tmp_path, world=world, max_ticks=250)).ticks == 250
    assert hashes(directory.path) == before
    assert verified(directory.path) == 250


def test_a_snapshot_can_be_taken_of_a_finished_run(tmp_path: Path) -> None:
    result = run(config(tmp_path, max_ticks=55))
    directory = RunDirectory(Path(result.directory))
    header = create_snapshot(directory, "the-end", "as far as it got")
    assert (header.tick, header.name, header.message) == (55, "the-end", "as far as it got")


TABLES = {
    "steps": "tick", "episodes": "episode", "episode_starts": "episode", "events": "event_id", "battles": "battle_id",
    "battle_turns": "turn_id", "navigation_events": "event_id", "pokemon_party": "party_id", "screenshots": "tick",
    "action_history": "decision_id",
}  # fmt: skip


def history(directory: Path) -> dict[str, list[Any]]:
    """Return what a run tells of how it came to where it is."""
    found = {table: rows(directory, f"SELECT * FROM {table} ORDER BY {key}") for table, key in TABLES.items()}
    found["battles"] = [row[:3] for row in found["battles"]]  # whom it is against may be seen later
    found["action_history"] = [row for row in found["action_history"] if "rolled_back" not in row]
    return found


@pytest.mark.parametrize("world", ["CartPole-v1", "FrozenLake-v1", "tallgrass"])
def test_a_snapshot_of_ticks_that_were_given_up_brings_them_back(tmp_path: Path, world: str) -> None:
    flags = {"world": world, "screenshot_interval": 7, "agent": "explorer" if world == "tallgrass" else "random"}
    result = run(config(tmp_path, max_ticks=250, snapshot_name="finale", **flags))
    directory = RunDirectory(Path(result.directory))
    first = history(directory.path)
    hundred = next(header for header in store_of(directory).headers() if header.tick == 100)
    restore_snapshot(directory, hundred.snapshot_id)
    resume(directory, config(tmp_path, max_ticks=300, snapshot_name="second", **flags))
    second = history(directory.path)
    assert second["steps"][:100] == first["steps"][:100]
    assert second["steps"][100:250] != first["steps"][100:]  # the times are others
    assert restore_snapshot(directory, "finale").tick == 250
    assert history(directory.path) == first
    assert Run(directory).verify().good
    assert resume(directory, config(tmp_path, max_ticks=260, **flags)).ticks == 260
    assert verified(directory.path) == 260
    assert restore_snapshot(directory, "second").tick == 300
    assert history(directory.path) == second
    restore_snapshot(directory, "finale")
    assert history(directory.path) == first
    assert Run(directory).verify().good


def test_a_picture_that_has_gone_since_is_not_brought_back(tmp_path: Path) -> None:
    result = run(config(tmp_path, world="tallgrass", max_ticks=120, snapshot_name="finale", screenshot_interval=20))
    directory = RunDirectory(Path(result.directory))
    ((path,),) = rows(directory.path, "SELECT frame_ref FROM steps WHERE tick = 120")
    restore_snapshot(directory, next(h.snapshot_id for h in store_of(directory).headers() if h.tick == 100))
    (directory.path / path).unlink()
    restore_snapshot(directory, "finale")
    assert rows(
        directory.path, "SELECT frame_ref, file_path FROM steps JOIN screenshots USING (tick) WHERE tick = 120"
    ) == [(None, None)]


# -- live runs -----------------------------------------------------------------------------------------------------


class Live:
    """A run in a process of its own."""

    def __init__(self, data_dir: Path, *flags: str) -> None:
        words = ["run", "--world", "tallgrass", "--tick-rate-base", "300", "--data-dir", str(data_dir), "-q", *flags]
        self.process = subprocess.Popen([sys.executable, "-m", "ptp", *words])
        deadline = time.monotonic() + 30
        while True:
            assert time.monotonic() < deadline
            assert self.process.poll() is None
            found = [run.directory for run in list_runs(data_dir) if (run.path / "control.sock").exists()]
            if found:
                break
            time.sleep(0.05)
        self.directory = found[0]

    def ask(self, verb: str, **arguments: Any) -> Any:
        return ask(self.directory, verb, **arguments)

    def wait_for(self, tick: int) -> None:
        deadline = time.monotonic() + 60
        while self.ask("status")["tick"] < tick:
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def live(tmp_path: Path) -> Any:
    started: list[Live] = []

    def start(*flags: str) -> Live:
        started.append(Live(tmp_path, *flags))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.kill()


def test_a_run_that_was_rolled_back_twice_killed_and_resumed_replays_from_first_to_last(
    tmp_path: Path, live: Callable[..., Live]
) -> None:
    game = live("--snapshot-disk", "40")
    game.wait_for(130)
    first = game.ask("rollback", count=2)["tick"]
    game.wait_for(first + 60)
    second = game.ask("rollback", count=1)["tick"]
    game.wait_for(second + 70)
    game.kill()
    assert game.directory.read_metadata().status == "crashed"
    committed = len(hashes(game.directory.path))
    result = resume(game.directory, config(tmp_path, world="tallgrass", max_ticks=committed + 50))
    assert result.ticks == committed + 50
    assert rows(game.directory.path, "SELECT count(*) FROM rewinds") == [(2,)]
    assert verified(game.directory.path) == result.ticks


def test_a_full_disk_ends_the_run_and_nothing_that_was_committed_is_lost(tmp_path: Path) -> None:
    def small_files_only() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write beyond the limit is an error instead of the end
        resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, 4_000_000))

    words = ["run", "--world", "CliffWalking-v1", "--tick-rate-base", "0", "--max-ticks", "200000", "--snapshot-disk",
             "2000", "--data-dir", str(tmp_path), "-q"]  # fmt: skip
    done = subprocess.run([sys.executable, "-m", "ptp", *words], preexec_fn=small_files_only, capture_output=True,
                          text=True, timeout=120, check=False)  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "what was committed is kept; free some space" in done.stderr
    directory = list_runs(tmp_path)[0].directory
    assert directory.read_metadata().status == "crashed"
    kept = len(hashes(directory.path))
    assert kept > 1000
    result = resume(directory, config(tmp_path, world="CliffWalking-v1", max_ticks=kept + 500))
    assert result.ticks == kept + 500
    assert verified(directory.path) == kept + 500


def test_a_live_run_can_be_steered(live: Callable[..., Live]) -> None:
    game = live()
    game.wait_for(10)
    paused = game.ask("pause")["tick"]
    time.sleep(0.3)
    assert game.ask("status")["tick"] in (paused, paused + 1)
    assert game.ask("status")["paused"]
    at = game.ask("status")["tick"]
    game.ask("step", ticks=5)
    time.sleep(0.3)
    assert game.ask("status")["tick"] == at + 5
    taken = game.ask("snapshot", name="here", message="a good place")["snapshot"]
    assert taken["tick"] == at + 5
    game.ask("resume")
    game.wait_for(at + 40)
    assert game.ask("restore", snapshot="here")["tick"] == at + 5
    game.ask("set", flags={"--max-ticks": str(at + 30)})
    assert game.process.wait(30) == 0
    assert game.directory.read_metadata().ticks == at + 30
    assert verified(game.directory.path) == at + 30


@pytest.mark.parametrize("world", ["CartPole-v1", "tallgrass"])
def test_a_live_run_returns_to_a_snapshot_that_it_went_back_past(live: Callable[..., Live], world: str) -> None:
    game = live("--world", world, "--screenshot-interval", "5")
    game.wait_for(20)
    game.ask("snapshot", name="early")
    game.wait_for(60)
    late = game.ask("snapshot", name="late")["tick"]
    before = hashes(game.directory.path)[:late]
    early = game.ask("restore", snapshot="early")["tick"]
    assert early < late
    game.wait_for(early + 5)
    assert game.ask("restore", snapshot="late")["tick"] == late
    game.wait_for(late + 20)
    game.ask("stop")
    assert game.process.wait(30) == 0
    assert hashes(game.directory.path)[:late] == before
    assert verified(game.directory.path) == game.directory.read_metadata().ticks
    assert Run(game.directory).verify().good
    assert rows(game.directory.path, "SELECT count(*) FROM rewinds") == [(2,)]


@pytest.mark.parametrize(
    ("verb", "arguments", "message"),
    [
        ("puase", {}, "not a request: Invalid value 'puase'"),
        ("step", {"ticks": 0}, "Expected `int` >= 1"),
        ("step", {"tiks": 1}, "unknown field `tiks`"),
        ("step", {"ticks": "x"}, "Expected `int`, got `str`"),
        ("rollback", {"count": 99}, "can't go back 99 snapshots"),
        ("restore", {"snapshot": "nothing"}, "no snapshot"),
        ("snapshot", {"name": "../up"}, "can't name a snapshot"),
        ("set", {"flags": {"--max-tcks": "3"}}, "did you mean '--max-ticks'"),
        ("set", {"flags": {"--world": "x"}}, "can't be changed while the run plays"),
        ("set", {"flags": {"--max-ticks": "0"}}, "allowed: a whole number, 1 or more"),
    ],
)
def test_a_request_that_cant_be_met_is_told_why_and_the_run_goes_on(
    live: Callable[..., Live], verb: str, arguments: dict[str, Any], message: str
) -> None:
    game = live()
    game.ask("snapshot", name="first")
    with pytest.raises(PtpError, match=message):
        game.ask(verb, **arguments)
    game.wait_for(game.ask("status")["tick"] + 3)


def test_a_run_that_is_not_running_says_how_to_go_on_with_it(tmp_path: Path) -> None:
    result = run(config(tmp_path, max_ticks=5))
    with pytest.raises(NotRunning, match=f"is not running; resume it with `ptp resume {result.run_id}`"):
        ask(RunDirectory(Path(result.directory)), "pause")


def test_a_live_run_cant_be_resumed_by_a_second_process(tmp_path: Path, live: Callable[..., Live]) -> None:
    game = live()
    with pytest.raises(PtpError, match="belongs to another process"):
        resume(RunDirectory(game.directory.path), config(tmp_path, world="tallgrass"))


def test_the_verbs_steer_and_go_back(
    live: Callable[..., Live], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from ptp.cli import main

    def ptp(*words: str) -> str:
        code = main([*words, "--data-dir", str(tmp_path)])
        captured = capsys.readouterr()
        assert code == 0, captured.err
        return captured.out

    game = live("--snapshot-disk", "50")
    game.wait_for(60)
    paused = int(ptp("pause").split()[-2].rstrip(","))
    ptp("snapshot", "create", "--name", "mark", "--message", "look here")
    assert "mark" in ptp("snapshot", "list")
    assert ptp("step", "3").endswith(f"is at tick {paused + 3}, paused\n")
    assert "resumed at tick" in ptp("resume", "latest")
    ptp("rollback", "1")
    assert ptp("set", "tick-rate-base=0", "max-time=600").startswith("set tick-rate-base=0, max-time=600: run ")
    ptp("stop")
    assert game.process.wait(30) == 0
    shown = json.loads(ptp("snapshot", "show", "mark", "--json"))
    assert shown["message"] == "look here"
    assert "are intact" in ptp("snapshot", "verify")
    assert "continue from there with" in ptp("snapshot", "restore", "mark")
    target = tmp_path / "shared.ptpsnap"
    ptp("snapshot", "export", "mark", str(target))
    assert "is intact" in ptp("snapshot", "import", str(target))
    assert "deleted mark" in ptp("snapshot", "delete", "mark")
    ptp("resume", "latest", "--max-ticks", "200", "--tick-rate-base", "0")
    forked = ptp(
        "fork", "latest", "--at-tick", "100", "--random-seed", "5", "--max-ticks", "150", "--tick-rate-base", "0"
    )
    assert "/s), 150 in all" in forked
    assert "until the fork, 5 after it" in forked
    assert "until the fork, 5 after it" in ptp("show")
    assert ptp("replay", "latest", "--verify").startswith("equal: 150 ticks")


def test_a_setting_that_is_changed_holds_is_kept_and_is_seen_by_every_reader(live: Callable[..., Live]) -> None:
    game = live()
    at = game.ask("status")["tick"]
    game.ask("set", flags={"--on-limit": "abort", "--max-ticks": str(at + 40)})
    run = Run(game.directory)
    assert (run.config.limits.on_limit, run.config.limits.max_ticks) == ("abort", at + 40)
    assert "on_limit: abort" in (game.directory.path / "config.yaml").read_text()
    game.process.wait(20)
    assert (run.status, run.metadata.error) == ("crashed", "aborted: --max-ticks reached")
    assert [change.settings for change in run.config_changes()] == [
        {"limits.on_limit": "abort", "limits.max_ticks": at + 40}
    ]


@pytest.mark.parametrize(
    "line",
    [
        b'{"verb":"set","flags":[1]}', b'{"verb":"step","ticks":1e400}', b'{"verb":"snapshot","message":{"x":1}}',
        b'{"verb":"step","ticks":99999999999999999999}', b"[" * 50_000, b"\xff\xfe", b"", b'{"verb":null}',
    ],
)  # fmt: skip
def test_no_line_on_the_socket_ends_the_run(live: Callable[..., Live], line: bytes) -> None:
    game = live()
    with connect(game.directory) as connection, connection.makefile("rb") as answers:
        connection.sendall(line + b"\n")
        assert b"not a request" in answers.readline()
    game.wait_for(game.ask("status")["tick"] + 3)
