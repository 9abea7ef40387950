"""`ptp pool`: a pool in the background, its figures for Prometheus, and its panel on the page."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from benchmarks.chaos import free_ports

from ptp.cli.pool import _ports
from ptp.emulators.service import read_started
from ptp.errors import UsageError
from tests.web.parts import serving as dashboard
from tests.web.parts import wait_for
from tests.web.stage import CHROMIUM, require_browser

Ptp = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pool-verbs")


@pytest.fixture(scope="module")
def ptp(data_dir: Path) -> Ptp:
    def run(*words: str, stdin: str = "", folder: Path = data_dir) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "ptp", "pool", *words, "--data-dir", str(folder)]
        return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=120)

    return run


@pytest.fixture(scope="module")
def started(ptp: Ptp) -> Iterator[str]:
    """What `ptp pool start` says; the pool runs for as long as these tests do."""
    first, second = free_ports(2)
    done = ptp("start", "--world", "CartPole-v1", "--size", "2", "--ports", f"{first},{second}")
    assert done.returncode == 0, done.stderr
    yield done.stdout
    assert ptp("stop").returncode == 0


def test_a_pool_that_was_started_is_shown_and_is_the_only_one(started: str, ptp: Ptp) -> None:
    assert started.startswith("pool of 2 emulators\n")
    assert started.count("healthy") == 2
    shown = json.loads(ptp("status", "--json").stdout)
    assert (shown["status"]["size"], shown["started"]["world"]) == (2, "CartPole-v1")
    refused = ptp("start")
    assert (refused.returncode, "runs already" in refused.stderr) == (2, True)


@pytest.mark.usefixtures("started")
def test_scripts_are_played_from_files_and_from_standard_input(ptp: Ptp, tmp_path: Path) -> None:
    script = tmp_path / "both.txt"
    script.write_text('1\n0\nCHECKPOINT "there"\n')
    done = ptp("exec", str(script), "--times", "3", "--seed", "3", "--json")
    results = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert [(it["success"], it["step"], it["checkpoints"]) for it in results] == [(True, 2, ["there"])] * 3
    wrong = ptp("exec", stdin="PRESS jump\n")
    assert wrong.returncode == 1
    assert "no button named 'jump'" in wrong.stdout


@pytest.mark.usefixtures("started")
def test_a_pool_in_the_background_grows_and_shrinks(ptp: Ptp) -> None:
    assert "emulator-03" in ptp("scale", "3").stdout
    assert "emulator-03" not in ptp("scale", "2").stdout
    assert "`ptp pool stop" in ptp("scale", "0").stderr


@pytest.mark.usefixtures("started")
def test_prometheus_and_the_api_know_the_pool(data_dir: Path, tmp_path: Path) -> None:
    with dashboard(data_dir) as client:
        figures = client.get("/metrics").text
        shown = client.get("/api/v1/pool").json()
    assert "ptp_pool_size 2.0" in figures
    assert 'ptp_pool_emulators{health="healthy"} 2.0' in figures
    assert shown["status"]["members"][0]["name"] == "emulator-01"
    with dashboard(tmp_path) as client:
        assert client.get("/api/v1/pool").json() == {"started": None, "status": None}
        assert "ptp_pool" not in client.get("/metrics").text


@pytest.mark.usefixtures("started")
def test_the_page_has_a_panel_only_when_a_pool_runs(data_dir: Path, tmp_path: Path) -> None:
    require_browser()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        problems: list[str] = []
        page.on("pageerror", lambda problem: problems.append(str(problem)))
        with dashboard(data_dir) as client:
            page.goto(f"{client.base_url}/")
            page.wait_for_selector("text=Pool of 2 emulators")
            assert page.locator(".emulators li").count() == 2
            page.goto("about:blank")
        with dashboard(tmp_path) as client:
            page.goto(f"{client.base_url}/")
            page.wait_for_selector("text=No runs yet")
            assert not page.locator(".pool").is_visible()
            page.goto("about:blank")
        browser.close()
    assert problems == []


def test_without_a_pool_every_verb_says_how_to_start_one(ptp: Ptp, tmp_path: Path) -> None:
    for words in (("status",), ("scale", "2"), ("exec",), ("stop",)):
        refused = ptp(*words, folder=tmp_path)
        assert (refused.returncode, "`ptp pool start" in refused.stderr) == (1, True), refused.stderr


def test_a_pool_that_cannot_start_says_why(ptp: Ptp, tmp_path: Path) -> None:
    refused = ptp("start", "--world", "tallgras", "--size", "1", "--ports", str(free_ports(1)[0]), folder=tmp_path)
    assert refused.returncode == 2
    assert "no world named 'tallgras'; did you mean 'tallgrass'?" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert read_started(tmp_path) is None


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a stopped process with its parent")
def test_a_pool_that_is_killed_takes_its_emulators_with_it_and_another_can_start(ptp: Ptp, tmp_path: Path) -> None:
    start = ("start", "--world", "CartPole-v1", "--size", "1", "--ports", str(free_ports(1)[0]))
    assert ptp(*start, folder=tmp_path).returncode == 0
    found = read_started(tmp_path)
    assert found is not None
    children = psutil.Process(found.pid).children()
    os.kill(found.pid, signal.SIGKILL)
    wait_for(lambda: not any(it.is_running() and it.status() != psutil.STATUS_ZOMBIE for it in children))
    assert ptp("status", folder=tmp_path).returncode == 1
    assert ptp(*start, folder=tmp_path).returncode == 0
    assert ptp("stop", folder=tmp_path).returncode == 0


def test_ports_are_ranges_and_lists() -> None:
    assert _ports("8081-8083,9000") == [8081, 8082, 8083, 9000]
    for text in ("", "a", "8081-", "9-1", "1-9999"):
        with pytest.raises(UsageError, match="--ports"):
            _ports(text)
