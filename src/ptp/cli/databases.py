"""`ptp db`, `schema` and `drift`, and which databases a command line means: those of runs, or the central one."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from ptp.aggregation.central import CENTRAL_SCHEMAS, Central, read_status
from ptp.aggregation.ingest import Ingested, ingest, prepare, refresh
from ptp.cli.common import each, work_shown
from ptp.cli.output import answer, number, say, show, table
from ptp.cli.parser import Options
from ptp.config.files import read_tree
from ptp.config.versions import CONFIG_KINDS, config_drift
from ptp.errors import PtpError, RecordingError, UsageError
from ptp.recording import RunDirectory
from ptp.recording.directory import run_paths
from ptp.recording.maintenance import check_before_migration, seal_migrated
from ptp.recording.packed import readable
from ptp.runs import find_run
from ptp.versioning.configs import CONFIG_VERSION, UNMARKED
from ptp.versioning.database import migrate_file, verify_file
from ptp.versioning.dialect import Dialect
from ptp.versioning.drift import SCHEMA_KINDS, Finding, schema_drift, verify
from ptp.versioning.migration import OnProgress, Plan, migrate, plan
from ptp.versioning.schema import NO_VERSION, RUN_SCHEMAS
from ptp.versioning.sqlite import opened
from ptp.versioning.stamp import known_version, read_history, read_version


def refuse_with_central(**given: object) -> None:
    """Refuse what belongs to run databases beside --central."""
    for name, value in given.items():
        if value:
            word = f"--{name.replace('_', '-')}" if name.islower() else name
            raise UsageError(f"{word} and --central can't be combined; leave one out")


def find_databases(folder: Path, names: Sequence[str]) -> list[Path]:
    """Return the databases that runs, directories, files or patterns name; those of all runs when none is named."""
    if not names:
        return [path / "game_data.db" for path in reversed(run_paths(folder))]
    return list(dict.fromkeys(path for name in names for path in _databases(folder, name)))


def _databases(folder: Path, name: str) -> list[Path]:
    if Path(name).is_file():
        return [Path(name)]
    if (Path(name) / "game_data.db").is_file():
        return [Path(name) / "game_data.db"]
    if not any(letter in name for letter in "*?["):
        return [find_run(folder, name).database]
    matches = [Path(match) for match in sorted(glob.glob(name))]
    matches = matches or [path for path in run_paths(folder) if path.match(name)]
    databases = [match / "game_data.db" if match.is_dir() else match for match in matches]
    databases = [database for database in databases if database.is_file()]
    if not databases:
        raise UsageError(f"nothing matches {name!r}; see `ptp runs`")
    return databases


def version_of(database: Path) -> str:
    """Return the schema that a run's database has."""
    with opened(database) as db:
        return read_version(db) or NO_VERSION


def opened_database(options: Options, run: str) -> AbstractContextManager[Dialect]:
    """Open the central database if it is meant, else the one of a run."""
    if options.central:
        refuse_with_central(RUN=options.run)
        return Central(options.folder, options.database_url).opened()
    return opened(find_databases(options.folder, [run])[0])


def migrate_run(database: Path, target: str, start: str | None, keep_backup: bool, shown: OnProgress) -> Plan:
    """Migrate the database of a run that nobody plays."""
    directory = RunDirectory(database.resolve().parent)
    if database.name != directory.database.name or not (directory.path / "metadata.json").exists():
        return migrate_file(database, target, start, keep_backup=keep_backup, on_progress=shown)
    try:
        directory.acquire()
    except OSError as problem:
        reason = problem.strerror or problem
        raise RecordingError(f"can't write to {directory.path}: {reason}; make it writable first") from None
    try:
        head = check_before_migration(directory)
        done = migrate_file(database, target, start, keep_backup=keep_backup, on_progress=shown)
        if done.steps:
            seal_migrated(directory, {"from": done.from_version, "to": done.to_version, "head": head})
        return done
    finally:
        directory.release()


