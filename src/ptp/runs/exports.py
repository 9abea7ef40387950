"""A run's tables as files that other programs read."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from ptp.errors import PtpError
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.records import Metadata
from ptp.runs.status import read_status

Format = Literal["json", "csv", "ndjson", "parquet"]
What = Literal["status", "steps", "decisions", "events", "episodes", "metrics", "errors"]
FORMATS: tuple[Format, ...] = get_args(Format)
WHATS: tuple[What, ...] = get_args(What)
MEDIA = {"json": "application/json", "csv": "text/csv; charset=utf-8", "ndjson": "application/x-ndjson",
         "parquet": "application/vnd.apache.parquet"}  # fmt: skip
TABLES = {
    "steps": ("steps", "tick"),
    "decisions": ("action_history", "decision_id"),
    "events": ("events", "tick, event_id"),
    "episodes": ("episodes", "episode"),
    "metrics": ("performance_metrics", "metric_id"),
    "errors": ("errors", "error_id"),
}
JSON_COLUMNS = {"state", "game_state", "decision_context", "detail", "context"}
CHUNK = 1_000  # rows that are written at once

_encode = msgspec.json.Encoder().encode


class ExportImpossible(PtpError):
    """A form needs a package that is not installed."""


def export(directory: RunDirectory, metadata: Metadata, what: What, format: Format) -> Iterator[bytes]:
    """Return the file in pieces; it is read as it is written, so the run may be as long as it likes."""
    if what == "status":
        return _export_status(directory, metadata, format)
    if format == "parquet":
        return _parquet(directory, what)
    return {"json": _json, "csv": _csv, "ndjson": _ndjson}[format](directory, what)


def _export_status(directory: RunDirectory, metadata: Metadata, format: Format) -> Iterator[bytes]:
    status = read_status(directory, metadata)
    if format in ("json", "ndjson"):
        yield _encode(status) + b"\n"
        return
    flat = dict(_flatten("", msgspec.to_builtins(status)))
    if format == "csv":
        yield _csv_rows([list(flat), list(flat.values())])
    else:
        yield _parquet_bytes(list(flat), [tuple(flat.values())])


def _flatten(prefix: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _flatten(f"{prefix}.{name}" if prefix else name, inner)
    else:
        yield prefix, _encode(value).decode() if isinstance(value, list) else value


def _rows(directory: RunDirectory, what: str) -> Iterator[tuple[list[str], list[tuple[Any, ...]]]]:
    """Return the column names with the rows, some at a time; at least once."""
    table, order = TABLES[what]
    with Database(directory.database) as database:
        columns = [row[0] for row in database.rows("SELECT name FROM pragma_table_info(?)", table)]
        rows: list[tuple[Any, ...]] = []
        for row in database.rows(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {order}"):
            rows.append(row)
            if len(rows) == CHUNK:
                yield columns, rows
                rows = []
        yield columns, rows


def _object(columns: Sequence[str], row: Sequence[Any]) -> bytes:
    fields = {
        name: msgspec.Raw(value.encode()) if name in JSON_COLUMNS and isinstance(value, str) and value else value
        for name, value in zip(columns, row, strict=True)
    }
    return _encode(fields)


def _ndjson(directory: RunDirectory, what: str) -> Iterator[bytes]:
    for columns, rows in _rows(directory, what):
        yield b"".join(_object(columns, row) + b"\n" for row in rows)


def _json(directory: RunDirectory, what: str) -> Iterator[bytes]:
    head = b'{"run_id": ' + _encode(directory.run_id) + b', "' + what.encode() + b'": [\n'
    for columns, rows in _rows(directory, what):
        if rows:
            yield head + b",\n".join(_object(columns, row) for row in rows)
            head = b",\n"
    if head != b",\n":
        yield head
    yield b"\n]}\n"


def _csv(directory: RunDirectory, what: str) -> Iterator[bytes]:
    first = True
    for columns, rows in _rows(directory, what):
        yield _csv_rows([columns, *rows] if first else rows)
        first = False


def _csv_rows(rows: Sequence[Sequence[Any]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def _parquet(directory: RunDirectory, what: str) -> Iterator[bytes]:
    pieces = list(_rows(directory, what))
    yield _parquet_bytes(pieces[0][0], [row for _, rows in pieces for row in rows])


def _parquet_bytes(columns: list[str], rows: list[tuple[Any, ...]]) -> bytes:
    try:
        import polars
    except ImportError:
        raise ExportImpossible("Parquet needs polars; install it with `pip install polars`, or choose csv") from None
    file = io.BytesIO()
    frame = polars.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None, strict=False)
    frame.write_parquet(file)
    return file.getvalue()


def write_export(directory: RunDirectory, metadata: Metadata, what: What, format: Format, path: Path) -> int:
    """Write the file and return its size."""
    size = 0
    with open(path, "wb") as file:
        for piece in export(directory, metadata, what, format):
            size += file.write(piece)
    return size
