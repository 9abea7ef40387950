"""`ptp schema`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ptp.aggregation.dialect import CENTRAL_SCHEMAS
from ptp.cli.common import data_dir
from ptp.cli.databases import (
    find_central,
    find_databases,
    migrate_run,
    opened_database,
    refuse_with_central,
    version_of,
)
from ptp.cli.output import answer, print_json, print_table, say
from ptp.cli.parser import Options
from ptp.cli.progress import work_shown
from ptp.errors import PtpError
from ptp.recording.packed import readable
from ptp.versioning import migration
from ptp.versioning.migration import Plan
from ptp.versioning.schema import NO_VERSION, RUN_SCHEMAS
from ptp.versioning.sqlite import opened
from ptp.versioning.stamp import Loss, Migration, known_version, read_history, read_version
from ptp.versioning.verify import Verified, verify_file
from ptp.versioning.verify import verify as verify_open


def migrate(options: Options) -> int:
    """Migrate databases."""
    if options.central:
        refuse_with_central(RUN=options.runs, **{"from": options.start}, keep_backup=options.keep_backup)
        return _migrate_central(options)
    target = RUN_SCHEMAS.check_target(options.to or RUN_SCHEMAS.newest)
    if options.start is not None:
        RUN_SCHEMAS.check_target(options.start)
    databases = find_databases(data_dir(options), options.runs)
    one = len(databases) == 1 and bool(options.runs)
    if not one:
        databases = [database for database in databases if _is_of(database, options.start)]

    def work(database: Path) -> Plan:
        if options.dry_run:
            with opened(database) as db:
                return migration.plan(db, target, options.start)
        with work_shown(options.talks) as shown:
            return migrate_run(database, target, options.start, options.keep_backup, shown)

    plans, failed = _each(databases, work, options, one)
    answer(
        options, {"dry_run": options.dry_run, "migrations": plans, "failed": failed},
        *([] if plans or failed else [_nothing(options, options.start)]),
    )  # fmt: skip
    return 1 if failed else 0


def _migrate_central(options: Options) -> int:
    target = CENTRAL_SCHEMAS.check_target(options.to or CENTRAL_SCHEMAS.newest)
    with find_central(options).opened(make=not options.dry_run) as db:
        done = migration.plan(db, target) if options.dry_run else migration.migrate(db, target)
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
        results = [verify_file(readable(database)) for database in find_databases(data_dir(options), options.runs)]
    lines = [line for result in results for line in _verdict(result)]
    answer(options, results, *(lines or [_nothing(options, None)]))
    return 0 if all(result.good for result in results) else 1


def _verdict(result: Verified) -> Iterator[str]:
    yield f"{result.database}: {'good' if result.good else 'bad'}, schema {result.version or 'unknown'}"
    for problem in result.problems:
        yield f"  {problem}"


def _verified_central(options: Options) -> Verified:
    with find_central(options).opened() as db:
        return verify_open(db)


def history(options: Options) -> int:
    """Show the migrations of a database, or every schema."""
    versions = RUN_SCHEMAS.versions
    if options.central or options.run is not None:
        with opened_database(options, options.run) as db:
            version = known_version(db) if options.central else read_version(db) or NO_VERSION
            return _print_history(db.name, version, read_history(db), options.json)
    if options.json:
        print_json([{"version": version, "changes": changes} for version, changes in versions.items()])
    else:
        print_table(("schema", "what it changed"), list(versions.items()))
    return 0


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
