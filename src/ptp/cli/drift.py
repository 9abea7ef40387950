"""`ptp drift`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import apsw

from ptp.aggregation import stamp as central_stamp
from ptp.aggregation.drift import CENTRAL_KINDS, central_drift
from ptp.cli.common import data_dir
from ptp.cli.databases import find_central, find_databases, refuse_with_central
from ptp.cli.output import print_json, print_table, say
from ptp.cli.parser import Options
from ptp.config.drift import CONFIG_KINDS, config_drift
from ptp.config.files import read_tree
from ptp.versioning import central as central_schema
from ptp.versioning.drift import SCHEMA_KINDS, Finding, schema_drift
from ptp.versioning.migration import opened
from ptp.versioning.schema import check_found
from ptp.versioning.shape import read_shape
from ptp.versioning.stamp import read_version


def config(options: Options) -> int:
    """Compare a config file with the known settings."""
    tree = read_tree(Path(options.file))
    version = str(tree.get("version", "1.0"))
    return _report(options, options.file, version, config_drift(tree, options.file), CONFIG_KINDS)


def schema(options: Options) -> int:
    """Compare a database with the schema of its version."""
    if options.central:
        refuse_with_central(RUN=options.run)
        return _central(options)
    database = find_databases(data_dir(options), [options.run or "latest"])[0]
    with opened(database, apsw.SQLITE_OPEN_READONLY) as connection:
        version = check_found(read_version(connection, database), database)
        findings = schema_drift(read_shape(connection), version)
    return _report(options, str(database), version, findings, SCHEMA_KINDS)


def _central(options: Options) -> int:
    central = find_central(options)
    with central.connected() as connection:
        version = central_schema.check_found(central_stamp.read_version(connection, central), central)
        findings = central_drift(connection, version)
    return _report(options, str(central), version, findings, CENTRAL_KINDS)


def _report(options: Options, name: str, version: str, findings: Sequence[Finding], kinds: Sequence[str]) -> int:
    if options.json:
        grouped = {kind: [each for each in findings if each.kind == kind] for kind in kinds}
        print_json({"name": name, "version": version, "drift": bool(findings), **grouped})
    elif findings and options.talks:
        say(f"{name} (version {version}) differs:")
        rows = [(each.kind.replace("_", " "), each.name, each.problem, each.fix) for each in findings]
        print_table(("what", "name", "problem", "fix"), rows)
    elif options.talks:
        say(f"{name} (version {version}) is as it should be")
    return 1 if findings else 0
