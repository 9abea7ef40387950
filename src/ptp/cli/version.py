"""`ptp version`."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Iterable
from importlib.metadata import version as installed_version
from pathlib import Path

import msgspec

from ptp import __version__
from ptp.aggregation.central import CENTRAL_SCHEMAS, Central
from ptp.cli.common import named_run
from ptp.cli.databases import version_of
from ptp.cli.output import answer, show, table
from ptp.cli.parser import Options
from ptp.config.files import read_tree
from ptp.config.tree import VERSION
from ptp.errors import PtpError, UsageError
from ptp.recording import RunDirectory
from ptp.recording.directory import run_paths
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
        schemas = Counter(_schema_of(RunDirectory(path)) for path in run_paths(options.folder))
        other = min((version for version in schemas if version != SCHEMA_VERSION), default=None)
        found = {"schema": (_counted(schemas) or "no runs", other and _schema_remedy(other, ""))}
    found["central"] = _of_central(Central(options.folder, options.database_url))
    checks = {part: Check(part, version, *found.get(part, ())) for part, version in here.items()}
    failed = any(check.run for check in checks.values())
    rows = [(check.part, check.here, check.found or "-", check.run or "ok") for check in checks.values()]
    answer(options, checks, *table(("part", "this ptp", "found", "what to run"), rows))
    if failed and options.talks:
        sys.stderr.write("ptp: something is incompatible; run what the last column says\n")
    return int(failed)


def installed() -> dict[str, str]:
    """Return the versions of this ptp, by part."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of SDL, which is not used here
        from pyboy.utils import STATE_VERSION
    return {
        "code": __version__,
        "schema": SCHEMA_VERSION,
        "config": VERSION,
        "central": CENTRAL_SCHEMAS.newest,
        "snapshot format": str(FORMAT),
        "PyBoy state": str(STATE_VERSION),
        "ROM profile": ", ".join(profile_names()),
    }


def _counted(versions: Counter[str]) -> str:
    return ", ".join(f"{count:,} with {version}" for version, count in sorted(versions.items()))


def _of_central(database: Central) -> Found:
    if not database.exists():
        return "not set up", None
    try:
        with database.opened() as db:
            version = read_version(db)
    except PtpError:
        return "unreachable", "ptp db status"
    if version is None:
        return "empty", "ptp schema migrate --central"
    return version, _remedy(version, CENTRAL_SCHEMAS.versions, "ptp schema migrate --central")


def _remedy(version: str, known: Iterable[str], migrate: str) -> str | None:
    """Return nothing for the newest of the known versions, what migrates another, or an upgrade for an unknown one."""
    *older, newest = known
    return None if version == newest else migrate if version in older else UPGRADE


def _of_run(directory: RunDirectory, name: str, here: dict[str, str]) -> dict[str, Found]:
    metadata, schema, config = directory.read_metadata(), _schema_of(directory), directory.path / "config.yaml"
    found: dict[str, Found] = {
        "code": (metadata.ptp_version, UPGRADE if _newer(metadata.ptp_version, __version__) else None),
        "schema": (schema, _schema_remedy(schema, name)),
        "config": ("none", None),
        "snapshot format": _snapshots_of(directory.path / "snapshots"),
        "PyBoy state": ("not a Game Boy", None),
        "ROM profile": ("not a Game Boy", None),
    }
    if config.exists():
        version = str(read_tree(config).get("version", configs.UNMARKED))
        found["config"] = version, _remedy(version, configs.VERSIONS, f"ptp config migrate {config}")
    pyboy, state, profile = map(metadata.facts.origin.get, ("pyboy", "pyboy_state", "profile"))
    if pyboy is not None:
        newer = _newer(pyboy, installed_version("pyboy")) if state is None else _newer(state, here["PyBoy state"])
        shown = f"PyBoy {pyboy}" if state is None else f"{state}, PyBoy {pyboy}"
        found["PyBoy state"] = shown, f"pip install pyboy=={pyboy}" if newer else None
    if profile is not None:
        found["ROM profile"] = profile, None if profile in profile_names() else UPGRADE
    return found


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
    special = {NO_VERSION: f"ptp schema migrate {run or 'RUN'} --from 1.0", "unreadable": f"ptp schema verify {run}"}
    migrate = f"ptp schema migrate {run}".rstrip()
    return special[found].rstrip() if found in special else _remedy(found, RUN_SCHEMAS.versions, migrate)


def _snapshots_of(folder: Path) -> Found:
    formats = Counter[str]()
    for path in folder.glob("*.ptpsnap"):
        with open(path, "rb") as file:
            magic = file.read(len(MAGIC))
        formats[str(magic[-1]) if magic[:-1] == MAGIC[:-1] else "damaged"] += 1
    return _counted(formats) or "none", UPGRADE if set(formats) - {str(FORMAT)} else None
