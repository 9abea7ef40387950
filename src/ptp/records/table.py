"""Where a record is kept: its table and columns, declared once on the record itself.

A record class names its `table`, and what the table calls a field (`renamed`). The kind of a column follows from the
field's type. Whoever writes, reads or exports derives from `table_of`.
"""

from __future__ import annotations

from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

import msgspec

Kind = Literal["integer", "real", "boolean", "text", "json", "moment", "number"]

Moment: TypeAlias = Annotated[float, "moment"]
"""Seconds since 1970; a table has it as a UTC timestamp in ISO 8601 with milliseconds."""
Number: TypeAlias = Annotated[int, "number"]
"""The place of something in its run; a table has it as the last part of an id."""
Json: TypeAlias = Any
"""Data that msgspec can write as JSON; a table has it as text."""


class Kept(msgspec.Struct, frozen=True, gc=False):
    """A record that has a table."""

    table: ClassVar[str] = ""
    renamed: ClassVar[dict[str, str]] = {}
    """Column names by field, where they differ."""
    serial: ClassVar[str | None] = None
    """A column that the writer numbers."""
    fixed: ClassVar[dict[str, str]] = {}
    """Columns without a field: the SQL that fills each, where {field} is a field of the record and {run} the run."""
    has_run: ClassVar[bool] = False
    """Whether the table has a column `run_id`."""
    replaces: ClassVar[bool] = False
    """Whether a record takes the place of an older one with the same id."""


class Column(msgspec.Struct, frozen=True):
    """A column, and the field that fills it."""

    name: str
    field: str
    kind: Kind
    optional: bool


class Table(msgspec.Struct, frozen=True):
    """Where records of one type are kept."""

    name: str
    columns: tuple[Column, ...]

    def column(self, field: str) -> str:
        """Return the column of a field."""
        return next(column.name for column in self.columns if column.field == field)


@cache
def table_of(record: type[Kept]) -> Table:
    """Return where records of a type are kept."""
    hints = get_type_hints(record, include_extras=True)
    columns = []
    for field in record.__struct_fields__:
        kind, optional = _kind_of(hints[field])
        columns.append(Column(record.renamed.get(field, field), field, kind, optional))
    return Table(record.table, tuple(columns))


_KINDS: dict[Any, Kind] = {int: "integer", float: "real", bool: "boolean", str: "text"}


def _kind_of(hint: Any) -> tuple[Kind, bool]:
    if get_origin(hint) in (UnionType, Union):
        inner = [part for part in get_args(hint) if part is not NoneType]
        return _kind_of(inner[0])[0], True
    if get_origin(hint) is Annotated:
        kind: Kind = get_args(hint)[1]
        return kind, False
    if get_origin(hint) is Literal:
        return "text", False
    return _KINDS.get(hint, "json"), hint is Any
