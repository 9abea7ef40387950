"""What the tests of reading share: runs of three worlds, and one of every old schema."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ptp.cli import main
from ptp.runs import Run, list_runs, open_run
from tests.versioning.databases import copy_run
from tests.web.parts import record

Call = Callable[..., tuple[int, str, str]]
TAPELESS = ("1.0", "1.1", "1.2", "2.0")


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with runs of several worlds and old schemas."""
    folder = tmp_path_factory.mktemp("runs")
    record(folder, world="CartPole-v1", max_ticks=200, random_seed=7)
    record(folder, world="tallgrass", agent="explorer", max_ticks=420, snapshot_disk=100, experiment_name="walks")
    for version in TAPELESS:
        copy_run(version, folder)
    return folder


@pytest.fixture(scope="session")
def pole(shelf: Path) -> Run:
    """A run of CartPole that ended."""
    return named(shelf, "CartPole-v1")


@pytest.fixture(scope="session")
def game(shelf: Path) -> Run:
    """A run of Tallgrass that ended."""
    return named(shelf, "tallgrass")


def named(shelf: Path, world: str) -> Run:
    (run,) = list_runs(shelf, world=world)
    return run


def old(shelf: Path, version: str) -> Run:
    """Return the run of an old schema."""
    return open_run(f"018d0c2e-0000-7000-8000-0000000000{version.replace('.', '')}", shelf)


@pytest.fixture
def ptp_in(capsys: pytest.CaptureFixture[str]) -> Call:
    """Run a command line on a data directory; return exit code, standard output and error."""

    def call(data_dir: Path, *words: str) -> tuple[int, str, str]:
        code = main([*words, "--data-dir", str(data_dir)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call
