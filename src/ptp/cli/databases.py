"""Which databases a command line means, runs' own or the central one, and migrating one as its owner."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptp.cli.parser import Parser
from ptp.config.tree import System
from ptp.errors import RecordingError, RunUnreadable, UsageError

if TYPE_CHECKING:
    from ptp.aggregation.server import Central
    from ptp.recording import RunDirectory
    from ptp.versioning.backup import Told
    from ptp.versioning.migration import Plan

RUNS_HELP = "Runs: ids, directories, database files or patterns like 'var/records/01*'; all runs when none is named."

URL_HELP = "The PostgreSQL of the central database; PTP_DATABASE_URL names it too. Else one in the data directory."


def add_central_flags(parser: Parser) -> None:
    """Add the flags of verbs that work on run databases or on the central one."""
    parser.add_argument("--central", action="store_true", help="Work on the central database, not on runs.")
    parser.add_argument("--database-url", metavar="URL", help=URL_HELP)


def find_central(options: argparse.Namespace, system: System) -> Central:
    """Return the central database that a command line means."""
    from ptp.aggregation.server import Central

    return Central(Path(system.data_dir), options.database_url)


def refuse_with_central(**given: object) -> None:
    """Refuse what belongs to run databases beside --central."""
    for name, value in given.items():
        if value:
            word = f"--{name.replace('_', '-')}" if name.islower() else name
            raise UsageError(f"{word} and --central don't go together; leave one out")


def find_databases(folder: Path, names: Sequence[str]) -> list[Path]:
    """Return the databases that runs, directories, files or patterns name; those of all runs when none is named."""
    from ptp.recording.directory import run_paths

    if not names:
        return [path / "game_data.db" for path in reversed(run_paths(folder))]
    found = [path for name in names for path in _databases(folder, name)]
    return list(dict.fromkeys(found))


def _databases(folder: Path, name: str) -> list[Path]:
    import glob

    from ptp.recording.directory import run_paths
    from ptp.runs.library import find_run

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


def migrate_run(database: Path, target: str, start: str | None, keep_backup: bool, told: Told) -> Plan:
    """Migrate the database of a run that nobody plays, and let its header follow."""
    from ptp.recording import RunDirectory
    from ptp.versioning.migration import migrate

    directory = RunDirectory(database.resolve().parent)
    owned = database.name == directory.database.name
    if owned:
        _acquire(directory)
    try:
        header = _read_header(directory.path / "metadata.json") if owned else None
        done = migrate(database, target, start, keep_backup=keep_backup, told=told)
        if header is not None and header.get("schema_version") != target:
            _write_header(directory.path / "metadata.json", header | {"schema_version": target})
    finally:
        directory.release()
    return done


def _acquire(directory: RunDirectory) -> None:
    try:
        directory.acquire()
    except OSError as problem:
        reason = problem.strerror or problem
        raise RecordingError(f"can't write to {directory.path}: {reason}; make it writable first") from None


def _read_header(path: Path) -> dict[str, Any] | None:
    """Return a run's header as it is, with whatever else is in it; None when there is none."""
    import msgspec

    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError, msgspec.DecodeError) as problem:
        raise RunUnreadable(f"{path} can't be read: {problem}; restore it from a copy") from None


def _write_header(path: Path, header: dict[str, Any]) -> None:
    import msgspec

    from ptp._util.files import write_atomic

    write_atomic(path, msgspec.json.format(msgspec.json.encode(header), indent=2) + b"\n")
