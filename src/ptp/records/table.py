"""Where a record is kept: its table and columns, declared once on the record itself.

A record class names its `table`, and what the table calls a field (`renamed`). The kind of a column follows from the
field's type. Whoever writes, reads or exports derives from `columns_of`.
"""

from __future__ import annotations

from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

import msgspec

Kind = Literal["integer", "real", "boolean", "text", "json", "moment", "number", "blob"]
_KINDS: dict[Any, Kind] = {int: "integer", float: "real", bool: "boolean", str: "text", bytes: "blob"}
RENAMED = {"at": "timestamp"}

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
    """Column names by field, where they differ; `at` is `timestamp` in every table."""
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


@cache
def columns_of(record: type[Kept]) -> tuple[Column, ...]:
    """Return the columns that the fields of a record fill."""
    names, hints = RENAMED | record.renamed, get_type_hints(record, include_extras=True)
    return tuple(Column(names.get(name, name), name, _kind_of(hints[name])) for name in record.__struct_fields__)


def _kind_of(hint: Any) -> Kind:
    if get_origin(hint) in (UnionType, Union):
        return _kind_of(next(part for part in get_args(hint) if part is not NoneType))
    if get_origin(hint) is Annotated:
        kind: Kind = get_args(hint)[1]
        return kind
    return "text" if get_origin(hint) is Literal else _KINDS.get(hint, "json")
