"""`ptp version`."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.metadata import version as installed_version
from pathlib import Path

import msgspec

from ptp import __version__
from ptp.aggregation.dialect import CENTRAL_SCHEMAS
from ptp.aggregation.server import Central
from ptp.cli.common import named_run
from ptp.cli.databases import find_central, version_of
from ptp.cli.output import answer, show, table
from ptp.cli.parser import Options
from ptp.config.files import read_tree
from ptp.config.tree import VERSION
from ptp.errors import PtpError, UsageError
from ptp.recording import RunDirectory
from ptp.recording.directory import run_paths
from ptp.records import Metadata
from ptp.snapshots.snapshot import FORMAT, MAGIC
from ptp.versioning import SCHEMA_VERSION, configs
from ptp.versioning.schema import NO_VERSION, RUN_SCHEMAS
from ptp.versioning.stamp import read_version
from ptp.worlds.gameboy.profiles import profile_names

UPGRADE = "pip install --upgrade ptp"


Found = tuple[str, str | None]  # a version, and the command that makes it compatible unless it is


class Check(msgspec.Struct):
    """One thing that has a version."""

    part: str
    here: str
    """The version of this ptp."""
    found: str | None = None
    run: str | None = None
    """The command that makes what was found compatible."""


def main(options: Options) -> int:
    """Show versions; with --check, fail when something is incompatible."""
    here = installed()
    if not options.check:
        if options.run:
            raise UsageError(f"a run is only compared with --check: `ptp version --check {options.run}`")
        shown = {part: Check(part, version) for part, version in here.items()}
        return show(options, shown, *table(("part", "version"), list(here.items())))
    if options.run:
        found = _of_run(named_run(options).directory, options.run, here)
    else:
        found = {"schema": _of_runs(options.folder)}
    found["central"] = _of_central(find_central(options))
    checks = {part: Check(part, version, *found.get(part, ())) for part, version in here.items()}
    failed = any(check.run for check in checks.values())
    rows = [(check.part, check.here, check.found or "-", check.run or "ok") for check in checks.values()]
    answer(options, checks, *table(("part", "this ptp", "found", "what to run"), rows))
    if failed and options.talks:
        sys.stderr.write("ptp: something is incompatible; run what the last column says\n")
    return int(failed)


def installed() -> dict[str, str]:
    """Return the versions of this ptp, by part."""
    return {
        "code": __version__,
        "schema": SCHEMA_VERSION,
        "config": VERSION,
        "central": CENTRAL_SCHEMAS.newest,
        "snapshot format": str(FORMAT),
        "PyBoy state": pyboy_state_version(),
        "ROM profile": ", ".join(profile_names()),
    }


def pyboy_state_version() -> str:
    """Return the number that the installed PyBoy writes into its states."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of SDL, which is not used here
        from pyboy.utils import STATE_VERSION
    return str(STATE_VERSION)


def _of_runs(folder: Path) -> Found:
    """Count the schemas of every recorded run."""
    found = Counter(_schema_of(RunDirectory(path)) for path in run_paths(folder))
    others = sorted(version for version in found if version != SCHEMA_VERSION)
    return _counted(found) or "no runs", _schema_remedy(others[0], "") if others else None


def _counted(versions: Counter[str]) -> str:
    return ", ".join(f"{count:,} with {version}" for version, count in sorted(versions.items()))


def _of_central(database: Central) -> Found:
    """Look at the central database, if there is one."""
    if not database.exists():
        return "not set up", None
    try:
        with database.opened() as db:
            version = read_version(db)
    except PtpError:
        return "unreachable", "ptp db status"
    if version == CENTRAL_SCHEMAS.newest:
        return version, None
    known = version is None or version in CENTRAL_SCHEMAS.versions
    return version or "empty", "ptp schema migrate --central" if known else UPGRADE


def _of_run(directory: RunDirectory, name: str, here: dict[str, str]) -> dict[str, Found]:
    metadata = directory.read_metadata()
    schema = _schema_of(directory)
    return {
        "code": (metadata.ptp_version, UPGRADE if _newer(metadata.ptp_version, __version__) else None),
        "schema": (schema, _schema_remedy(schema, name)),
        "config": _config_of(directory.path / "config.yaml"),
        "snapshot format": _snapshots_of(directory.path / "snapshots"),
        "PyBoy state": _pyboy_of(metadata, here["PyBoy state"]),
        "ROM profile": _profile_of(metadata),
    }


def _newer(version: str, than: str) -> bool:
    def numbers(text: str) -> list[int]:
        return [int(part) for part in text.split(".") if part.isdigit()]

    return numbers(version) > numbers(than)


def _schema_of(directory: RunDirectory) -> str:
    try:
        return version_of(directory.database)
    except PtpError:
        return "unreadable"


def _schema_remedy(found: str, run: str) -> str | None:
    if found == SCHEMA_VERSION:
        return None
    if found == NO_VERSION:
        return f"ptp schema migrate {run or 'RUN'} --from 1.0"
    if found in RUN_SCHEMAS.versions:
        return f"ptp schema migrate {run}".rstrip()
    return f"ptp schema verify {run}".rstrip() if found == "unreadable" else UPGRADE


def _config_of(path: Path) -> Found:
    if not path.exists():
        return "none", None
    version = str(read_tree(path).get("version", configs.UNMARKED))
    if version == VERSION:
        return version, None
    return version, f"ptp config migrate {path}" if version in configs.VERSIONS else UPGRADE


def _snapshots_of(folder: Path) -> Found:
    formats = Counter(_formats(folder.glob("*.ptpsnap")))
    return _counted(formats) or "none", UPGRADE if set(formats) - {str(FORMAT)} else None


def _formats(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        with open(path, "rb") as file:
            magic = file.read(len(MAGIC))
        yield str(magic[-1]) if magic[:-1] == MAGIC[:-1] else "damaged"


def _pyboy_of(metadata: Metadata, here: str) -> Found:
    then, state = metadata.facts.origin.get("pyboy"), metadata.facts.origin.get("pyboy_state")
    if then is None:
        return "not a Game Boy", None
    found = f"PyBoy {then}" if state is None else f"{state}, PyBoy {then}"
    unreadable = _newer(then, installed_version("pyboy")) if state is None else _newer(state, here)
    return found, f"pip install pyboy=={then}" if unreadable else None


def _profile_of(metadata: Metadata) -> Found:
    name = metadata.facts.origin.get("profile")
    if name is None:
        return "not a Game Boy", None
    return name, None if name in profile_names() else UPGRADE
