"""`ptp schema` and `ptp drift`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ptp.aggregation.dialect import CENTRAL_SCHEMAS
from ptp.cli import databases
from ptp.cli.common import each, work_shown
from ptp.cli.output import answer, say, show, table
from ptp.cli.parser import Options
from ptp.config.drift import CONFIG_KINDS, config_drift
from ptp.config.files import read_tree
from ptp.errors import PtpError
from ptp.recording.packed import readable
from ptp.versioning import migration
from ptp.versioning.drift import SCHEMA_KINDS, Finding, schema_drift
from ptp.versioning.migration import Plan
from ptp.versioning.schema import NO_VERSION, RUN_SCHEMAS
from ptp.versioning.sqlite import opened
from ptp.versioning.stamp import Loss, known_version, read_history, read_version
from ptp.versioning.verify import Verified, verify_file
from ptp.versioning.verify import verify as verify_open


def migrate(options: Options) -> int:
    """Migrate databases."""
    if options.central:
        databases.refuse_with_central(RUN=options.runs, **{"from": options.start}, keep_backup=options.keep_backup)
        return _migrate_central(options)
    target = RUN_SCHEMAS.check_target(options.to or RUN_SCHEMAS.newest)
    if options.start is not None:
        RUN_SCHEMAS.check_target(options.start)

    def work(database: Path) -> Plan:
        if options.dry_run:
            with opened(database) as db:
                return migration.plan(db, target, options.start)
        with work_shown(options.talks) as shown:
            return databases.migrate_run(database, target, options.start, options.keep_backup, shown)

    named = databases.find_databases(options.folder, options.runs)
    if options.runs and len(named) == 1:
        plan = work(named[0])
        return _report(options, [plan], [], *_describe(plan, options.dry_run))
    found = [database for database in named if _is_of(database, options.start)]
    plans, failed = each(found, work, lambda plan: say(*_describe(plan, options.dry_run)) if options.talks else None)
    return _report(options, plans, failed, *([] if found else [_nothing(options, options.start)]))


def _report(options: Options, plans: list[Plan], failed: list[tuple[str, str]], *lines: str) -> int:
    failures = [{"database": database, "error": error} for database, error in failed]
    facts = {"dry_run": options.dry_run, "migrations": plans, "failed": failures}
    return answer(options, facts, *lines, failed=bool(failed))


def _migrate_central(options: Options) -> int:
    target = CENTRAL_SCHEMAS.check_target(options.to or CENTRAL_SCHEMAS.newest)
    with databases.find_central(options).opened(make=not options.dry_run) as db:
        done = migration.plan(db, target) if options.dry_run else migration.migrate(db, target)
    return _report(options, [done], [], *_describe(done, options.dry_run))


def _is_of(database: Path, version: str | None) -> bool:
    """Whether a database has that version; one that can't be read counts, so that it is reported."""
    try:
        return version is None or databases.version_of(database) == version
    except PtpError:
        return True


def _describe(plan: Plan, dry_run: bool) -> Iterator[str]:
    if not plan.steps:
        yield f"{plan.database}: already has schema {plan.to_version}"
        return
    versions = " -> ".join([plan.from_version, *(step.split()[-1] for step in plan.steps)])
    yield f"{plan.database}: {'would migrate' if dry_run else 'migrated'} {versions}"
    for loss in _felt(plan.dropped):
        yield f"  {'would drop' if dry_run else 'dropped'} {loss}: schema {plan.to_version} can't hold it"
    if plan.backup:
        yield f"  kept the old database in {plan.backup}"


def _felt(dropped: Sequence[Loss]) -> list[Loss]:
    """Return what was dropped with something in it."""
    return [loss for loss in dropped if loss.rows]


def _nothing(options: Options, start: str | None) -> str:
    which = f" of schema {start}" if start else ""
    return f"no databases{which} in {options.folder}; name one, or another folder with --data-dir"


def verify(options: Options) -> int:
    """Check databases."""
    if options.central:
        databases.refuse_with_central(RUN=options.runs)
        with databases.find_central(options).opened() as db:
            results = [verify_open(db)]
    else:
        results = [
            verify_file(readable(database)) for database in databases.find_databases(options.folder, options.runs)
        ]
    lines = [line for result in results for line in _verdict(result)] or [_nothing(options, None)]
    return answer(options, results, *lines, failed=not all(result.good for result in results))


def _verdict(result: Verified) -> Iterator[str]:
    yield f"{result.database}: {'good' if result.good else 'bad'}, schema {result.version or 'unknown'}"
    yield from (f"  {problem}" for problem in result.problems)


def history(options: Options) -> int:
    """Show the migrations of a database, or every schema."""
    if not options.central and options.run is None:
        versions = RUN_SCHEMAS.versions.items()
        facts = [{"version": version, "changes": changes} for version, changes in versions]
        return show(options, facts, *table(("schema", "what it changed"), list(versions)))
    with databases.opened_database(options, options.run) as db:
        version = known_version(db) if options.central else read_version(db) or NO_VERSION
        migrations, name = read_history(db), db.name
    rows = [(m.migrated_at, m.from_version, m.to_version, sum(m.row_counts.values()), m.checksum[:12],
             "; ".join(map(str, _felt(m.dropped))) or "-") for m in migrations]  # fmt: skip
    return show(
        options, {"database": name, "version": version, "migrations": migrations},
        f"{name} has schema {version}{'' if migrations else ', and was never migrated'}",
        *table(("when", "from", "to", "rows", "checksum", "dropped"), rows, right=("rows",)),
    )  # fmt: skip


def drift_config(options: Options) -> int:
    """Compare a config file with the known settings."""
    tree = read_tree(Path(options.file))
    version = str(tree.get("version", "1.0"))
    return _differences(options, options.file, version, config_drift(tree, options.file), CONFIG_KINDS)


def drift_schema(options: Options) -> int:
    """Compare a database with the schema of its version."""
    with databases.opened_database(options, options.run or "latest") as db:
        version = known_version(db)
        return _differences(options, db.name, version, schema_drift(db, version), SCHEMA_KINDS)


def _differences(options: Options, name: str, version: str, findings: Sequence[Finding], kinds: Sequence[str]) -> int:
    grouped = {kind: [each for each in findings if each.kind == kind] for kind in kinds}
    rows = [(each.kind.replace("_", " "), each.name, each.problem, each.fix) for each in findings]
    return answer(
        options, {"name": name, "version": version, "drift": bool(findings), **grouped},
        f"{name} (version {version}) {'differs:' if findings else 'is as it should be'}",
        *table(("what", "name", "problem", "fix"), rows),
        failed=bool(findings),
    )  # fmt: skip
