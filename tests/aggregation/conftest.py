"""A real PostgreSQL for the tests, with an empty schema for each."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ptp.aggregation.central import Central, PostgreSQL
from ptp.errors import CentralError

if TYPE_CHECKING:
    import psycopg

NUMBERS = count()


@pytest.fixture(scope="session")
def open_folder() -> Iterator[Path]:
    """A folder with a short name, for the server's socket; pytest's own are long."""
    folder = Path(tempfile.mkdtemp(prefix="ptp-test-"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def server(open_folder: Path) -> Iterator[Callable[[], Central]]:
    """Return what makes an empty database, on one server for all tests."""
    own = Central(open_folder)
    try:
        with own.connected(make=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")  # no test cuts the power
            connection.execute("SELECT pg_reload_conf()")

            def make() -> Central:
                name = f"test{next(NUMBERS)}"
                connection.execute(f"CREATE SCHEMA {name}")
                place = f"host={open_folder}/central/pgdata&port=5432&options=-csearch_path%3D{name}"
                return Central(open_folder, f"postgresql://ptp@/postgres?{place}")

            yield make
    except CentralError as problem:
        (pytest.fail if os.environ.get("PTP_REQUIRE_ALL") == "1" else pytest.skip)(str(problem))


@pytest.fixture
def central(server: Callable[[], Central]) -> Central:
    """An empty central database."""
    return server()


@pytest.fixture
def connection(central: Central) -> Iterator[psycopg.Connection]:
    """A connection to it."""
    with central.connected() as connection:
        yield connection


@pytest.fixture
def db(connection: psycopg.Connection, central: Central) -> PostgreSQL:
    """The same, as migrations know it."""
    return PostgreSQL(connection, central)


@pytest.fixture
def named(central: Central, monkeypatch: pytest.MonkeyPatch) -> Central:
    """The empty central database, named for command lines."""
    assert central.url is not None
    monkeypatch.setenv("PTP_DATABASE_URL", central.url)
    return central
