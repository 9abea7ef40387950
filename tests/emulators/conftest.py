"""What the tests of game servers and their clients share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ptp.emulators import PokemonGymClient
from tests.emulators import foreign as others
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


@pytest.fixture
def foreign() -> Iterator[others.Foreign]:
    """A pokemon-gym server that is not ours."""
    with others.serving() as server:
        yield server


@pytest.fixture
def client(foreign: others.Foreign) -> Iterator[PokemonGymClient]:
    """A client of it."""
    with PokemonGymClient(foreign.url) as client:
        yield client
