"""Tables of runs, read when they are looked at: as records, as rows, or as data frames.

Every query is derived from the one declaration of a record's table, so a table has one schema for every world, agent
and older schema that a run may have. Where an older run lacks a value, the field is None: nothing is made up. The title
of an old event is made from its details. What differs between worlds (`state`, `info`, `detail`, `context`) is JSON
text in rows and frames, which keeps the schemas equal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from itertools import islice
from types import NoneType
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import msgspec

from ptp._util.clock import iso
from ptp._util.lazy import lazy
from ptp.errors import RunUnreadable, UsageError
from ptp.recording.database import Database
from ptp.recording.directory import RunDirectory
from ptp.records import Event, columns_of
from ptp.records.table import Kept
from ptp.worlds.knowledge import old_title

if TYPE_CHECKING:
    import html

    import polars
else:
    html = lazy("html")  # only a notebook needs it

R = TypeVar("R", bound=Kept)
State = dict[str, Any]
Moments = Literal["seconds", "milliseconds", "text"]

MOMENTS: dict[Moments, str] = {
    "seconds": "unixepoch({}, 'subsec')",
    "milliseconds": "CAST(round(1000 * unixepoch({}, 'subsec')) AS INTEGER)",
    "text": "strftime('%Y-%m-%dT%H:%M:%fZ', {})",
}
_NUMBERED = re.compile(r"[0-9a-f-]{24}([0-9a-f]{12})")
ERROR_TICK = "coalesce(tick, CASE WHEN json_valid(context) THEN context ->> 'tick' END)"
OLDER = {
    ("events", "place"): "coalesce(place, CAST(substr(event_id, -2) AS INTEGER))",
    ("events", "title"): "coalesce(title, title_of(kind, detail))",
    ("errors", "tick"): ERROR_TICK,
}
"""What stands in for columns that older schemas lack."""
CHUNK = 10_000  # rows that are held at a time
SHOWN = 10  # rows that a notebook shows
TYPES = {"integer": "Int64", "real": "Float64", "boolean": "Boolean"}  # of frames; every other kind is a String
Row = tuple[Any, ...]


def read(database: Database, record: type[R], rest: str = "", *values: Any) -> Iterator[R]:
    """Return the records of a type; *rest* is what follows FROM, by default the order in which they happened."""
    return map(_maker(record), fetch(database, record, f"{select(record)} {rest or order_of(record)}", *values))


def read_named(database: Database, record: type[R], rest: str = "", *values: Any) -> Iterator[tuple[str, R]]:
    """Return the same, each with the id that its row has."""
    make = _maker(record)
    query = select(record, "seconds", id_of(record) or columns_of(record)[0].name)
    for name, *row in fetch(database, record, f"{query} {rest or order_of(record)}", *values):
        yield name, make(row)


def fetch(database: Database, record: type[Kept], sql: str, *values: Any) -> Iterator[tuple[Any, ...]]:
    """Return the rows of a query that `select` began."""
    if record is Event:
        database.define("title_of", lambda kind, detail: old_title(str(kind or "event"), as_state(decode_text(detail))))
    return database.rows(sql, *values)


@cache
def select(record: type[Kept], moments: Moments = "seconds", *first: str) -> str:
    """Return the SELECT that gives a record's fields, after the columns *first*."""
    wanted = list(first)
    for column in columns_of(record):
        own = OLDER.get((record.table, column.name), column.name)
        wanted.append(MOMENTS[moments].format(own) if column.kind == "moment" else own)
    return f"SELECT {', '.join(wanted)} FROM {record.table}"


def id_of(record: type[Kept]) -> str | None:
    """Return the column that names a record and that no field fills."""
    return record.serial or next((name for name in record.fixed if name.endswith("_id")), None)


def order_of(record: type[Kept]) -> str:
    """Return the order in which records of a type happened."""
    if record is Event:
        return "ORDER BY tick, event_id"
    return f"ORDER BY {record.serial or columns_of(record)[0].name}"


@cache
def _maker(record: type[R]) -> Callable[[Sequence[Any]], R]:
    columns = columns_of(record)
    changes = [(place, CHANGES[it.kind]) for place, it in enumerate(columns) if it.kind in CHANGES]
    allowed = [STORED[it.kind] for it in columns]

    def make(row: Sequence[Any]) -> R:
        values = list(row)
        for value, kinds, column in zip(values, allowed, columns, strict=True):
            if type(value) not in kinds:
                about = f"{record.table}.{column.name} of {values[0]!r} can't be read"
                raise RunUnreadable(f"{about}: it is {str(value)[:60]!r}; restore the run from a copy")
        for place, change in changes:
            values[place] = change(values[place])
        return record(*values)

    return make


def number_of(name: str | None) -> int | None:
    """Return the number that an id was made of: its last twelve digits; the ids of older runs have none."""
    found = _NUMBERED.fullmatch(name or "")
    return None if found is None else int(found[1], 16)


# -- values, in the form they have today -------------------------------------------------------------------------


def decode_text(text: str | None) -> Any:
    """Return stored JSON as what it says; what an older run kept as plain words stays so."""
    if text is None:
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, TypeError):
        return text


def as_state(value: Any) -> State:
    """Return a state as an object; one of another form is kept under `observation`."""
    if value is None or value == "":
        return {}
    return value if isinstance(value, dict) else {"observation": value}


def stamp(at: float | None) -> str | None:
    """Return a moment as text; null where an older run kept none."""
    return None if at is None else iso(at)


def as_json(value: Any) -> str:
    """Return data as JSON text."""
    return msgspec.json.encode(value).decode()


CHANGES: dict[str, Callable[[Any], Any]] = {
    "number": number_of,
    "boolean": lambda value: None if value is None else bool(value),
    "json": decode_text,
}


STORED: dict[str, tuple[type, ...]] = {
    "integer": (int, NoneType), "boolean": (int, NoneType), "real": (float, int, NoneType), "text": (str, NoneType),
    "moment": (float, int, NoneType), "json": (str, NoneType), "number": (str, NoneType),
}  # fmt: skip
"""What SQLite may give for a column; anything else is damage."""


# -- whole tables ----------------------------------------------------------------------------------------------


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
            query = f"SELECT count(*) FROM {self._record.table} {self._where}"
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
        head = "".join(f"<th>{field}</th>" for field in self._record.__struct_fields__)
        body = ""
        for record in islice(self, SHOWN):
            texts = ("" if value is None else str(value) for value in msgspec.structs.astuple(record))
            cells = (html.escape(text if len(text) <= 60 else text[:59] + "…") for text in texts)
            body += f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
        about = html.escape(repr(self)[1:-1])
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{about}</p>"


def kinds_of(record: type[Kept]) -> dict[str, str]:
    """Return the columns of a table and their kinds: the run first, then the record's id where no field has it."""
    name = id_of(record)
    ids = {"run_id": "text"} | ({} if name is None else {name: "text"})
    return ids | {column.name: column.kind for column in columns_of(record)}


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
    types = {kind: getattr(polars, name) for kind, name in TYPES.items()} | {"moment": polars.Datetime("ms", "UTC")}
    return {name: types.get(kind, polars.String) for name, kind in kinds_of(record).items()}


def frames_of(
    runs: Sequence[RunDirectory], record: type[Kept], rest: str = "", values: Row = ()
) -> Iterator[polars.DataFrame]:
    """Return a table in pieces that fit into memory; the first is empty."""
    polars, schema, kinds = needed("polars"), schema_of(record), kinds_of(record)
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
