"""Databases of archived runs: packed beside the run, and read from a copy in the cache.

The cache is `<data-dir>/cache/databases/`. A copy is named by its run and by the moment it was packed, so one that is
out of date is never read. Those that nobody asked for longest make room for new ones.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path

from ptp._util.files import check_regular
from ptp.errors import RunUnreadable

SUFFIX = ".gz"
CHUNK = 1 << 20
MOST_RATIO = 100  # times its packed size; those of real runs unpack to some 5 to 30 times
LEAST = 64 << 20  # bytes that any may unpack to
CACHE_BYTES = 2_000_000_000  # what all copies may take; the one that is asked for is kept, however large


def packed_path(database: Path) -> Path:
    """Return where the packed form of a database is."""
    return database.with_name(database.name + SUFFIX)


def is_packed(database: Path) -> bool:
    """Whether a run is archived: its database is there only in packed form."""
    return not database.exists() and packed_path(database).exists()


def unpack(packed: Path, target: Path) -> None:
    """Write the database that *packed* holds; it appears under its name only when it is whole."""
    import gzip

    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        check_regular(packed)
        left = max(LEAST, MOST_RATIO * packed.stat().st_size)
        with gzip.open(packed) as source, open(temporary, "wb") as file:
            while piece := source.read(CHUNK):
                left -= file.write(piece)
                if left < 0:
                    remedy = f"no database packs so well; if you trust it, unpack it with `gunzip {packed}`"
                    raise RunUnreadable(f"{packed} unpacks to more than {MOST_RATIO} times its size; {remedy}")
        os.replace(temporary, target)
    except (gzip.BadGzipFile, EOFError, zlib.error) as problem:
        raise RunUnreadable(f"{packed} is damaged ({problem}); restore it from a copy") from None
    except OSError as problem:
        raise RunUnreadable(
            f"{packed} can't be unpacked to {target.parent}: {problem.strerror or problem}; see `ptp du`"
        ) from None
    finally:
        temporary.unlink(missing_ok=True)


def readable(database: Path, most: int = CACHE_BYTES) -> Path:
    """Return where a run's database can be read: its own file, or of an archived run a copy in the cache."""
    if not is_packed(database):
        return database
    packed, cache = packed_path(database), _cache(database)
    copy = cache / f"{database.parent.name}-{packed.stat().st_mtime_ns}.db"
    if copy.exists():
        os.utime(copy)
        return copy
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise RunUnreadable(f"{cache} can't be made: {problem.strerror}; archived runs are read from there") from None
    forget(database)
    unpack(packed, copy)
    _shrink(cache, copy, most)
    return copy


def forget(database: Path) -> None:
    """Remove a run's copies from the cache."""
    for copy in _cache(database).glob(f"{database.parent.name}-*.db"):
        copy.unlink(missing_ok=True)


def _cache(database: Path) -> Path:
    """Return the cache of the data directory that a run is in; a run that was put elsewhere has its own."""
    records = database.parent.parent
    home = records.parent if records.name == "records" else database.parent
    return home / "cache" / "databases"


def _shrink(cache: Path, newest: Path, most: int) -> None:
    copies = sorted((path for path in cache.glob("*.db") if path != newest), key=lambda path: path.stat().st_mtime_ns)
    total = newest.stat().st_size + sum(path.stat().st_size for path in copies)
    for path in copies:
        if total <= most:
            return
        total -= path.stat().st_size
        path.unlink(missing_ok=True)
