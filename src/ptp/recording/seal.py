"""The seal: a hash chain over every change of a run's database, its links written in the transaction that they seal.

A link names each row that was inserted, changed or removed, with a digest of the row before and after. So every row
that is there now, and every row that is not, can be held against what was recorded, whatever was rolled back or pruned
in between. The digest of the newest link, the head, stands for all of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from ptp._util.clock import iso
from ptp._util.lazy import lazy
from ptp.records import Record, columns_of
from ptp.records.table import Kept, Kind

if TYPE_CHECKING:
    import apsw
else:
    apsw = lazy("apsw")

Key: TypeAlias = Any
"""What tells a row from the others of its table: the value of its primary key, or a tuple of several."""
Why = Literal[
    "started", "recorded", "rolled back", "resumed", "forked", "adopted", "settings", "ended", "pruned", "migrated"
]
MAINTENANCE = frozenset({"pruned", "migrated"})
"""What may be done to a run that has ended."""

SCHEMA = "sqlite_schema"
"""What is sealed like a table with one row: which tables, columns, indexes and views there are."""
SIZE = 16  # bytes of a row's digest
LOT = 20_000  # rows that are looked at together; tape digests depend on it
_pack = msgspec.msgpack.encode


def digest_of(row: Sequence[Any]) -> bytes:
    """Return the digest of a row, its values as they were recorded."""
    return blake2b(_pack(row), digest_size=SIZE).digest()


_RECORDED: dict[Kind, Callable[[Any], Any]] = {
    "real": lambda value: float(value) if type(value) is int and int(float(value)) == value else value,
    "boolean": lambda value: bool(value) if value in (0, 1) else value,
}


class Shape:
    """What tells the rows of a table apart, and how SQLite's values become those that were recorded.

    SQLite has no booleans, and keeps a whole number in a column of decimals as an integer.
    """

    def __init__(self, connection: apsw.Connection, table: str) -> None:
        columns: list[Any] = connection.execute("SELECT name, pk FROM pragma_table_info(?)", (table,)).fetchall()
        places = sorted((pk, place) for place, (_, pk) in enumerate(columns) if pk)
        self._key = [place for _, place in places] or list(range(len(columns)))
        kinds = {column.name: column.kind for column in _COLUMNS.get(table, ())}
        kept = [(place, _RECORDED.get(kinds.get(name, "text"))) for place, (name, _) in enumerate(columns)]
        self._recorded = [(place, change) for place, change in kept if change is not None]

    def key_of(self, row: Sequence[Any]) -> Key:
        """Return what tells a row from the others of its table."""
        key = tuple(row[place] for place in self._key)
        return key[0] if len(key) == 1 else key

    def digest_of(self, row: Sequence[Any]) -> bytes:
        """Return the digest of a row as SQLite has it."""
        values = list(row)
        for place, recorded in self._recorded:
            values[place] = recorded(values[place])
        return digest_of(values)


_COLUMNS = {record.table: columns_of(record) for record in Record.__args__ if issubclass(record, Kept)}


def shapes(connection: apsw.Connection) -> dict[str, Shape]:
    """Return every table that is sealed."""
    tables: list[Any] = connection.execute(
        "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name != 'seals' AND name NOT GLOB 'sqlite_*'"
    ).fetchall()
    return {table: Shape(connection, table) for (table,) in tables}


def schema_digest(connection: apsw.Connection) -> bytes:
    """Return the digest of how tables, indexes and views are declared: under other names, values mean another thing."""
    query = f"SELECT type, name, tbl_name, sql FROM main.{SCHEMA} WHERE name NOT GLOB 'sqlite_*' ORDER BY type, name"
    return digest_of(connection.execute(query).fetchall())


class Change(msgspec.Struct, array_like=True):
    """Rows of one table that were inserted (no old digests), changed, or removed (no new ones)."""

    table: str
    old: bytes
    new: bytes
    keys: list[Key]
    first: int = 0
    """Without keys: they are numbers that follow on this one."""
    prefix: str = ""
    """What stands before such a number in an id."""

    def rows(self) -> Iterator[tuple[Key, bytes, bytes]]:
        """Return key, old digest and new digest of each row."""
        count = max(len(self.old), len(self.new)) // SIZE
        keys = [tuple(key) if isinstance(key, list) else key for key in self.keys]
        for at, key in enumerate(keys or _keys(range(self.first, self.first + count), self.prefix)):
            place = slice(at * SIZE, at * SIZE + SIZE)
            yield key, self.old[place], self.new[place]


def _keys(numbers: Sequence[int], prefix: str) -> list[Key]:
    return [f"{prefix}{number:012x}" for number in numbers] if prefix else list(numbers)


class Link(msgspec.Struct):
    """One transaction: what it changed, and what binds it to the one before."""

    batch: int
    timestamp: str
    tick: int
    records: int
    reason: str
    note: str | None
    """JSON: whom a fork comes from."""
    changes: bytes
    digest: str

    def chained(self, before: str) -> str:
        """Return the digest that belongs here after the link *before*."""
        held = (before, self.batch, self.timestamp, self.tick, self.records, self.reason, self.note, self.changes)
        return blake2b(_pack(held), digest_size=32).hexdigest()


class Seal:
    """The head of a run's chain, and what its next link will hold."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self._shapes: dict[str, Shape] = {}
        self._changes: list[Change] = []
        self._watched: dict[str, dict[Key, list[bytes]]] = {}
        newest: list[Any] = connection.execute("SELECT batch, digest FROM seals ORDER BY batch DESC LIMIT 1").fetchall()
        self.batch: int = newest[0][0] if newest else 0
        self.head: str = newest[0][1] if newest else ""

    def inserted(self, table: str, numbers: list[int], rows: Sequence[Sequence[Any]], prefix: str) -> None:
        """Note rows that were inserted, as they were recorded; *prefix* and a number make the key of each."""
        self._settle()
        digests, first = b"".join(map(digest_of, rows)), numbers[0]
        keys = [] if numbers == list(range(first, first + len(rows))) else _keys(numbers, prefix)
        self._changes.append(Change(table, b"", digests, keys, first, prefix))

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Note every row that is inserted, changed or removed."""
        self.connection.preupdate_hook(self._note)
        try:
            yield
        finally:
            self.connection.preupdate_hook(None)

    @contextmanager
    def change(self, reason: Why, tick: int, note: Any = None) -> Iterator[None]:
        """Do something to the database and seal it, in one transaction."""
        before = self.batch, self.head
        try:
            with self.connection:
                with self.watching():
                    yield
                self.link(reason, tick, 0, note)
        except BaseException:
            self.batch, self.head = before
            self._changes, self._watched = [], {}
            raise

    def link(self, reason: Why, tick: int, records: int, note: Any = None) -> None:
        """Add a link for everything noted since the last one."""
        self._settle()
        if not self._changes:
            return
        self.batch += 1
        said = None if note is None else msgspec.json.encode(note).decode()
        link = Link(self.batch, iso(time.time()), tick, records, reason, said, _pack(self._changes), "")
        self._changes = []
        link.digest = self.head = link.chained(self.head)
        self.connection.execute("INSERT INTO seals VALUES (?, ?, ?, ?, ?, ?, ?, ?)", msgspec.structs.astuple(link))

    def everything(self) -> None:
        """Note every row that is there, as if it were new, and how the tables are declared."""
        self._watched = {}
        self._changes.append(Change(SCHEMA, b"", schema_digest(self.connection), [SCHEMA]))
        for table, shape in shapes(self.connection).items():
            rows: Iterator[Any] = self.connection.execute(f'SELECT * FROM main."{table}"')
            while some := list(islice(rows, LOT)):
                digests = b"".join(map(shape.digest_of, some))
                self._changes.append(Change(table, b"", digests, [shape.key_of(row) for row in some]))

    def _note(self, update: apsw.PreUpdate) -> None:
        table = update.table_name
        if update.database_name != "main" or table == "seals":
            return
        if table not in self._shapes:
            self._shapes = shapes(self.connection)
        shape, watched = self._shapes[table], self._watched.setdefault(table, {})
        if update.old is not None:
            watched.setdefault(shape.key_of(update.old), [shape.digest_of(update.old), b""])[1] = b""
        if update.new is not None:
            watched.setdefault(shape.key_of(update.new), [b"", b""])[1] = shape.digest_of(update.new)

    def _settle(self) -> None:
        """Turn the rows that were watched into changes: one for each thing that can become of a row."""
        for table, watched in self._watched.items():
            groups: dict[tuple[bool, bool], list[tuple[Key, bytes, bytes]]] = {}
            for key, (old, new) in watched.items():
                if old != new:
                    groups.setdefault((bool(old), bool(new)), []).append((key, old, new))
            for rows in groups.values():
                keys, olds, news = zip(*rows, strict=True)
                self._changes.append(Change(table, b"".join(olds), b"".join(news), list(keys)))
        self._watched = {}


def tape_digest(connection: apsw.Connection) -> str:
    """Return the digest of how episodes began, what was commanded, and what came of it: equal play, equal digest."""
    digest = blake2b(digest_size=32)
    for query in (
        "SELECT episode, tick, seed, options FROM episode_starts ORDER BY episode",
        "SELECT tick, episode, command, state_hash FROM steps ORDER BY tick",
    ):
        rows: Iterator[Any] = connection.execute(query)
        while some := list(islice(rows, LOT)):
            digest.update(_pack(some))
    return digest.hexdigest()
