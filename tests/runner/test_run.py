"""One whole run, and every way in which it can end."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ptp.agents import registry
from ptp.config import RunConfig
from ptp.config.tree import BY_FLAG, build
from ptp.errors import ConfigError, UnknownName
from ptp.recording import RunDirectory
from ptp.records import Record, RunResult
from ptp.runner import run
from ptp.runs import list_runs
from ptp.sinks import BackgroundSink, RunContext, Sink
from ptp.testing import FakeAgent

RUN_ID = "01a1e142-559b-7db3-8bf0-c635104f2b91"


def config(tmp_path: Path, **flags: Any) -> RunConfig:
    given = {"world": "FrozenLake-v1", "tick_rate_base": 0, "data_dir": str(tmp_path), "random_seed": 3, **flags}
    return build({BY_FLAG["--" + name.replace("_", "-")]: value for name, value in given.items()})


def test_the_same_seed_gives_the_same_run_and_another_seed_another(tmp_path: Path) -> None:
    def hashes(seed: int) -> list[tuple[str]]:
        result = run(config(tmp_path, max_ticks=50, random_seed=seed))
        connection = sqlite3.connect(Path(result.directory, "game_data.db"))
        found: list[tuple[str]] = connection.execute("SELECT state_hash FROM steps ORDER BY tick").fetchall()
        connection.close()
        return found

    assert hashes(1) == hashes(1)
    assert hashes(1) != hashes(2)


def test_without_a_seed_one_is_drawn_and_recorded(tmp_path: Path) -> None:
    results = [run(config(tmp_path, max_ticks=5, random_seed=None)) for _ in range(2)]
    assert results[0].random_seed != results[1].random_seed
    for result in results:
        assert RunDirectory(Path(result.directory)).read_metadata().random_seed == result.random_seed


@pytest.mark.parametrize(
    ("action", "status", "code", "report"),
    [("save-and-exit", "completed", 0, True), ("save-only", "completed", 0, False), ("abort", "crashed", 1, False)],
)
def test_each_action_at_a_limit_ends_as_it_says(
    tmp_path: Path, action: str, status: str, code: int, report: bool
) -> None:
    result = run(config(tmp_path, max_ticks=20, on_limit=action))
    assert (result.status, result.exit_code, result.ticks) == (status, code, 20)
    assert Path(result.directory, "report.html").exists() == report
    metadata = RunDirectory(Path(result.directory)).read_metadata()
    assert (metadata.status, metadata.exit_code, metadata.ticks) == (status, code, 20)
    assert metadata.stop is not None
    assert metadata.stop.name == "max-ticks"


def test_a_script_that_ends_completes_the_run_with_a_report_even_under_abort(tmp_path: Path) -> None:
    script = tmp_path / "moves.txt"
    script.write_text("right\ndown\n")
    result = run(config(tmp_path, agent="script", script=str(script), on_limit="abort"))
    assert (result.status, result.exit_code, result.ticks) == ("completed", 0, 2)
    assert result.stop is not None
    assert result.stop.kind == "finished"
    assert result.report is not None


class Failing(FakeAgent):
    """Fails at its fifth decision."""

    def __init__(self, world: Any, options: Any) -> None:
        super().__init__(world)

    def decide(self, observation: Any) -> Any:
        if observation.tick == 4:
            raise ZeroDivisionError("oops")
        return super().decide(observation)


def test_a_failing_agent_leaves_a_crashed_run_with_the_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry.AGENTS, "failing", "tests.runner.test_run:Failing")
    result = run(config(tmp_path, agent="failing"))
    assert (result.status, result.exit_code, result.ticks) == ("crashed", 1, 4)
    assert result.error is not None
    assert "oops" in result.error
    connection = sqlite3.connect(Path(result.directory, "game_data.db"))
    ((kind, message, trace, context, recovered),) = connection.execute(
        "SELECT error_type, error_message, stack_trace, context, recovered FROM errors"
    ).fetchall()
    connection.close()
    assert kind == "AgentError"
    assert "oops" in message
    assert "ZeroDivisionError" in trace
    assert json.loads(context) == {"tick": 4}
    assert recovered == 0
    assert '"event":"error"' in Path(result.directory, "run.log").read_text()


def test_nothing_is_written_for_a_run_that_cant_begin(tmp_path: Path) -> None:
    for flags, error in (
        ({"world": "FrozenLke-v1"}, UnknownName),
        ({"agent": "randm"}, UnknownName),
        ({"max_badges": 1}, ConfigError),
        ({"agent": "script"}, ConfigError),
    ):
        with pytest.raises(error):
            run(config(tmp_path, **flags))
    assert list(tmp_path.iterdir()) == []


def test_a_log_file_that_cant_be_written_leaves_no_half_run(tmp_path: Path) -> None:
    from ptp.errors import RecordingError

    with pytest.raises(RecordingError, match="can't write the log"):
        run(config(tmp_path, max_ticks=5, log_file=str(tmp_path / "no" / "such" / "file")))
    assert list(list_runs(tmp_path)) == []


class Listener(Sink):
    """Remembers what it heard."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def began(self, run: RunContext) -> None:
        self.heard.append(f"began {run.run_id}")

    def took(self, records: Sequence[Record]) -> None:
        self.heard += [type(record).__name__ for record in records]

    def ended(self, result: RunResult) -> None:
        self.heard.append(f"ended {result.ticks}")


