"""`ptp version`: tell every version, and whether they fit together."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ptp import __version__
from ptp.cli.common import RUN_HELP, data_dir, parse_common
from ptp.cli.databases import URL_HELP, find_central
from ptp.cli.parser import Parser
from ptp.errors import PtpError, UsageError

if TYPE_CHECKING:
    from ptp.aggregation.server import Central
    from ptp.recording import RunDirectory
    from ptp.records import Metadata

DESCRIPTION = """Tell every version.

With --check, tell also whether the recorded runs, or one RUN, fit to them, and what to run where they do not.
The exit code is then 1 when something does not fit.

examples:
  ptp version
  ptp version --check
  ptp version --check latest
"""

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
    """The command that makes them fit; None when they do."""


def main(argv: list[str]) -> int:
    """Run the verb."""
    parser = Parser("ptp version", DESCRIPTION)
    parser.add_argument("run", metavar="RUN", nargs="?", help=f"{RUN_HELP} Only with --check.")
    parser.add_argument("--check", action="store_true", help="Compare with the recorded runs, or with RUN.")
    parser.add_argument("--database-url", metavar="URL", help=URL_HELP)
    options, system = parse_common(parser, argv)
    if options.run and not options.check:
        raise UsageError(f"a run is only looked at with --check: `ptp version --check {options.run}`")

    from ptp.cli.output import print_json

    checks = installed()
    if options.run:
        checks = _checked_run(data_dir(system), options.run, checks)
    elif options.check:
        checks["schema"] = _checked_runs(data_dir(system), checks["schema"])
    if options.check:
        checks["central"] = _checked_central(find_central(options, system), checks["central"])
    if options.json:
        print_json({check.part: check for check in checks.values()})
    elif not (system.quiet and options.check):
        _tell(list(checks.values()), options.check)
    return 1 if any(check.run for check in checks.values()) else 0


def installed() -> dict[str, Check]:
    """Return the versions of this ptp, by part."""
    from ptp.config.tree import VERSION
    from ptp.snapshots.snapshot import FORMAT
    from ptp.versioning import SCHEMA_VERSION
    from ptp.versioning.central import CENTRAL_VERSION

    versions = {
        "code": __version__,
        "schema": SCHEMA_VERSION,
        "config": VERSION,
        "central": CENTRAL_VERSION,
        "snapshot format": str(FORMAT),
        "PyBoy state": pyboy_state_version(),
        "ROM profile": ", ".join(_profiles()),
    }
    return {part: Check(part, here) for part, here in versions.items()}


def pyboy_state_version() -> str:
    """Return the number that the installed PyBoy writes into its states."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of SDL, which is not used here
        from pyboy.utils import STATE_VERSION
    return str(STATE_VERSION)


def _profiles() -> list[str]:
    from ptp.worlds.gameboy.profiles import profile_names

    return profile_names()


def _checked_runs(folder: Path, schema: Check) -> Check:
    """Count the schemas of every recorded run."""
    from ptp.recording.directory import RunDirectory, run_paths

    found = Counter(_schema_of(RunDirectory(path)) for path in run_paths(folder))
    if not found:
        return msgspec.structs.replace(schema, found="no runs")
    told = ", ".join(f"{count:,} with {version}" for version, count in sorted(found.items()))
    others = sorted(version for version in found if version != schema.here)
    return Check("schema", schema.here, told, _schema_remedy(others[0], schema.here, "") if others else None)


def _checked_central(central: Central, check: Check) -> Check:
    """Look at the central database, if there is one."""
    from ptp.aggregation.stamp import read_version
    from ptp.versioning.central import VERSIONS

    if not central.exists():
        return msgspec.structs.replace(check, found=NOT_SET_UP)
    try:
        with central.connected() as connection:
            version = read_version(connection, central)
    except PtpError:
        return msgspec.structs.replace(check, found="unreachable", run="ptp db status")
    if version == check.here:
        return msgspec.structs.replace(check, found=version)
    remedy = "ptp schema migrate --central" if version is None or version in VERSIONS else UPGRADE
    return msgspec.structs.replace(check, found=version or "empty", run=remedy)


def _schema_of(directory: RunDirectory) -> str:
    import apsw

    from ptp.versioning.migration import opened
    from ptp.versioning.stamp import read_version

    try:
        with opened(directory.database, apsw.SQLITE_OPEN_READONLY) as connection:
            return read_version(connection, directory.database)
    except PtpError:
        return "unreadable"


def _schema_remedy(found: str, here: str, run: str) -> str | None:
    from ptp.versioning.schema import NO_VERSION, VERSIONS

    if found == here:
        return None
    if found == NO_VERSION:
        return f"ptp schema migrate {run or 'RUN'} --from 1.0"
    if found in VERSIONS:
        return f"ptp schema migrate {run}".rstrip()
    return f"ptp schema verify {run}".rstrip() if found == "unreadable" else UPGRADE


def _checked_run(folder: Path, name: str, checks: dict[str, Check]) -> dict[str, Check]:
    from ptp.runs.library import find_run

    directory = find_run(folder, name)
    metadata = directory.read_metadata()
    schema = _schema_of(directory)
    fits = {
        "code": (metadata.ptp_version, UPGRADE if _newer(metadata.ptp_version, __version__) else None),
        "schema": (schema, _schema_remedy(schema, checks["schema"].here, name)),
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
    from ptp.config.files import read_tree
    from ptp.config.tree import VERSION
    from ptp.versioning.configs import UNMARKED, VERSIONS

    path = directory.path / "config.yaml"
    if not path.exists():
        return "none", None
    version = str(read_tree(path).get("version", UNMARKED))
    if version == VERSION:
        return version, None
    return version, f"ptp config migrate {path}" if version in VERSIONS else UPGRADE


def _snapshots_of(directory: RunDirectory, here: str) -> tuple[str, str | None]:
    formats = Counter(_formats(directory.path / "snapshots"))
    if not formats:
        return "none", None
    told = ", ".join(f"{count:,} with {number}" for number, count in sorted(formats.items()))
    return told, None if set(formats) == {here} else UPGRADE


def _formats(folder: Path) -> Iterator[str]:
    from ptp.snapshots.snapshot import MAGIC

    for path in folder.glob("*.ptpsnap"):
        with open(path, "rb") as file:
            magic = file.read(len(MAGIC))
        yield str(magic[-1]) if magic[:-1] == MAGIC[:-1] else "damaged"


def _pyboy_of(metadata: Metadata, here: str) -> tuple[str, str | None]:
    from importlib.metadata import version

    origin = metadata.facts.origin
    then, state = origin.get("pyboy"), origin.get("pyboy_state")
    if then is None:
        return "not a Game Boy", None
    told = f"PyBoy {then}" if state is None else f"{state}, PyBoy {then}"
    unreadable = _newer(then, version("pyboy")) if state is None else _newer(state, here)
    return told, f"pip install pyboy=={then}" if unreadable else None


def _profile_of(metadata: Metadata) -> tuple[str, str | None]:
    name = metadata.facts.origin.get("profile")
    if name is None:
        return "not a Game Boy", None
    return name, None if name in _profiles() else UPGRADE


def _tell(checks: list[Check], checking: bool) -> None:
    from ptp.cli.output import print_table

    if not checking:
        print_table(("part", "version"), [(check.part, check.here) for check in checks])
        return
    rows = [(check.part, check.here, check.found or "-", check.run or "ok") for check in checks]
    print_table(("part", "this ptp", "found", "what to run"), rows)
    if any(check.run for check in checks):
        sys.stderr.write("ptp: not everything fits; run what the last column says\n")
