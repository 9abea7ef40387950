"""Two small runs, recorded once, and a fresh copy of one for each test that does something to it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ptp.recording import RunDirectory
from ptp.runs import Run
from tests.web.parts import record

Copy = Callable[[str], Run]


@pytest.fixture(scope="session")
def originals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunDirectory]:
    """CartPole with pictures, and Tallgrass with snapshots."""
    folder = tmp_path_factory.mktemp("originals")
    return {
        "CartPole-v1": record(folder, world="CartPole-v1", max_ticks=60, random_seed=7, screenshot_interval=20),
        "tallgrass": record(folder, world="tallgrass", agent="explorer", max_ticks=120, snapshot_disk=60),
    }


@pytest.fixture
def copied(originals: dict[str, RunDirectory], tmp_path: Path) -> Copy:
    """Return a copy of a run in a data directory of its own."""

    def copy(world: str = "CartPole-v1") -> Run:
        source = originals[world].path
        path = tmp_path / "var" / "records" / source.name
        shutil.copytree(source, path)
        return Run(RunDirectory(path))

    return copy
