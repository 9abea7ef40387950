"""What the tests of the dashboard share: recorded runs, a server, and a live run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from ptp.recording import RunDirectory
from tests.web.parts import playing, record, serving
from tests.web.stage import CHROMIUM, Stage, require_browser


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with runs that have ended."""
    folder = tmp_path_factory.mktemp("shelf")
    record(folder, world="FrozenLake-v1", max_ticks=300, random_seed=7)
    record(folder, world="tallgrass", agent="explorer", max_ticks=420, snapshot_disk=100)
    return folder


@pytest.fixture(scope="session")
def client(shelf: Path) -> Iterator[httpx.Client]:
    """A client of a server over runs that have ended."""
    with serving(shelf) as client:
        yield client


@pytest.fixture(scope="session")
def game(client: httpx.Client) -> str:
    """The id of the Tallgrass run."""
    return str(client.get("/api/v1/runs?world=tallgrass").json()["runs"][0]["run_id"])


@pytest.fixture(scope="session")
def lake(client: httpx.Client) -> str:
    """The id of the FrozenLake run."""
    return str(client.get("/api/v1/runs?world=FrozenLake-v1").json()["runs"][0]["run_id"])


@pytest.fixture
def live(tmp_path: Path) -> Iterator[tuple[httpx.Client, RunDirectory]]:
    """A client of a server over one live run, and the run."""
    with playing(tmp_path) as directory, serving(tmp_path) as client:
        yield client, directory


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """A real browser."""
    require_browser()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def stage(browser: Any, tmp_path: Path) -> Iterator[Stage]:
    """A page over a live run."""
    with playing(tmp_path) as run, serving(tmp_path) as client:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        stage = Stage(context.new_page(), client, run)
        yield stage
        context.close()
        assert stage.problems == []


@pytest.fixture(scope="session")
def pole(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    """A run of CartPole that has ended, with a few episodes."""
    return record(tmp_path_factory.mktemp("pole"), world="CartPole-v1", max_ticks=150, snapshot_disk=50)


@pytest.fixture
def scene(browser: Any, pole: RunDirectory) -> Iterator[Stage]:
    """A page over a run of CartPole that has ended."""
    with serving(pole.path.parent.parent) as client:
        context = browser.new_context(viewport={"width": 1400, "height": 900})
        stage = Stage(context.new_page(), client, pole)
        yield stage
        context.close()
        assert stage.problems == []
