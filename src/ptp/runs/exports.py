"""Tables of runs as files that other programs read.

A table has one schema for every run. `state`, `info`, `detail` and `context` are JSON text in CSV and Parquet, since
their fields differ between worlds, and nested in JSON.
"""

from __future__ import annotations

import csv
import io
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain, islice
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_type_hints

import msgspec

from ptp import records
from ptp.errors import UsageError
from ptp.records.table import Kept
from ptp.runs.run import Run
from ptp.runs.status import Status, read_status
from ptp.runs.tables import CHUNK, Row, as_json, decode_text, frames_of, kinds_of, needed, rows_of, schema_of

Format = Literal["json", "csv", "ndjson", "parquet", "sqlite"]
What = Literal[
    "status", "steps", "decisions", "events", "episodes", "episode_starts", "metrics", "resources",
    "transitions", "learning", "frames", "model_calls", "snapshots", "config_changes", "rewinds", "notices", "errors",
]  # fmt: skip
FORMATS: tuple[Format, ...] = get_args(Format)
WHATS: tuple[What, ...] = get_args(What)
MEDIA = {"json": "application/json", "csv": "text/csv; charset=utf-8", "ndjson": "application/x-ndjson",
         "parquet": "application/vnd.apache.parquet", "sqlite": "application/vnd.sqlite3"}  # fmt: skip
TABLES: dict[str, type[Kept]] = {
    "steps": records.Step,
    "decisions": records.DecisionMade,
    "events": records.Event,
    "episodes": records.EpisodeEnded,
    "episode_starts": records.EpisodeBegan,
    "metrics": records.Metric,
    "resources": records.ResourceUse,
    "transitions": records.Transition,
    "learning": records.EpisodeLearnt,
    "frames": records.FrameKept,
    "model_calls": records.ModelCall,
    "snapshots": records.SnapshotTaken,
    "config_changes": records.ConfigChanged,
    "rewinds": records.Rewound,
    "notices": records.Notice,
    "errors": records.ErrorSeen,
}
RESERVED = ("runs", "decisions")  # tables of the central database
PIECE = 1 << 20  # bytes of a file that are handed on at once

_encode = msgspec.json.Encoder().encode


def check_names(names: Sequence[str]) -> None:
    """Refuse the names that are kept for tables of the central database."""
    for name in names:
        if name in RESERVED:
            raise UsageError(f"{name!r} names a table of the central database, not a run; see `ptp db --help`")


def export(runs: Sequence[Run], what: What, format: Format) -> Iterator[bytes]:
    """Return the file in pieces; it is read as it is written, so runs may be as long and as many as they like."""
    if what == "status" and format == "sqlite":
        raise UsageError("the status is no table; choose one with --what, or another --format")
    if what == "status":
        return _status(runs, format)
    record = TABLES[what]
    if format == "parquet":
        return _parquet(runs, record)
    if format == "sqlite":
        return _sqlite(runs, record, what)
    rows = rows_of([run.directory for run in runs], record)
    return {"json": _json, "csv": _csv, "ndjson": _ndjson}[format](rows, kinds_of(record), what)


def write_export(runs: Sequence[Run], what: What, format: Format, path: Path) -> int:
    """Write the file and return its size."""
    with open(path, "wb") as file:
        return sum(map(file.write, export(runs, what, format)))


def _parts(rows: Iterator[Row]) -> Iterator[list[Row]]:
    """Return rows some at a time; at least once."""
    return chain([list(islice(rows, CHUNK))], iter(lambda: list(islice(rows, CHUNK)), []))


def _object(kinds: dict[str, str], row: Row) -> bytes:
    return _encode({name: _nested(kind, value) for (name, kind), value in zip(kinds.items(), row, strict=True)})


def _nested(kind: str, value: Any) -> Any:
    if kind == "json":
        return decode_text(value)
    return bool(value) if kind == "boolean" and value is not None else value


def _flat(kind: str, value: Any) -> Any:
    return ("true" if value else "false") if kind == "boolean" and value is not None else value


def _ndjson(rows: Iterator[Row], kinds: dict[str, str], what: str) -> Iterator[bytes]:
    for part in _parts(rows):
        yield b"".join(_object(kinds, row) + b"\n" for row in part)


def _json(rows: Iterator[Row], kinds: dict[str, str], what: str) -> Iterator[bytes]:
    head = b'{"' + what.encode() + b'": [\n'
    for part in _parts(rows):
        yield head + b",\n".join(_object(kinds, row) for row in part)
        head = b",\n"
    yield b"\n]}\n"


def _csv(rows: Iterator[Row], kinds: dict[str, str], what: str) -> Iterator[bytes]:
    yield _csv_rows([list(kinds)])
    for part in _parts(rows):
        yield _csv_rows([[_flat(kind, it) for kind, it in zip(kinds.values(), row, strict=True)] for row in part])


def _csv_rows(rows: Sequence[Sequence[Any]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def _parquet(runs: Sequence[Run], record: type[Kept]) -> Iterator[bytes]:
    """Return a Parquet file, which is written piece by piece to a temporary one first: its index comes at the end."""
    schema = schema_of(record)
    frames = frames_of([run.directory for run in runs], record)
    source = needed("polars.io.plugins").register_io_source(lambda *hints: frames, schema=schema)
    with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
        source.sink_parquet(file.name, row_group_size=CHUNK)
        while piece := file.read(PIECE):
            yield piece


def _sqlite(runs: Sequence[Run], record: type[Kept], what: What) -> Iterator[bytes]:
    """Return an SQLite database with the one table, which is written to a temporary file first."""
    kinds = {"integer": "INTEGER", "boolean": "INTEGER", "real": "REAL"}
    columns = [f'"{name}" {kinds.get(kind, "TEXT")}' for name, kind in kinds_of(record).items()]
    with tempfile.NamedTemporaryFile(suffix=".sqlite") as file:
        with closing(sqlite3.connect(file.name)) as database, database:
            database.execute(f"CREATE TABLE {what} ({', '.join(columns)})")
            places = ", ".join("?" * len(columns))
            rows = rows_of([run.directory for run in runs], record)
            database.executemany(f"INSERT INTO {what} VALUES ({places})", rows)
        while piece := file.read(PIECE):
            yield piece


# -- how runs stand --------------------------------------------------------------------------------------------


def _status(runs: Sequence[Run], format: Format) -> Iterator[bytes]:
    statuses = [read_status(run.directory, run.metadata) for run in runs]
    if format == "json" and len(statuses) != 1:
        yield _encode(statuses) + b"\n"
    elif format in ("json", "ndjson"):
        yield b"".join(_encode(status) + b"\n" for status in statuses)
    else:
        flat = [dict(_flatten(status)) for status in statuses]
        if format == "csv":
            yield _csv_rows([list(flat[0]), *(list(row.values()) for row in flat)])
        else:
            file = io.BytesIO()
            polars = needed("polars")
            schema = {name: getattr(polars, kind) for name, kind in _flat_types(Status)}
            polars.DataFrame(flat, schema=schema).write_parquet(file)
            yield file.getvalue()


def _flat_types(kind: type, prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, hint in get_type_hints(kind).items():
        if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
            yield from _flat_types(hint, f"{name}.")
        else:
            among = {hint, *get_args(hint)}
            yield prefix + name, "Float64" if float in among else "Int64" if int in among else "String"


def _flatten(status: msgspec.Struct, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in msgspec.structs.asdict(status).items():
        if isinstance(value, msgspec.Struct) and not prefix:
            yield from _flatten(value, f"{name}.")
        else:
            yield prefix + name, value if isinstance(value, (str, int, float, NoneType)) else as_json(value)
