"""Holding a run's database against its seal: is this what was recorded?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from ptp.errors import RunUnreadable
from ptp.recording.database import Database
from ptp.recording.seal import SCHEMA, Change, Key, Link, Shape


class Fault(msgspec.Struct, frozen=True):
    """Something that is not as it was recorded."""

    table: str
    batch: int | None
    """The transaction that recorded it, as far as that is known."""
    key: str | None
    """The first row of the table that is concerned."""
    problem: str

    def __str__(self) -> str:
        row = f" {self.key}" if self.key is not None else ""
        return f"{self.table}{row}: {self.problem}" + (f" (batch {self.batch})" if self.batch is not None else "")


class Checked(msgspec.Struct):
    """What the seal says of a database."""

    sealed: bool
    """Whether the run has a seal; runs of older versions have none."""
    links: list[Link] = []
    """The links of the chain, without what they hold."""
    faults: list[Fault] = []

    @property
    def head(self) -> str | None:
        """The digest of the newest link."""
        return self.links[-1].digest if self.links else None


def check_seal(database: Database) -> Checked:
    """Compare every row with what was recorded; of each table the first fault is named."""
    checked = Checked(sealed=False)
    changes: dict[str, list[tuple[int, Change]]] = {}
    for link in _read_links(database):
        checked.sealed = True
        if link.reason == "migrated":  # everything was sealed anew, in another shape
            changes.clear()
        fault = _read_changes(link, checked.links, changes)
        checked.faults += [fault] if fault is not None else []
        link.changes = b""
        checked.links.append(link)
    if checked.sealed:
        checked.faults += _check_schema(database, changes.pop(SCHEMA, []))
        shapes = database.shapes()
        for table in sorted({*shapes, *changes}):
            faults = _check_table(database, table, shapes.get(table), changes.get(table, []))
            checked.faults += [fault for fault in [next(faults, None)] if fault is not None]
    return checked


def _read_links(database: Database) -> Iterator[Link]:
    fields = ", ".join(Link.__struct_fields__)
    for row in database.rows(f"SELECT {fields} FROM seals ORDER BY batch"):
        try:
            yield msgspec.convert(dict(zip(Link.__struct_fields__, row, strict=True)), Link)
        except msgspec.ValidationError as problem:
            raise RunUnreadable(f"the seal can't be read at batch {row[0]}: {problem}") from None


def _read_changes(link: Link, before: list[Link], changes: dict[str, list[tuple[int, Change]]]) -> Fault | None:
    """Sort what a link holds by table, and return what is wrong with the link itself."""
    fault = None
    if link.batch != len(before) + 1:
        fault = Fault("seals", link.batch, str(link.batch), f"batch {len(before) + 1} is missing")
    elif link.chained(before[-1].digest if before else "") != link.digest:
        fault = Fault("seals", link.batch, str(link.batch), "the link is not what was recorded")
    try:
        for change in msgspec.msgpack.decode(link.changes, type=list[Change]):
            changes.setdefault(change.table, []).append((link.batch, change))
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        return fault or Fault("seals", link.batch, str(link.batch), f"what it holds can't be read: {problem}")
    return fault


def _check_schema(database: Database, changes: list[tuple[int, Change]]) -> Iterator[Fault]:
    recorded = [(batch, change.new) for batch, change in changes]
    if not recorded:
        yield Fault(SCHEMA, None, None, "how the tables are declared was not recorded")
    elif recorded[-1][1] != database.schema_digest():
        yield Fault(SCHEMA, recorded[-1][0], None, "the tables are not declared as they were")


def _check_table(
    database: Database, table: str, shape: Shape | None, changes: list[tuple[int, Change]]
) -> Iterator[Fault]:
    recorded: dict[Key, tuple[bytes, int | None]] = {}
    for batch, change in changes:
        for key, old, new in change.rows():
            then, since = recorded.pop(key, (b"", batch))
            if then != old:
                yield Fault(table, since, str(key), f"was not as recorded when batch {batch} changed it")
            if new:
                recorded[key] = (new, batch)
    if shape is None:
        yield Fault(table, None, None, "the table is missing")
        return
    last: Any = None
    try:
        for row in database.rows(f'SELECT * FROM main."{table}"'):
            last = shape.key_of(row)
            digest, since = recorded.pop(last, (b"", None))
            if since is None:
                yield Fault(table, None, str(last), "was not recorded, or under another key")
            elif digest != shape.digest_of(row):
                yield Fault(table, since, str(last), "is not what was recorded")
    except RunUnreadable as problem:
        yield Fault(table, None, None if last is None else str(last), f"can't be read after this row: {problem}")
        return
    for key, (_, since) in recorded.items():
        yield Fault(table, since, str(key), "was recorded and is missing")
