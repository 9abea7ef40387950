"""Tables of runs as data frames: one schema for each, whatever world, agent or older schema a run has.

What differs between worlds (`state`, `info`, `detail`, `context`) is JSON text, which keeps the schemas equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any

from ptp.errors import UsageError
from ptp.recording.database import Database
from ptp.recording.directory import RunDirectory
from ptp.records import table_of
from ptp.records.table import Kept
from ptp.runs.tables import Moments, fetch, id_of, order_of, select

if TYPE_CHECKING:
    import polars

CHUNK = 10_000  # rows that are held at a time
TYPES = {"integer": "Int64", "real": "Float64", "boolean": "Boolean", "text": "String", "json": "String",
         "number": "String"}  # fmt: skip
Row = tuple[Any, ...]


def columns_of(record: type[Kept]) -> dict[str, str]:
    """Return the columns of a table and their kinds: the run first, then the record's id where no field has it."""
    name = id_of(record)
    ids = {"run_id": "text"} | ({} if name is None else {name: "text"})
    return ids | {column.name: column.kind for column in table_of(record).columns}


def rows_of(
    runs: Sequence[RunDirectory], record: type[Kept], moments: Moments = "text", rest: str = "", values: Row = ()
) -> Iterator[Row]:
    """Return the rows of a table of several runs, one run after the other."""
    name = id_of(record)
    for run in runs:
        query = select(record, moments, "?", *([] if name is None else [name]))
        with Database(run.database) as database:
            yield from fetch(database, record, f"{query} {rest} {order_of(record)}", run.run_id, *values)


def schema_of(record: type[Kept]) -> dict[str, Any]:
    """Return the types of a table's columns."""
    polars = needed("polars")
    moment = polars.Datetime("ms", "UTC")
    return {
        name: moment if kind == "moment" else getattr(polars, TYPES[kind]) for name, kind in columns_of(record).items()
    }


def frames_of(
    runs: Sequence[RunDirectory], record: type[Kept], rest: str = "", values: Row = ()
) -> Iterator[polars.DataFrame]:
    """Return a table in pieces that fit into memory; the first is empty."""
    polars = needed("polars")
    schema = schema_of(record)
    kinds = columns_of(record)
    raw = {name: polars.Int64 if kinds[name] in ("moment", "boolean") else kind for name, kind in schema.items()}
    rows = rows_of(runs, record, "milliseconds", rest, values)
    yield polars.DataFrame(schema=schema)
    while part := list(islice(rows, CHUNK)):
        yield polars.DataFrame(part, schema=raw, orient="row", strict=False).cast(schema)


def needed(package: str) -> Any:
    """Return a package that is optional, or say how to get it."""
    try:
        return import_module(package)
    except ImportError:
        raise UsageError(f"this needs {package}; install it with `pip install {package}`") from None
