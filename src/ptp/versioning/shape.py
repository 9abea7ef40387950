"""The shape of a database: everything of it that can drift."""

from __future__ import annotations

from typing import NamedTuple


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


class Index(NamedTuple):
    """One index that somebody asked for."""

    table: str
    columns: str
    """With commas between them."""
    unique: bool


class View(NamedTuple):
    """A query with a name; PostgreSQL can keep its result."""

    materialized: bool
    query: str


class Shape(NamedTuple):
    """The tables, indexes and views of a database, by name."""

    tables: dict[str, dict[str, Column]]
    indexes: dict[str, Index]
    views: dict[str, View]
