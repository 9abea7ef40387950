"""SQLite, as the databases of runs are kept in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import apsw

from ptp.errors import RecordingError, RunUnreadable
from ptp.versioning.schema import RUN_SCHEMAS
from ptp.versioning.shape import OUR_OWN, Column, Index, Shape, View


class SQLite:
    """The open database of a run."""

    schemas = RUN_SCHEMAS
    starts_empty = False
    serial_key = "INTEGER PRIMARY KEY"
    json_type = "TEXT"

    def __init__(self, connection: apsw.Connection, where: object) -> None:
        self.connection = connection
        self.name = self.argument = str(where)

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a statement to its end and return the rows it gives."""
        return list(self.connection.execute(sql, values))

    def has_table(self, name: str) -> bool:
        """Whether the file has such a table; a temporary view of that name is none."""
        return bool(self.rows("SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND lower(name) = ?", name))

    def shape(self) -> Shape:
        """Return the shape of the database; names are in lower case, since SQLite takes them so."""
        shape = Shape({}, {}, {}, {})
        query = "SELECT type, name, tbl_name, sql FROM main.sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid"
        for kind, name, table, text in self.rows(query):
            lowered = name.lower()
            if name.startswith("sqlite_") or table.lower() in OUR_OWN:
                continue
            if kind == "table":
                shape.tables[lowered] = self._columns(name)
            elif kind == "index":
                shape.indexes[lowered] = self._index(name, table)
            elif kind == "view":
                shape.views[lowered] = View(False, text)
            shape.sql[lowered] = text
        return shape

    def _columns(self, table: str) -> dict[str, Column]:
        query = 'SELECT lower(name), upper(type), "notnull", dflt_value, pk FROM pragma_table_xinfo(?)'
        return {
            name: Column(kind, bool(required), default, key)
            for name, kind, required, default, key in self.rows(query, table)
        }

    def _index(self, name: str, table: str) -> Index:
        columns = self.rows("SELECT name FROM pragma_index_info(?) ORDER BY seqno", name)
        ((unique,),) = self.rows('SELECT "unique" FROM pragma_index_list(?) WHERE name = ?', table, name)
        return Index(table.lower(), tuple((column or "").lower() for (column,) in columns), bool(unique))

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
        return SQLite(connection, ":memory:").shape()
    finally:
        connection.close()


@contextmanager
def opened(database: Path, flags: int = apsw.SQLITE_OPEN_READONLY) -> Iterator[SQLite]:
    """Open a database and say in words what SQLite says of it."""
    if not database.exists():
        raise RunUnreadable(f"{database} is missing; restore the file, or name another run")
    connection = None
    try:
        connection = apsw.Connection(str(database), flags=flags)
        connection.set_busy_timeout(5000)
        yield SQLite(connection, database)
    except apsw.BusyError:
        raise RecordingError(f"{database} is used by another program; close it and migrate again") from None
    except (apsw.NotADBError, apsw.CorruptError) as problem:
        raise RunUnreadable(f"{database} is damaged ({problem}); restore it from a copy") from None
    except (apsw.Error, OSError) as problem:
        raise RecordingError(f"{database} can't be used: {problem}; it stays as it is") from None
    finally:
        if connection is not None:
            connection.close()
