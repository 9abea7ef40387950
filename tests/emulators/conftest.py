"""What the tests of the game server share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.emulators.parts import serving


@pytest.fixture(scope="package")
def grass_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("grass")


@pytest.fixture(scope="package")
def grass(grass_dir: Path) -> Iterator[httpx.Client]:
    """A client of a server of Tallgrass."""
    with serving("tallgrass", grass_dir, most=8) as client:
        yield client


@pytest.fixture(scope="package")
def pole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of a server of CartPole."""
    with serving("CartPole-v1", tmp_path_factory.mktemp("pole"), most=8) as client:
        yield client
