"""`ptp version`."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version as installed_version
from pathlib import Path

import msgspec

from ptp import __version__
from ptp.aggregation.dialect import CENTRAL_SCHEMAS
from ptp.aggregation.server import Central
from ptp.cli.common import data_dir, named_run
from ptp.cli.databases import find_central, version_of
from ptp.cli.output import print_json, print_table
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

NOT_SET_UP = "not set up"
UPGRADE = "pip install --upgrade ptp"


class Check(msgspec.Struct):
    """One thing that has a version."""

    part: str
    here: str
    """The version of this ptp."""
    found: str | None = None
    """What the run has, or the runs have."""
    run: str | None = None
    """The command that makes them compatible; None when they are."""


def main(options: Options) -> int:
    """Show versions; with --check, fail when something is incompatible."""
    if options.run and not options.check:
        raise UsageError(f"a run is only compared with --check: `ptp version --check {options.run}`")
    checks = installed()
    if options.run:
        checks = _checked_run(named_run(options).directory, options.run, checks)
    elif options.check:
        checks["schema"] = _checked_runs(data_dir(options), checks["schema"])
    if options.check:
        checks["central"] = _checked_central(find_central(options), checks["central"])
    if options.json:
        print_json({check.part: check for check in checks.values()})
    elif not (options.quiet and options.check):
        _print(list(checks.values()), options.check)
    return 1 if any(check.run for check in checks.values()) else 0


def installed() -> dict[str, Check]:
    """Return the versions of this ptp, by part."""
    versions = {
        "code": __version__,
        "schema": SCHEMA_VERSION,
        "config": VERSION,
        "central": CENTRAL_SCHEMAS.newest,
        "snapshot format": str(FORMAT),
        "PyBoy state": pyboy_state_version(),
        "ROM profile": ", ".join(profile_names()),
    }
    return {part: Check(part, here) for part, here in versions.items()}


def pyboy_state_version() -> str:
    """Return the number that the installed PyBoy writes into its states."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of SDL, which is not used here
        from pyboy.utils import STATE_VERSION
    return str(STATE_VERSION)


def _checked_runs(folder: Path, check: Check) -> Check:
    """Count the schemas of every recorded run."""
    found = Counter(_schema_of(RunDirectory(path)) for path in run_paths(folder))
    if not found:
        return msgspec.structs.replace(check, found="no runs")
    counts = ", ".join(f"{count:,} with {version}" for version, count in sorted(found.items()))
    others = sorted(version for version in found if version != check.here)
    return Check("schema", check.here, counts, _schema_remedy(others[0], check.here, "") if others else None)


def _checked_central(database: Central, check: Check) -> Check:
    """Look at the central database, if there is one."""
    if not database.exists():
        return msgspec.structs.replace(check, found=NOT_SET_UP)
    try:
        with database.opened() as db:
            version = read_version(db)
    except PtpError:
        return msgspec.structs.replace(check, found="unreachable", run="ptp db status")
    if version == check.here:
        return msgspec.structs.replace(check, found=version)
    remedy = "ptp schema migrate --central" if version is None or version in CENTRAL_SCHEMAS.versions else UPGRADE
    return msgspec.structs.replace(check, found=version or "empty", run=remedy)


def _schema_of(directory: RunDirectory) -> str:
    try:
        return version_of(directory.database)
    except PtpError:
        return "unreadable"


def _schema_remedy(found: str, here: str, run: str) -> str | None:
    if found == here:
        return None
    if found == NO_VERSION:
        return f"ptp schema migrate {run or 'RUN'} --from 1.0"
    if found in RUN_SCHEMAS.versions:
        return f"ptp schema migrate {run}".rstrip()
    return f"ptp schema verify {run}".rstrip() if found == "unreadable" else UPGRADE


def _checked_run(directory: RunDirectory, name: str, checks: dict[str, Check]) -> dict[str, Check]:
    metadata = directory.read_metadata()
    found = _schema_of(directory)
    fits = {
        "code": (metadata.ptp_version, UPGRADE if _newer(metadata.ptp_version, __version__) else None),
        "schema": (found, _schema_remedy(found, checks["schema"].here, name)),
        "config": _config_of(directory),
        "snapshot format": _snapshots_of(directory, checks["snapshot format"].here),
        "PyBoy state": _pyboy_of(metadata, checks["PyBoy state"].here),
        "ROM profile": _profile_of(metadata),
    }
    return checks | {part: Check(part, checks[part].here, found, run) for part, (found, run) in fits.items()}


def _newer(version: str, than: str) -> bool:
    def numbers(text: str) -> list[int]:
        return [int(part) for part in text.split(".") if part.isdigit()]

    return numbers(version) > numbers(than)


def _config_of(directory: RunDirectory) -> tuple[str, str | None]:
    path = directory.path / "config.yaml"
    if not path.exists():
        return "none", None
    version = str(read_tree(path).get("version", configs.UNMARKED))
    if version == VERSION:
        return version, None
    return version, f"ptp config migrate {path}" if version in configs.VERSIONS else UPGRADE


def _snapshots_of(directory: RunDirectory, here: str) -> tuple[str, str | None]:
    formats = Counter(_formats(directory.path / "snapshots"))
    if not formats:
        return "none", None
    counts = ", ".join(f"{count:,} with {number}" for number, count in sorted(formats.items()))
    return counts, None if set(formats) == {here} else UPGRADE


def _formats(folder: Path) -> Iterator[str]:
    for path in folder.glob("*.ptpsnap"):
        with open(path, "rb") as file:
            magic = file.read(len(MAGIC))
        yield str(magic[-1]) if magic[:-1] == MAGIC[:-1] else "damaged"


def _pyboy_of(metadata: Metadata, here: str) -> tuple[str, str | None]:
    origin = metadata.facts.origin
    then, state = origin.get("pyboy"), origin.get("pyboy_state")
    if then is None:
        return "not a Game Boy", None
    found = f"PyBoy {then}" if state is None else f"{state}, PyBoy {then}"
    unreadable = _newer(then, installed_version("pyboy")) if state is None else _newer(state, here)
    return found, f"pip install pyboy=={then}" if unreadable else None


def _profile_of(metadata: Metadata) -> tuple[str, str | None]:
    name = metadata.facts.origin.get("profile")
    if name is None:
        return "not a Game Boy", None
    return name, None if name in profile_names() else UPGRADE


def _print(checks: list[Check], checking: bool) -> None:
    if not checking:
        print_table(("part", "version"), [(check.part, check.here) for check in checks])
        return
    rows = [(check.part, check.here, check.found or "-", check.run or "ok") for check in checks]
    print_table(("part", "this ptp", "found", "what to run"), rows)
    if any(check.run for check in checks):
        sys.stderr.write("ptp: something is incompatible; run what the last column says\n")
