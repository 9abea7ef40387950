"""`ptp drift`: tell how a config file or a database differs from what it should be."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ptp.cli.common import RUN_HELP, data_dir, parse_common
from ptp.cli.parser import Parser, choose
from ptp.config.tree import System

if TYPE_CHECKING:
    from ptp.versioning.drift import Finding

DESCRIPTION = """Tell how a config file or a database differs from what it should be, and how to mend it.

  ptp drift config FILE        unknown, missing and deprecated settings, wrong types and values
  ptp drift schema RUN         missing and extra tables, columns, types and indexes
  ptp drift schema --central   the same of the central database, and its views

The exit code is 1 when something differs.
"""


def main(argv: list[str]) -> int:
    """Run the verb."""
    actions = {"config": _config, "schema": _schema}
    return choose("drift", DESCRIPTION, actions, argv)


def _config(argv: list[str]) -> int:
    parser = Parser("ptp drift config", "Compare a config file with the settings there are.")
    parser.add_argument("file", metavar="FILE", help="The YAML file to compare.")
    options, system = parse_common(parser, argv)

    from ptp.config.drift import CONFIG_KINDS, config_drift
    from ptp.config.files import read_tree

    tree = read_tree(Path(options.file))
    findings = config_drift(tree, options.file)
    version = str(tree.get("version", "1.0"))
    return _report(options.file, version, findings, CONFIG_KINDS, options.json, system.quiet)


def _schema(argv: list[str]) -> int:
    from ptp.cli.databases import add_central_flags, find_databases, refuse_with_central

    parser = Parser("ptp drift schema", "Compare a database with the schema of its version.")
    parser.add_argument("run", metavar="RUN", nargs="?", help=f"{RUN_HELP} Without it: the latest.")
    add_central_flags(parser)
    options, system = parse_common(parser, argv)
    if options.central:
        refuse_with_central(RUN=options.run)
        return _central(options, system)

    import apsw

    from ptp.versioning.drift import SCHEMA_KINDS, schema_drift
    from ptp.versioning.migration import opened
    from ptp.versioning.schema import check_found
    from ptp.versioning.shape import read_shape
    from ptp.versioning.stamp import read_version

    database = find_databases(data_dir(system), [options.run or "latest"])[0]
    with opened(database, apsw.SQLITE_OPEN_READONLY) as connection:
        version = check_found(read_version(connection, database), database)
        findings = schema_drift(read_shape(connection), version)
    return _report(str(database), version, findings, SCHEMA_KINDS, options.json, system.quiet)


def _central(options: argparse.Namespace, system: System) -> int:
    from ptp.aggregation.drift import CENTRAL_KINDS, central_drift
    from ptp.aggregation.stamp import read_version
    from ptp.cli.databases import find_central
    from ptp.versioning.central import check_found

    central = find_central(options, system)
    with central.connected() as connection:
        version = check_found(read_version(connection, central), central)
        findings = central_drift(connection, version)
    return _report(str(central), version, findings, CENTRAL_KINDS, options.json, system.quiet)


def _report(
    name: str, version: str, findings: Sequence[Finding], kinds: Sequence[str], as_json: bool, quiet: bool
) -> int:
    from ptp.cli.output import print_json, print_table, say

    if as_json:
        grouped = {kind: [each for each in findings if each.kind == kind] for kind in kinds}
        print_json({"name": name, "version": version, "drift": bool(findings), **grouped})
    elif findings and not quiet:
        say(f"{name} (version {version}) differs:")
        rows = [(each.kind.replace("_", " "), each.name, each.problem, each.fix) for each in findings]
        print_table(("what", "name", "problem", "fix"), rows)
    elif not quiet:
        say(f"{name} (version {version}) is as it should be")
    return 1 if findings else 0
