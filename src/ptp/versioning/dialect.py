"""What SQLite and PostgreSQL do each in a way of its own, and the shape of a database: all of it that can drift."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from ptp.versioning.schema import Schemas


class Column(NamedTuple):
    """One column, as its table declares it."""

    type: str
    required: bool
    default: str | None
    key: int

    def __str__(self) -> str:
        return f"{self.type or 'ANY'}{' NOT NULL' * self.required}{' PRIMARY KEY' * bool(self.key)}"

    @property
    def definition(self) -> str:
        """What a statement that adds it says of it."""
        return f"{self.type}{f' DEFAULT {self.default}' if self.default else ''}{' NOT NULL' * self.required}"


class View(NamedTuple):
    """A query with a name; PostgreSQL can keep its result."""

    materialized: bool
    query: str


class Shape(NamedTuple):
    """The tables, indexes and views of a database, by name."""

    tables: dict[str, dict[str, Column]]
    indexes: dict[str, tuple[str, str, bool]]
    """The table of each, its columns with commas between them, and whether it is unique."""
    views: dict[str, View]


class Dialect(Protocol):
    """One open database, spoken to in its own SQL."""

    schemas: Schemas
    name: str
    """Where the database is, for messages."""
    argument: str
    """What names it on a command line."""
    starts_empty: bool
    """Whether a database without tables is given them by its first migration."""
    serial_key: str
    json_type: str
    columns_query: str
    """Gives table, column, type, whether it is required, default, and place in the primary key."""
    indexes_query: str
    """Gives name, table, columns with commas between them, and whether it is unique."""
    views_query: str
    """Gives name, whether it is materialized, and query."""

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a statement, its placeholders written as question marks, and return the rows it gives."""

    def has_table(self, name: str) -> bool:
        """Whether the database itself has a table of that name."""

    def shape_of(self, version: str) -> Shape:
        """Return the shape that a version should have."""

    def changing(self) -> AbstractContextManager[object]:
        """Begin a transaction that shuts out whoever else changes the schema."""

    def change_column(self, table: str, column: str, facts: Column, create: str) -> str:
        """Return how a column becomes what it should be; *create* is the SQL of the whole table."""


def read_shape(db: Dialect) -> Shape:
    """Return the shape that a database has; the log of its migrations belongs to no version."""
    tables: dict[str, dict[str, Column]] = {}
    for table, column, kind, required, default, key in db.rows(db.columns_query):
        if table != "_migrations":
            tables.setdefault(table, {})[column] = Column(kind.upper(), bool(required), default, key)
    indexes = {name: (table, columns, bool(unique)) for name, table, columns, unique in db.rows(db.indexes_query)}
    views = {name: View(bool(materialized), query) for name, materialized, query in db.rows(db.views_query)}
    return Shape(tables, indexes, views)
