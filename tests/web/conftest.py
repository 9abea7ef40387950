"""What the tests of the dashboard share: recorded runs, a server, and a live run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ptp.recording import RunDirectory
from tests.web.parts import playing, record, serving


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
