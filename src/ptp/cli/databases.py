"""Which databases a command line means, runs' own or the central one, and migrating one as its owner."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import msgspec

from ptp._util.files import write_atomic
from ptp.aggregation.server import Central
from ptp.cli.parser import Options
from ptp.errors import RecordingError, RunUnreadable, UsageError
from ptp.recording import RunDirectory
from ptp.recording.directory import run_paths
from ptp.runs import find_run
from ptp.versioning.backup import migrate_file
from ptp.versioning.dialect import Dialect
from ptp.versioning.migration import OnProgress, Plan
from ptp.versioning.schema import NO_VERSION
from ptp.versioning.sqlite import opened
from ptp.versioning.stamp import read_version


def find_central(options: Options) -> Central:
    """Return the central database that a command line means."""
    return Central(options.folder, options.database_url)


def refuse_with_central(**given: object) -> None:
    """Refuse what belongs to run databases beside --central."""
    for name, value in given.items():
        if value:
            word = f"--{name.replace('_', '-')}" if name.islower() else name
            raise UsageError(f"{word} and --central can't be combined; leave one out")


def find_databases(folder: Path, names: Sequence[str]) -> list[Path]:
    """Return the databases that runs, directories, files or patterns name; those of all runs when none is named."""
    if not names:
        return [path / "game_data.db" for path in reversed(run_paths(folder))]
    return list(dict.fromkeys(path for name in names for path in _databases(folder, name)))


def _databases(folder: Path, name: str) -> list[Path]:
    if Path(name).is_file():
        return [Path(name)]
    if (Path(name) / "game_data.db").is_file():
        return [Path(name) / "game_data.db"]
    if not any(letter in name for letter in "*?["):
        return [find_run(folder, name).database]
    matches = [Path(match) for match in sorted(glob.glob(name))]
    matches = matches or [path for path in run_paths(folder) if path.match(name)]
    databases = [match / "game_data.db" if match.is_dir() else match for match in matches]
    databases = [database for database in databases if database.is_file()]
    if not databases:
        raise UsageError(f"nothing matches {name!r}; see `ptp runs`")
    return databases


def version_of(database: Path) -> str:
    """Return the schema that a run's database has."""
    with opened(database) as db:
        return read_version(db) or NO_VERSION


def opened_database(options: Options, run: str) -> AbstractContextManager[Dialect]:
    """Open the central database if it is meant, else the one of a run."""
    if options.central:
        refuse_with_central(RUN=options.run)
        return find_central(options).opened()
    return opened(find_databases(options.folder, [run])[0])


def migrate_run(database: Path, target: str, start: str | None, keep_backup: bool, shown: OnProgress) -> Plan:
    """Migrate the database of a run that nobody plays, and update its header."""
    directory = RunDirectory(database.resolve().parent)
    owned = database.name == directory.database.name
    try:
        if owned:
            directory.acquire()
    except OSError as problem:
        reason = problem.strerror or problem
        raise RecordingError(f"can't write to {directory.path}: {reason}; make it writable first") from None
    try:
        header = _read_header(directory.path / "metadata.json") if owned else None
        done = migrate_file(database, target, start, keep_backup=keep_backup, on_progress=shown)
        if header is not None and header.get("schema_version") != target:
            encoded = msgspec.json.encode(header | {"schema_version": target})
            write_atomic(directory.path / "metadata.json", msgspec.json.format(encoded, indent=2) + b"\n")
    finally:
        directory.release()
    return done


def _read_header(path: Path) -> dict[str, Any] | None:
    """Return a run's header as it is, with whatever else is in it; None when there is none."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError, msgspec.DecodeError) as problem:
        raise RunUnreadable(f"{path} can't be read: {problem}; restore it from a copy") from None
