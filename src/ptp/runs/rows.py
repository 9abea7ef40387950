"""Tables of runs, read when they are looked at: as records, as rows, or as data frames.

A table has one schema for every world, agent and older schema that a run may have. What differs between worlds
(`state`, `info`, `detail`, `context`) is JSON text in rows and frames, which keeps the schemas equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic

from ptp._util.lazy import lazy
from ptp.errors import UsageError
from ptp.recording.database import Database
from ptp.recording.directory import RunDirectory
from ptp.records import table_of
from ptp.records.table import Kept
from ptp.runs.tables import Moments, R, fetch, id_of, order_of, read, select

if TYPE_CHECKING:
    import html

    import polars
else:
    html = lazy("html")  # only a notebook needs it

CHUNK = 10_000  # rows that are held at a time
SHOWN = 10  # rows that a notebook shows
TYPES = {"integer": "Int64", "real": "Float64", "boolean": "Boolean", "text": "String", "json": "String",
         "number": "String"}  # fmt: skip
Row = tuple[Any, ...]


class Rows(Generic[R]):
    """The records of one type in a run, in the order in which they happened; of a live run, as many as there are now.

    A table that older schemas lack is empty, and a value that they lack is None.
    """

    def __init__(self, directory: RunDirectory, record: type[R], where: str = "TRUE", *values: Any) -> None:
        self._directory = directory
        self._record = record
        self._where = f"WHERE {where}"
        self._values = values

    def __iter__(self) -> Iterator[R]:
        with Database(self._directory.database) as database:
            yield from read(database, self._record, f"{self._where} {order_of(self._record)}", *self._values)

    def __len__(self) -> int:
        with Database(self._directory.database) as database:
            query = f"SELECT count(*) FROM {table_of(self._record).name} {self._where}"
            return int(database.row(query, *self._values)[0])

    def to_list(self) -> list[R]:
        """Return every record."""
        return [*iter(self)]

    def to_polars(self) -> polars.DataFrame:
        """Return a frame whose columns have the same names and types for every run, as `ptp export` writes them."""
        frames = frames_of([self._directory], self._record, self._where, self._values)
        frame: polars.DataFrame = needed("polars").concat(frames)
        return frame

    def to_pandas(self) -> Any:
        """Return the same as a pandas frame."""
        return needed("pandas").DataFrame(self.to_polars().to_dict(as_series=False))

    def __repr__(self) -> str:
        return f"<{len(self):,} {self._record.__name__} records of run {self._directory.run_id}>"

    def _repr_html_(self) -> str:
        fields = self._record.__struct_fields__
        head = "".join(f"<th>{field}</th>" for field in fields)
        cells = ([_cell(getattr(record, field)) for field in fields] for record in islice(self, SHOWN))
        body = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{html.escape(repr(self)[1:-1])}</p>"
        )


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return f"<td>{html.escape(text if len(text) <= 60 else text[:59] + '…')}</td>"


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
