"""`ptp schema`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import apsw

from ptp.aggregation import drift as central_drift
from ptp.aggregation import migration as central_migration
from ptp.aggregation import stamp as central_stamp
from ptp.cli.common import data_dir
from ptp.cli.databases import find_central, find_databases, migrate_run, refuse_with_central, version_of
from ptp.cli.output import answer, print_json, print_table, say
from ptp.cli.parser import Options
from ptp.cli.progress import work_shown
from ptp.errors import PtpError
from ptp.recording.packed import readable
from ptp.versioning import SCHEMA_VERSION
from ptp.versioning import central as central_schema
from ptp.versioning.migration import Plan, opened, plan
from ptp.versioning.schema import VERSIONS, check_target
from ptp.versioning.stamp import Loss, Migration, read_history, read_version
from ptp.versioning.verify import Verified
from ptp.versioning.verify import verify as verify_run


def migrate(options: Options) -> int:
    """Migrate databases."""
    if options.central:
        refuse_with_central(RUN=options.runs, **{"from": options.start}, keep_backup=options.keep_backup)
        return _migrate_central(options)
    target = check_target(options.to or SCHEMA_VERSION)
    if options.start is not None:
        check_target(options.start)
    databases = find_databases(data_dir(options), options.runs)
    one = len(databases) == 1 and bool(options.runs)
    if not one:
        databases = [database for database in databases if _is_of(database, options.start)]

    def work(database: Path) -> Plan:
        if options.dry_run:
            return plan(database, target, options.start)
        with work_shown(options.talks) as shown:
            return migrate_run(database, target, options.start, options.keep_backup, shown)

    plans, failed = _each(databases, work, options, one)
    answer(
        options, {"dry_run": options.dry_run, "migrations": plans, "failed": failed},
        *([] if plans or failed else [_nothing(options, options.start)]),
    )  # fmt: skip
    return 1 if failed else 0


def _migrate_central(options: Options) -> int:
    central = find_central(options)
    target = central_schema.check_target(options.to or central_schema.CENTRAL_VERSION)
    work = central_migration.plan if options.dry_run else central_migration.migrate
    with central.connected(make=not options.dry_run) as connection:
        done = work(connection, central, target)
    facts = {"dry_run": options.dry_run, "migrations": [done], "failed": []}
    return answer(options, facts, *_describe(done, options.dry_run))


def _is_of(database: Path, version: str | None) -> bool:
    """Whether a database has that version; one that can't be read counts, so that it is reported."""
    try:
        return version is None or version_of(database) == version
    except PtpError:
        return True


def _each(
    databases: Sequence[Path], work: Callable[[Path], Plan], options: Options, one: bool
) -> tuple[list[Plan], list[dict[str, str]]]:
    """Do the work for each database; one that fails does not keep the others from theirs."""
    plans: list[Plan] = []
    failed: list[dict[str, str]] = []
    for database in databases:
        try:
            plans.append(work(database))
        except PtpError as problem:
            if one:
                raise
            failed.append({"database": str(database), "error": str(problem)})
            sys.stderr.write(f"ptp: {problem}\n")
            continue
        if options.talks:
            say("\n".join(_describe(plans[-1], options.dry_run)))
    return plans, failed


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
    return f"no databases{which} in {data_dir(options)}; name one, or another folder with --data-dir"


def verify(options: Options) -> int:
    """Check databases."""
    if options.central:
        refuse_with_central(RUN=options.runs)
        results = [_verified_central(options)]
    else:
        results = [verify_run(readable(database)) for database in find_databases(data_dir(options), options.runs)]
    lines = [line for result in results for line in _verdict(result)]
    answer(options, results, *(lines or [_nothing(options, None)]))
    return 0 if all(result.good for result in results) else 1


def _verdict(result: Verified) -> Iterator[str]:
    yield f"{result.database}: {'good' if result.good else 'bad'}, schema {result.version or 'unknown'}"
    for problem in result.problems:
        yield f"  {problem}"


def _verified_central(options: Options) -> Verified:
    central = find_central(options)
    with central.connected() as connection:
        return central_drift.verify(connection, central)


def history(options: Options) -> int:
    """Show the migrations of a database, or every schema."""
    if options.central:
        refuse_with_central(RUN=options.run)
        return _print_history(*_history_of_central(options), options.json)
    if options.run is not None:
        return _print_history(*_history_of_run(options), options.json)
    if options.json:
        print_json([{"version": version, "changes": changes} for version, changes in VERSIONS.items()])
    else:
        print_table(("schema", "what it changed"), list(VERSIONS.items()))
    return 0


def _history_of_run(options: Options) -> tuple[str, str, list[Migration]]:
    database = find_databases(data_dir(options), [options.run])[0]
    with opened(database, apsw.SQLITE_OPEN_READONLY) as connection:
        return str(database), read_version(connection, database), read_history(connection)


def _history_of_central(options: Options) -> tuple[str, str, list[Migration]]:
    central = find_central(options)
    with central.connected() as connection:
        version = central_schema.check_found(central_stamp.read_version(connection, central), central)
        return str(central), version, central_stamp.read_history(connection)


def _print_history(database: str, version: str, migrations: list[Migration], as_json: bool) -> int:
    if as_json:
        print_json({"database": database, "version": version, "migrations": migrations})
        return 0
    say(f"{database} has schema {version}{'' if migrations else ', and was never migrated'}")
    if migrations:
        rows = [(m.migrated_at, m.from_version, m.to_version, sum(m.row_counts.values()), m.checksum[:12],
                 "; ".join(map(str, _felt(m.dropped))) or "-") for m in migrations]  # fmt: skip
        print_table(("when", "from", "to", "rows", "checksum", "dropped"), rows, right=("rows",))
    return 0