def test_a_sink_hears_of_the_run_from_its_beginning_to_its_end(tmp_path: Path) -> None:
    listener = Listener()
    result = run(config(tmp_path, max_ticks=5), run_id=RUN_ID, sinks=[listener])
    assert result.run_id == RUN_ID
    assert [listener.heard[0], listener.heard[1], listener.heard[-1]] == [f"began {RUN_ID}", "EpisodeBegan", "ended 5"]
    assert listener.heard.count("Step") == listener.heard.count("DecisionMade") == 5


def test_a_sink_that_fails_hears_no_more_and_the_run_goes_on(tmp_path: Path) -> None:
    class Broken(Listener):
        def took(self, records: Sequence[Record]) -> None:
            super().took(records)
            raise ValueError("out of ink")

    broken = Broken()
    result = run(config(tmp_path, max_ticks=2000), sinks=[broken])
    assert (result.status, result.ticks) == ("completed", 2000)
    assert "ended 2000" not in broken.heard
    assert "out of ink" in (Path(result.directory) / "run.log").read_text()


def test_a_sink_that_is_too_slow_loses_records_and_the_run_loses_no_time(tmp_path: Path) -> None:
    class Slow(Listener):
        def took(self, records: Sequence[Record]) -> None:
            time.sleep(0.2)

    sink = BackgroundSink(Slow(), most=100)
    began = time.monotonic()
    result = run(config(tmp_path, max_ticks=3000), sinks=[sink])
    assert result.ticks == 3000
    assert sink.lost > 1000
    assert time.monotonic() - began < 20
    assert f"lost {sink.lost} records" in (Path(result.directory) / "run.log").read_text()


def test_two_runs_in_one_process_keep_two_logs(tmp_path: Path) -> None:
    results: dict[str, RunResult] = {}

    def play(world: str) -> None:
        results[world] = run(config(tmp_path, world=world, max_ticks=300, tick_rate_base=300))

    worlds = ("CliffWalking-v1", "Taxi-v4")
    threads = [threading.Thread(target=play, args=(world,)) for world in worlds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for world, other in (worlds, worlds[::-1]):
        log = (Path(results[world].directory) / "run.log").read_text()
        assert world in log
        assert other not in log
        assert log.count("run_began") == log.count("run_ended") == 1


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_is_a_clean_manual_stop(tmp_path: Path, number: signal.Signals, code: int) -> None:
    words = ["run", "--world", "CliffWalking-v1", "--tick-rate-base", "1", "--data-dir", str(tmp_path), "--json"]
    process = subprocess.Popen([sys.executable, "-m", "ptp", *words], stdout=subprocess.PIPE)
    deadline = time.monotonic() + 30
    while not any((run.path / "game_data.db").exists() for run in list_runs(tmp_path)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(0.5)
    began = time.monotonic()
    os.kill(process.pid, number)
    output, _ = process.communicate(timeout=30)
    assert time.monotonic() - began < 5
    assert process.returncode == code
    result = json.loads(output)
    assert result["status"] == "manual_stop"
    found = list_runs(tmp_path)[0].directory
    assert found.read_metadata().status == "manual_stop"
    assert (found.path / "report.html").exists()


def test_measurements_of_the_run_are_kept(tmp_path: Path) -> None:
    result = run(config(tmp_path, max_time=2, limit_grace_period=0, tick_rate_base=200))
    connection = sqlite3.connect(Path(result.directory, "game_data.db"))
    found = dict(connection.execute("SELECT metric_type, max(value) FROM performance_metrics GROUP BY 1").fetchall())
    connection.close()
    assert 100 < found["tick_rate"] < 300
    assert found["memory"] > 10
    assert found["cost"] == 0
