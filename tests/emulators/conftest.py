"""Servers to play on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ptp.emulators import PokemonGymClient
from tests.emulators.foreign import Foreign, serving


@pytest.fixture
def foreign() -> Iterator[Foreign]:
    """A pokemon-gym server that is not ours."""
    with serving() as server:
        yield server


@pytest.fixture
def client(foreign: Foreign) -> Iterator[PokemonGymClient]:
    """A client of it."""
    with PokemonGymClient(foreign.url) as client:
        yield client
