"""The diagnostic verbs say what the API says."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import polars
import pytest

from ptp.cli import main
from ptp.cli.show import brief
from ptp.runs import find_run
from ptp.runs.run import Run
from tests.web.parts import playing, wait_for


@pytest.fixture
def say(shelf: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def call(*words: str) -> str:
        assert main([*words, "--data-dir", str(shelf)]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return call


def test_status_tells_where_the_player_is_and_how_the_party_does(say: Callable[..., str]) -> None:
    told = say("status")
    assert "explorer in tallgrass" in told
    assert "━" in told
    assert json.loads(say("status", "--json"))["current_state"]["party"]


def test_status_and_metrics_of_a_world_without_a_game_have_no_figures_of_one(
    say: Callable[..., str], shelf: Path, lake: str
) -> None:
    told = say("status", lake)
    (last,) = Run(find_run(shelf, lake)).steps(300, 300)
    assert f"episode   {last.episode}, step {last.step}, return 0" in told
    assert f"command   {('left', 'down', 'right', 'up')[int(last.command)]}" in told
    for word in ("badges", "caught", "items", "where"):
        assert word not in told
    assert "pokemon_caught" not in say("metrics", lake)
    assert "pokemon_caught" in say("metrics")


def test_observations_and_commands_are_short_text() -> None:
    assert brief([-0.0013340734876692295, 12.5]) == "[-0.001334, 12.5]"
    assert brief("[[1.76266610622406]]") == "1.763"
    assert brief({"shape": [96, 96, 3], "dtype": "uint8", "hash": "ab"}) == "uint8 96 x 96 x 3"
    assert brief({"agent": [1, 2], "target": 3}) == "agent [1, 2], target 3"
    assert [brief(word) for word in ("left", "[1, 2", "[" * 100_000)] == ["left", "[1, 2", "[" * 100_000]


def test_actions_are_listed_and_searched(say: Callable[..., str]) -> None:
    assert "MAP_CHANGED" in say("actions", "--kind", "events", "--page-size", "200")
    found = json.loads(say("actions", "--search", "FERNHOLLOW", "--json"))
    assert found["total_count"] > 0


def test_a_picture_is_drawn_in_shades_and_written_to_a_file(say: Callable[..., str], tmp_path: Path) -> None:
    assert "▒▒" in say("screenshot", "show", "tick-200")
    told = json.loads(say("screenshot", "latest", "--json", "--output", str(tmp_path / "last.png")))
    assert 0 < told["tick"] <= 420
    assert (tmp_path / "last.png").stat().st_size == told["file_size_bytes"]
    assert json.loads(say("screenshot", "list", "--json"))["page_size"] == 20


def test_metrics_and_logs_are_told(say: Callable[..., str]) -> None:
    assert "current_level" in say("metrics")
    assert json.loads(say("metrics", "--json"))["tick"] == 420
    assert "explorer plays tallgrass" in say("logs")
    assert "explorer plays tallgrass" in say("logs", "--follow")
    assert json.loads(say("logs", "--json"))["lines"]


@pytest.mark.parametrize("form", ["json", "csv", "ndjson", "parquet"])
def test_a_run_is_exported_to_a_file(say: Callable[..., str], tmp_path: Path, form: str) -> None:
    path = tmp_path / f"steps.{form}"
    say("export", "--what", "steps", "--format", form, "--output", str(path))
    data = path.read_bytes()
    counts: dict[str, Callable[[], int]] = {
        "json": lambda: len(json.loads(data)["steps"]),
        "csv": lambda: polars.read_csv(path, infer_schema_length=None).height,
        "ndjson": lambda: len(data.splitlines()),
        "parquet": lambda: polars.read_parquet(path).height,
    }
    assert counts[form]() == 420


def test_the_state_goes_to_standard_output_when_no_file_is_named(shelf: Path) -> None:
    command = [sys.executable, "-m", "ptp", "export", "--format", "json", "--data-dir", str(shelf)]
    done = subprocess.run(command, capture_output=True, check=True)
    assert json.loads(done.stdout)["run_id"]


def test_a_live_run_streams_its_actions_and_can_be_watched(tmp_path: Path) -> None:
    with playing(tmp_path):
        for words in (["actions", "--stream", "--json"], ["watch", "--json"]):
            command = [sys.executable, "-m", "ptp", *words, "--data-dir", str(tmp_path)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout is not None
                first: dict[str, Any] = json.loads(process.stdout.readline())
                process.terminate()
            assert "action" in first or "now" in first


def is_healthy(base: str) -> bool:
    try:
        return httpx.get(f"{base}/healthz").status_code == 200
    except httpx.TransportError:
        return False


def test_the_dashboard_prints_an_address_with_a_token_and_serves(shelf: Path) -> None:
    command = [sys.executable, "-m", "ptp", "dashboard", "--port", "0", "--json", "--data-dir", str(shelf)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        text = ""
        while not text.endswith("}\n"):
            text += process.stdout.readline()
        address = json.loads(text)
        base = f"http://127.0.0.1:{address['port']}"
        wait_for(lambda: is_healthy(base))
        pause = f"{base}/api/v1/control/pause"
        assert httpx.post(pause).status_code == 401
        assert httpx.post(pause, headers={"Authorization": f"Bearer {address['token']}"}).status_code == 409
        process.terminate()
    assert process.returncode in {0, -15, 143}
    assert not find_run(shelf, "latest").is_alive()


def test_ctrl_c_ends_the_dashboard_in_one_line_while_a_page_listens_to_a_live_run(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ptp", "dashboard", "--port", "0", "--data-dir", str(tmp_path)]
    with playing(tmp_path) as directory:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            base = process.stdout.readline().partition("/#")[0]
            wait_for(lambda: is_healthy(base))
            with httpx.stream("GET", f"{base}/api/v1/live", timeout=60) as response:
                lines = response.iter_lines()
                assert next(lines).startswith("event: ")
                process.send_signal(signal.SIGINT)
                rest = list(lines)
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
            process.wait()
        assert directory.is_alive()
    assert "event: end" not in rest  # the run goes on; only the stream breaks off
    assert errors.splitlines()[1:] == ["ptp: the dashboard has stopped; runs continue"]
    assert process.returncode == 130


def test_a_verb_of_the_terminal_says_so_in_a_pipe(shelf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", "--data-dir", str(shelf)]) == 2
    assert "--json" in capsys.readouterr().err
