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
    from ptp.versioning.dialect import Dialect
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

    from ptp.config.files import read_tree
    from ptp.config.tree import BY_PATH
    from ptp.versioning.config_drift import CONFIG_KINDS, config_drift

    tree = read_tree(Path(options.file))
    findings = config_drift(tree, BY_PATH, options.file)
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

    from ptp.versioning.sqlite import opened

    with opened(find_databases(data_dir(system), [options.run or "latest"])[0]) as db:
        return _database(db, options, system)


def _central(options: argparse.Namespace, system: System) -> int:
    from ptp.cli.databases import find_central

    with find_central(options, system).opened() as db:
        return _database(db, options, system)


def _database(db: Dialect, options: argparse.Namespace, system: System) -> int:
    from ptp.versioning.drift import SCHEMA_KINDS, schema_drift
    from ptp.versioning.stamp import known_version

    version = known_version(db)
    return _report(db.name, version, schema_drift(db, version), SCHEMA_KINDS, options.json, system.quiet)


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
