"""`ptp drift`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ptp.cli.databases import opened_database
from ptp.cli.output import answer, table
from ptp.cli.parser import Options
from ptp.config.drift import CONFIG_KINDS, config_drift
from ptp.config.files import read_tree
from ptp.versioning.drift import SCHEMA_KINDS, Finding, schema_drift
from ptp.versioning.stamp import known_version


def config(options: Options) -> int:
    """Compare a config file with the known settings."""
    tree = read_tree(Path(options.file))
    version = str(tree.get("version", "1.0"))
    return _report(options, options.file, version, config_drift(tree, options.file), CONFIG_KINDS)


def schema(options: Options) -> int:
    """Compare a database with the schema of its version."""
    with opened_database(options, options.run or "latest") as db:
        version = known_version(db)
        return _report(options, db.name, version, schema_drift(db, version), SCHEMA_KINDS)


def _report(options: Options, name: str, version: str, findings: Sequence[Finding], kinds: Sequence[str]) -> int:
    grouped = {kind: [each for each in findings if each.kind == kind] for kind in kinds}
    rows = [(each.kind.replace("_", " "), each.name, each.problem, each.fix) for each in findings]
    return answer(
        options, {"name": name, "version": version, "drift": bool(findings), **grouped},
        f"{name} (version {version}) {'differs:' if findings else 'is as it should be'}",
        *table(("what", "name", "problem", "fix"), rows),
        failed=bool(findings),
    )  # fmt: skip