def ingest_runs(options: Options) -> int:
    """Load runs into the central database."""
    folders = [database.resolve().parent for database in find_databases(options.folder, options.runs)]
    central = Central(options.folder, options.database_url)
    with central.connected(make=True) as connection:
        import psycopg  # of the extra `central`; opening the database has said so if it is missing

        prepare(connection, central)

        def work(folder: Path) -> Ingested:
            try:
                return ingest(connection, RunDirectory(folder), only_new=options.incremental)
            except (PtpError, psycopg.DataError, psycopg.IntegrityError) as problem:
                raise PtpError(f"{folder} was not loaded: {str(problem).splitlines()[0]}") from None

        def report(run: Ingested) -> None:
            counts = "" if run.outcome == "skipped" else f", {run.decisions:,} decisions, {run.battles:,} battles"
            if options.talks:
                say(f"{run.run_id}: {run.outcome}{counts}")

        done, failed = each(folders, work, report)
        if not options.no_refresh and any(run.outcome != "skipped" for run in done):
            refresh(connection)
    skipped = sum(run.outcome == "skipped" for run in done)
    errors = [{"run_dir": folder, "error": error} for folder, error in failed]
    return answer(
        options,
        {"database": str(central), "total": len(folders), "successful": len(done) - skipped, "failed": len(errors),
         "skipped": skipped, "runs": done, "errors": errors},
        f"{central}: loaded {len(done) - skipped:,} of {len(folders):,} runs, {skipped:,} were already there",
        failed=bool(errors),
    )  # fmt: skip


def refresh_all(options: Options) -> int:
    """Recompute the figures that span runs."""
    central = Central(options.folder, options.database_url)
    with central.connected() as connection:
        prepare(connection, central)
        refresh(connection)
    return answer(options, {"database": str(central), "refreshed": True}, f"{central}: refreshed")


def status(options: Options) -> int:
    """Show what the central database holds."""
    central = Central(options.folder, options.database_url)
    with central.connected() as connection:
        status = read_status(connection, central)
    return show(
        options, status,
        f"{status.database}: PostgreSQL {status.server}, central schema {status.version or 'none yet'}",
        f"  {number(status.runs)} runs, {number(status.decisions)} decisions, {number(status.battles)} battles, "
        f"{status.size_bytes / 1e6:,.1f} MB; last import {status.last_import or '-'}",
    )  # fmt: skip


def migrate_all(options: Options) -> int:
    """Migrate"""
    if options.central:
        refuse_with_central(RUN=options.runs, **{"from": options.start}, keep_backup=options.keep_backup)
        target = CENTRAL_SCHEMAS.check_target(options.to or CENTRAL_SCHEMAS.newest)
        with Central(options.folder, options.database_url).opened(make=not options.dry_run) as db:
            done = plan(db, target) if options.dry_run else migrate(db, target)
        return _report(options, [done], [], *_describe(done, options.dry_run))
    target = RUN_SCHEMAS.check_target(options.to or RUN_SCHEMAS.newest)
    if options.start is not None:
        RUN_SCHEMAS.check_target(options.start)

    def work(database: Path) -> Plan:
        if options.dry_run:
            with opened(database) as db:
                return plan(db, target, options.start)
        with work_shown(options.talks) as shown:
            return migrate_run(database, target, options.start, options.keep_backup, shown)

    def is_meant(database: Path) -> bool:
        try:
            return options.start is None or version_of(database) == options.start
        except PtpError:
            return True  # so that it is reported

    named = find_databases(options.folder, options.runs)
    if options.runs and len(named) == 1:
        only = work(named[0])
        return _report(options, [only], [], *_describe(only, options.dry_run))
    found = [database for database in named if is_meant(database)]
    plans, failed = each(found, work, lambda it: say(*_describe(it, options.dry_run)) if options.talks else None)
    return _report(options, plans, failed, *([] if found else [_nothing(options, options.start)]))


