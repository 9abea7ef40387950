"""What SQLite and PostgreSQL do each in a way of its own; stamp, drift and migration work on any such database."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

from ptp.versioning.schema import Schemas
from ptp.versioning.shape import Column, Shape


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

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a statement, its placeholders written as question marks, and return the rows it gives."""

    def has_table(self, name: str) -> bool:
        """Whether the database itself has a table of that name."""

    def shape(self) -> Shape:
        """Return the shape that the database has."""

    def shape_of(self, version: str) -> Shape:
        """Return the shape that a version should have, with the SQL that creates it."""

    def changing(self) -> AbstractContextManager[object]:
        """Begin a transaction that shuts out whoever else changes the schema."""

    def change_column(self, table: str, column: str, facts: Column, create: str) -> str:
        """Return how a column becomes what it should be; *create* is the SQL of the whole table."""
