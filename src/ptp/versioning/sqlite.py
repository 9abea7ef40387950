"""SQLite, as the databases of runs are kept in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import apsw

from ptp.errors import RecordingError, RunUnreadable
from ptp.versioning.dialect import Column, Shape, read_shape
from ptp.versioning.schema import RENAME, RUN_SCHEMAS, SCHEMA_VERSION, statements

# Names are in lower case, since SQLite takes them so.
_COLUMNS = """
SELECT lower(made.name), lower(field.name), field.type, field."notnull", field.dflt_value, field.pk
FROM main.sqlite_schema AS made JOIN pragma_table_xinfo(made.name, 'main') AS field
WHERE made.type = 'table' AND made.name NOT GLOB 'sqlite_*' ORDER BY made.rowid, field.cid
"""
_INDEXES = """
SELECT lower(made.name), lower(made.tbl_name),
       (SELECT group_concat(lower(coalesce(name, '')), ', ' ORDER BY seqno) FROM pragma_index_info(made.name, 'main')),
       (SELECT "unique" FROM pragma_index_list(made.tbl_name, 'main') WHERE name = made.name)
FROM main.sqlite_schema AS made WHERE type = 'index' AND sql IS NOT NULL ORDER BY rowid
"""


_FOREIGN = """
SELECT type, name, sql FROM main.sqlite_schema WHERE type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%'
"""
STRIDE = 100_000  # steps of SQLite's machine between two looks whether to end a query; about a millisecond
MOST_STRIDES = 30_000  # without a row; no query of ours needs as many, however long the run is


class SQLite:
    """The open database of a run."""

    schemas = RUN_SCHEMAS
    starts_empty = False
    serial_key = "INTEGER PRIMARY KEY"
    json_type = "TEXT"
    columns_query = _COLUMNS
    indexes_query = _INDEXES
    views_query = "SELECT lower(name), 0, sql FROM main.sqlite_schema WHERE type = 'view' ORDER BY rowid"

    def __init__(self, connection: apsw.Connection, where: object, patience: Patience | None = None) -> None:
        self.connection = connection
        self._patience = patience
        self.name = self.argument = str(where)

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a statement to its end and return the rows it gives."""
        if self._patience is not None:
            self._patience.strides = 0
        return list(self.connection.execute(sql, values))

    def has_table(self, name: str) -> bool:
        """Whether the file has such a table; a temporary view of that name is none."""
        return bool(self.rows("SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND lower(name) = ?", name))

    def shape_of(self, version: str) -> Shape:
        """Return the shape that a version has."""
        return shape_of(version)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Begin a transaction, and be its only writer from the start."""
        self.connection.pragma("journal_mode", "wal")  # what a crash leaves in it can be read without writing
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise

    def change_column(self, table: str, column: str, facts: Column, create: str) -> str:
        """Return what to do by hand, since SQLite can't change a column."""
        return f"make {table} anew and copy its rows: {create}"


@cache
def shape_of(version: str) -> Shape:
    """Return the shape that a version has."""
    connection = apsw.Connection(":memory:")
    try:
        connection.execute(RUN_SCHEMAS.sql(version))
        return read_shape(SQLite(connection, ":memory:"))
    finally:
        connection.close()


class Patience:
    """Ends a query that has come to no row for too long; Ctrl-C and SIGTERM are heard while it looks."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.strides = 0
        """How long a query went on since its last row; whoever reads rows sets it back."""
        connection.set_progress_handler(self._look, STRIDE)

    def _look(self) -> bool:
        self.strides += 1
        return self.strides > MOST_STRIDES


def guard(connection: apsw.Connection) -> Patience:
    """Prepare a connection for a file that a stranger may have made."""
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.set_busy_timeout(5000)
    return Patience(connection)


def refuse_foreign(connection: apsw.Connection, where: object, version: str | None = None) -> None:
    """Refuse a database with triggers, or with views that its schema does not declare: readers would run them."""
    declared = {} if version is None else shape_of(version).views
    for kind, name, sql in connection.execute(_FOREIGN):
        known = declared.get(str(name).lower())
        if kind != "view" or known is None or known.query != sql:
            noun = "virtual table" if kind == "table" else kind
            raise RunUnreadable(f"{where} has the {noun} {name!r}, which ptp never made; drop it if you trust the file")


@contextmanager
def opened(database: Path, flags: int = apsw.SQLITE_OPEN_READONLY) -> Iterator[SQLite]:
    """Open a database and say in words what SQLite says of it."""
    if not database.exists():
        raise RunUnreadable(f"{database} is missing; restore the file, or name another run")
    connection = None
    try:
        connection = apsw.Connection(str(database), flags=flags)
        yield SQLite(connection, database, guard(connection))
    except apsw.BusyError:
        raise RecordingError(f"{database} is used by another program; close it and migrate again") from None
    except apsw.InterruptError:
        raise endless(database) from None
    except (apsw.NotADBError, apsw.CorruptError, UnicodeDecodeError) as problem:
        raise RunUnreadable(f"{database} is damaged ({problem}); restore it from a copy") from None
    except (apsw.Error, OSError) as problem:
        raise RecordingError(f"{database} can't be used: {problem}; it stays as it is") from None
    finally:
        if connection is not None:
            connection.close()


def endless(database: object) -> RunUnreadable:
    """Return the error of a query that was ended."""
    steps = STRIDE * MOST_STRIDES
    return RunUnreadable(f"{database} gave no answer within {steps:,} steps; it is damaged, restore it from a copy")


def add_views(connection: apsw.Connection, version: str) -> None:
    """Make an open database of an old *version* answer like one of the newest; the file itself stays as it is."""
    tables = read_shape(SQLite(connection, "an old run")).tables
    older = old_names(version)
    for name, columns in shape_of(SCHEMA_VERSION).tables.items():
        source = older.get(name, name)
        there = tables.get(source, {})
        if source != name or not columns.keys() <= there.keys():
            chosen = ", ".join(column if column in there else f"NULL AS {column}" for column in columns)
            rows = f"FROM main.{source}" if there else "WHERE FALSE"
            connection.execute(f"CREATE TEMP VIEW {name} AS SELECT {chosen} {rows}")


def old_names(version: str) -> dict[str, str]:
    """Return what the tables that were renamed since *version* were called in it, by their newest name."""
    names: dict[str, str] = {}
    for step in RUN_SCHEMAS.path(version, SCHEMA_VERSION):
        for renamed in filter(None, map(RENAME.match, statements(RUN_SCHEMAS.step_sql(step)))):
            names[renamed[2]] = names.pop(renamed[1], renamed[1])
    return names