def _report(options: Options, plans: list[Plan], failed: list[tuple[str, str]], *lines: str) -> int:
    failures = [{"database": database, "error": error} for database, error in failed]
    facts = {"dry_run": options.dry_run, "migrations": plans, "failed": failures}
    return answer(options, facts, *lines, failed=bool(failed))


def _describe(planned: Plan, dry_run: bool) -> Iterator[str]:
    if not planned.steps:
        yield f"{planned.database}: already has schema {planned.to_version}"
        return
    versions = " -> ".join([planned.from_version, *(step.split()[-1] for step in planned.steps)])
    yield f"{planned.database}: {'would migrate' if dry_run else 'migrated'} {versions}"
    for loss in planned.dropped:
        if loss.rows:
            yield f"  {'would drop' if dry_run else 'dropped'} {loss}: schema {planned.to_version} can't hold it"
    if planned.backup:
        yield f"  kept the old database in {planned.backup}"


def _nothing(options: Options, start: str | None) -> str:
    which = f" of schema {start}" if start else ""
    return f"no databases{which} in {options.folder}; name one, or another folder with --data-dir"


def verify_all(options: Options) -> int:
    """Check"""
    if options.central:
        refuse_with_central(RUN=options.runs)
        with Central(options.folder, options.database_url).opened() as db:
            results = [verify(db)]
    else:
        results = [verify_file(readable(database)) for database in find_databases(options.folder, options.runs)]
    lines = []
    for result in results:
        found = f"{'good' if result.good else 'bad'}, schema {result.version or 'unknown'}"
        lines += [f"{result.database}: {found}", *(f"  {problem}" for problem in result.problems)]
    lines = lines or [_nothing(options, None)]
    return answer(options, results, *lines, failed=not all(result.good for result in results))


def history(options: Options) -> int:
    """Show the migrations of a database, or every schema."""
    if not options.central and options.run is None:
        versions = RUN_SCHEMAS.versions.items()
        facts = [{"version": version, "changes": changes} for version, changes in versions]
        return show(options, facts, *table(("schema", "what it changed"), list(versions)))
    with opened_database(options, options.run) as db:
        version = known_version(db) if options.central else read_version(db) or NO_VERSION
        migrations, name = read_history(db), db.name
    rows = [(m.migrated_at, m.from_version, m.to_version, sum(m.row_counts.values()), m.checksum[:12],
             "; ".join(str(loss) for loss in m.dropped if loss.rows) or "-") for m in migrations]  # fmt: skip
    return show(
        options, {"database": name, "version": version, "migrations": migrations},
        f"{name} has schema {version}{'' if migrations else ', and was never migrated'}",
        *table(("when", "from", "to", "rows", "checksum", "dropped"), rows, right=("rows",)),
    )  # fmt: skip


def drift_config(options: Options) -> int:
    """Compare a config file with the known settings."""
    tree = read_tree(Path(options.file))
    version = str(tree.get("version", UNMARKED))
    findings = config_drift(tree, options.file, options.reference or CONFIG_VERSION)
    return _differences(options, options.file, version, findings, CONFIG_KINDS)


def drift_schema(options: Options) -> int:
    """Compare a database with the schema of its version."""
    with opened_database(options, options.run or "latest") as db:
        version = known_version(db)
        return _differences(options, db.name, version, schema_drift(db, version), SCHEMA_KINDS)


def _differences(options: Options, name: str, version: str, findings: Sequence[Finding], kinds: Sequence[str]) -> int:
    grouped = {kind: [each for each in findings if each.kind == kind] for kind in kinds}
    rows = [(each.kind.replace("_", " "), each.name, each.problem, each.fix) for each in findings]
    return answer(
        options, {"name": name, "version": version, "drift": bool(findings), **grouped},
        f"{name} (version {version}) {'differs:' if findings else 'has no drift'}",
        *table(("what", "name", "problem", "fix"), rows),
        failed=bool(findings),
    )  # fmt: skip
