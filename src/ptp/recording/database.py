"""Opening a run's SQLite database, which apsw brings along."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptp._util.files import check_regular
from ptp._util.lazy import lazy
from ptp.errors import RecordingError, RunUnreadable
from ptp.recording.packed import is_packed, readable
from ptp.recording.seal import Shape, schema_digest, shapes, tape_digest

if TYPE_CHECKING:
    import apsw

    from ptp.versioning import schema, sqlite, stamp
else:  # a list of ended runs opens no database
    apsw, schema = lazy("apsw"), lazy("ptp.versioning.schema")
    sqlite, stamp = lazy("ptp.versioning.sqlite"), lazy("ptp.versioning.stamp")

PAGE = 8192  # bytes; the state of a Game Boy game takes 3 KB, and two would leave much of a smaller page empty
CHECKPOINT = 2000  # pages in the log before they are moved into the database, which waits for the disk
TAPELESS = frozenset({"1.0", "1.1", "1.2", "2.0"})  # schemas that keep no steps
OLDEST_SQLITE = (3, 51, 3)  # before this a crash during a WAL reset can corrupt the database


def check_sqlite(version: str | None = None) -> None:
    """Refuse a SQLite that can lose what was committed."""
    version = version or apsw.sqlite_lib_version()
    if tuple(map(int, version.split("."))) < OLDEST_SQLITE:
        needed = ".".join(map(str, OLDEST_SQLITE))
        raise RecordingError(f"SQLite {version} can corrupt databases; install an apsw with SQLite {needed} or newer")


def create_database(path: Path) -> apsw.Connection:
    """Create a database of the newest schema."""
    check_sqlite()
    _refuse_archived(path)
    connection = apsw.Connection(str(path), flags=_writable() | apsw.SQLITE_OPEN_CREATE)
    connection.pragma("page_size", PAGE)
    _make_durable(connection)
    with connection:
        connection.execute(schema.RUN_SCHEMAS.sql(schema.SCHEMA_VERSION))
    return connection


def open_for_writing(path: Path) -> apsw.Connection:
    """Open the database of a run to resume it; one of an old schema has to be migrated first."""
    check_sqlite()
    _refuse_archived(path)
    connection = apsw.Connection(str(path), flags=_writable())
    try:
        version = check_own(connection, path)
    except BaseException:
        connection.close()
        raise
    if version != schema.SCHEMA_VERSION:
        connection.close()
        remedy = f"bring it to {schema.SCHEMA_VERSION} with `ptp schema migrate {path.parent}`"
        raise RecordingError(f"{path} has schema {version} and can't be written to; {remedy}")
    _make_durable(connection)
    return connection


def check_own(connection: apsw.Connection, path: Path) -> str:
    """Return the schema version of a database, once it is known that nothing in it would run by itself."""
    version = stamp.known_version(sqlite.SQLite(connection, path))
    sqlite.refuse_foreign(connection, path, version)
    return version


def _writable() -> int:
    return apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI


def _make_durable(connection: apsw.Connection) -> None:
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "normal")
    connection.pragma("wal_autocheckpoint", CHECKPOINT)


def _refuse_archived(path: Path) -> None:
    if is_packed(path):
        run_id = path.parent.name
        raise RecordingError(f"run {run_id} is archived; before it is changed, `ptp prune --restore {run_id}`")


class Database:
    """A run's database, open for reading only; damage found at any time is named with the remedy.

    One of an older schema answers the queries of the newest: what it lacks is empty. That of an archived run is read
    from a copy.
    """

    def __init__(self, path: Path) -> None:
        self._path = path = readable(path)
        try:
            check_regular(path)
        except FileNotFoundError:
            remedy = "the run can't be read, remove its folder or restore the file"
            raise RunUnreadable(f"{path} is missing; {remedy}") from None
        except OSError as problem:
            raise RunUnreadable(f"{path} can't be read: {problem.strerror}; restore it from a copy") from None
        with self._translated():
            self._connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
            try:
                self._prepare(path)
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self, path: Path) -> None:
        self._patience = sqlite.guard(self._connection)
        self.version = check_own(self._connection, path)
        if self.version != schema.SCHEMA_VERSION:
            sqlite.add_views(self._connection, self.version)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except apsw.InterruptError:
            raise sqlite.endless(self._path) from None
        except (apsw.Error, UnicodeDecodeError) as problem:
            raise RunUnreadable(f"{self._path} is damaged ({problem}); restore it from a copy") from None

    @property
    def has_tape(self) -> bool:
        """Whether a run of this schema keeps its steps."""
        return self.version not in TAPELESS

    def is_migrated(self) -> bool:
        """Whether it once had another schema."""
        return bool(stamp.read_history(sqlite.SQLite(self._connection, self._path)))

    def head(self) -> str | None:
        """Return the newest link of the seal; None when the run is not sealed."""
        return next((digest for (digest,) in self.rows("SELECT digest FROM seals ORDER BY batch DESC LIMIT 1")), None)

    def tape_digest(self) -> str:
        """Return the digest of the tape."""
        with self._translated():
            return tape_digest(self._connection)

    def shapes(self) -> dict[str, Shape]:
        """Return every table that is sealed."""
        with self._translated():
            return shapes(self._connection)

    def schema_digest(self) -> bytes:
        """Return the digest of how its tables are declared."""
        with self._translated():
            return schema_digest(self._connection)

    def damage(self) -> list[str]:
        """Return what is wrong with its pages, and with indexes that do not lead to their rows."""
        return [text for (text,) in self.rows("PRAGMA integrity_check(10)") if text != "ok"]

    def define(self, name: str, function: Callable[..., Any]) -> None:
        """Let queries call a function."""
        self._connection.create_scalar_function(name, function, deterministic=True)

    def rows(self, sql: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        """Return the rows of a query, one by one."""
        patience = self._patience
        patience.strides = 0
        with self._translated():
            for row in self._connection.execute(sql, values):
                patience.strides = 0
                yield row

    def row(self, sql: str, *values: Any) -> tuple[Any, ...]:
        """Return the first row of a query."""
        for row in self.rows(sql, *values):
            return row
        raise RunUnreadable(f"{self._path} is damaged (no answer to {sql!r}); restore it from a copy")

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()
