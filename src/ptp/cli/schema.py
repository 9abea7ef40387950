"""`ptp schema`: bring run databases, or the central one, to another schema, verify them, and tell their history."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ptp.cli.common import data_dir, parse_common
from ptp.cli.databases import (
    RUNS_HELP,
    add_central_flags,
    find_central,
    find_databases,
    migrate_run,
    refuse_with_central,
)
from ptp.cli.parser import Parser, choose
from ptp.config.tree import System
from ptp.errors import PtpError

if TYPE_CHECKING:
    from ptp.versioning.migration import OnProgress, Plan
    from ptp.versioning.stamp import Loss, Migration
    from ptp.versioning.verify import Verified

DESCRIPTION = """Bring run databases, or with --central the central one, to another schema, verify them, and tell
their history.

  ptp schema migrate [RUN...]   take databases to the newest schema, or to --to
  ptp schema verify [RUN...]    check versions, tables and pages
  ptp schema history [RUN]      the migrations of a run; without one, every schema there is
"""


def main(argv: list[str]) -> int:
    """Run the verb."""
    actions = {"migrate": _migrate, "verify": _verify, "history": _history}
    return choose("schema", DESCRIPTION, actions, argv)


def _migrate(argv: list[str]) -> int:
    from ptp.versioning import SCHEMA_VERSION

    parser = Parser("ptp schema migrate", "Take databases to another schema, in one step that can't be torn.")
    parser.add_argument("runs", metavar="RUN", nargs="*", help=RUNS_HELP)
    parser.add_argument("--from", dest="start", metavar="V", help="Only databases of this schema.")
    parser.add_argument("--to", metavar="V", help=f"Schema to have (default: {SCHEMA_VERSION}, or the newest central).")
    parser.add_argument("--dry-run", action="store_true", help="Say what would be done, and do nothing.")
    parser.add_argument("--keep-backup", action="store_true", help="Keep the copy of each database as it was.")
    add_central_flags(parser)
    options, system = parse_common(parser, argv)
    if options.central:
        refuse_with_central(RUN=options.runs, **{"from": options.start}, keep_backup=options.keep_backup)
        return _migrate_central(options, system)
    options.to = options.to or SCHEMA_VERSION

    from ptp.cli.output import print_json
    from ptp.versioning.migration import plan
    from ptp.versioning.schema import RUN_SCHEMAS
    from ptp.versioning.sqlite import opened

    RUN_SCHEMAS.check_target(options.to)
    if options.start is not None:
        RUN_SCHEMAS.check_target(options.start)
    databases = find_databases(data_dir(system), options.runs)
    one = len(databases) == 1 and bool(options.runs)
    if not one:
        databases = [database for database in databases if _is_of(database, options.start)]
    talk = not (options.json or system.quiet)

    def work(database: Path) -> Plan:
        if options.dry_run:
            with opened(database) as db:
                return plan(db, options.to, options.start)
        with _progress(talk) as on_progress:
            return migrate_run(database, options.to, options.start, options.keep_backup, on_progress)

    plans, failed = _each(databases, work, _teller(talk, options.dry_run), one)
    if options.json:
        print_json({"dry_run": options.dry_run, "migrations": plans, "failed": failed})
    elif talk and not plans and not failed:
        _say_none(data_dir(system), options.start)
    return 1 if failed else 0


def _migrate_central(options: argparse.Namespace, system: System) -> int:
    from ptp.aggregation.dialect import CENTRAL_SCHEMAS
    from ptp.cli.output import print_json
    from ptp.versioning.migration import migrate, plan

    target = CENTRAL_SCHEMAS.check_target(options.to or CENTRAL_SCHEMAS.newest)
    with find_central(options, system).opened(make=not options.dry_run) as db:
        done = plan(db, target) if options.dry_run else migrate(db, target)
    _teller(not (options.json or system.quiet), options.dry_run)(done)
    if options.json:
        print_json({"dry_run": options.dry_run, "migrations": [done], "failed": []})
    return 0


def _is_of(database: Path, version: str | None) -> bool:
    """Whether a database of many is meant; one that can't be read is, so that it is told of."""
    from ptp.versioning.sqlite import opened
    from ptp.versioning.stamp import read_version

    if version is None:
        return True
    try:
        with opened(database) as db:
            return read_version(db) == version
    except PtpError:
        return True


def _each(
    databases: Sequence[Path], work: Callable[[Path], Plan], tell: Callable[[Plan], None], one: bool
) -> tuple[list[Plan], list[dict[str, str]]]:
    """Do the work for each database; one that fails does not keep the others from theirs."""
    plans: list[Plan] = []
    failed: list[dict[str, str]] = []
    for database in databases:
        try:
            plans.append(work(database))
            tell(plans[-1])
        except PtpError as problem:
            if one:
                raise
            failed.append({"database": str(database), "error": str(problem)})
            sys.stderr.write(f"ptp: {problem}\n")
    return plans, failed


def _teller(talk: bool, dry_run: bool) -> Callable[[Plan], None]:
    from ptp.cli.output import say

    def tell(plan: Plan) -> None:
        if not talk:
            return
        if not plan.steps:
            say(f"{plan.database}: has schema {plan.to_version} already")
            return
        verb = "would go" if dry_run else "went"
        say(f"{plan.database}: {verb} {' -> '.join([plan.from_version, *(s.split()[-1] for s in plan.steps)])}")
        for loss in _felt(plan.dropped):
            say(f"  {'would drop' if dry_run else 'dropped'} {loss}: schema {plan.to_version} can't hold it")
        if plan.backup:
            say(f"  kept the database as it was in {plan.backup}")

    return tell


def _felt(dropped: Sequence[Loss]) -> list[Loss]:
    """Return what was dropped with something in it."""
    return [loss for loss in dropped if loss.rows]


def _say_none(folder: Path, start: str | None) -> None:
    from ptp.cli.output import say

    which = f" of schema {start}" if start else ""
    say(f"no databases{which} in {folder}; name one, or another folder with --data-dir")


@contextmanager
def _progress(talk: bool) -> Iterator[OnProgress]:
    """Show how far a large database is: a bar on a terminal, silence elsewhere."""
    from ptp.versioning.migration import silent

    if not talk or not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def told(phase: str, done: int, total: int) -> None:
            bar.update(task, description=phase, completed=done, total=total)

        yield told


def _verify(argv: list[str]) -> int:
    parser = Parser("ptp schema verify", "Check the version, the tables and the pages of databases.")
    parser.add_argument("runs", metavar="RUN", nargs="*", help=RUNS_HELP)
    add_central_flags(parser)
    options, system = parse_common(parser, argv)

    from ptp.cli.output import print_json, say
    from ptp.recording.packed import readable
    from ptp.versioning.verify import verify_file

    if options.central:
        refuse_with_central(RUN=options.runs)
        results = [_verified_central(options, system)]
    else:
        results = [verify_file(readable(database)) for database in find_databases(data_dir(system), options.runs)]
    if options.json:
        print_json(results)
    elif not system.quiet:
        for result in results:
            say(f"{result.database}: {'good' if result.good else 'bad'}, schema {result.version or 'unknown'}")
            for problem in result.problems:
                say(f"  {problem}")
        if not results:
            _say_none(data_dir(system), None)
    return 0 if all(result.good for result in results) else 1


def _verified_central(options: argparse.Namespace, system: System) -> Verified:
    from ptp.versioning.verify import verify

    with find_central(options, system).opened() as db:
        return verify(db)


def _history(argv: list[str]) -> int:
    parser = Parser("ptp schema history", "Tell the migrations of a run; without one, every schema there is.")
    parser.add_argument("run", metavar="RUN", nargs="?", help="A run: its id, its directory, or `latest`.")
    add_central_flags(parser)
    options, system = parse_common(parser, argv)
    if options.central:
        refuse_with_central(RUN=options.run)
        return _tell_history(*_history_of_central(options, system), options.json)
    if options.run is not None:
        return _tell_history(*_history_of_run(data_dir(system), options.run), options.json)

    from ptp.cli.output import print_json, print_table
    from ptp.versioning.schema import RUN_SCHEMAS

    if options.json:
        print_json([{"version": version, "changes": changes} for version, changes in RUN_SCHEMAS.versions.items()])
    else:
        print_table(("schema", "what it changed"), list(RUN_SCHEMAS.versions.items()))
    return 0


def _history_of_run(folder: Path, run: str) -> tuple[str, str, list[Migration]]:
    from ptp.versioning.schema import NO_VERSION
    from ptp.versioning.sqlite import opened
    from ptp.versioning.stamp import read_history, read_version

    (database,) = find_databases(folder, [run])[:1]
    with opened(database) as db:
        return db.name, read_version(db) or NO_VERSION, read_history(db)


def _history_of_central(options: argparse.Namespace, system: System) -> tuple[str, str, list[Migration]]:
    from ptp.versioning.stamp import known_version, read_history

    with find_central(options, system).opened() as db:
        return db.name, known_version(db), read_history(db)


def _tell_history(database: str, version: str, history: list[Migration], as_json: bool) -> int:
    from ptp.cli.output import print_json, print_table, say

    if as_json:
        print_json({"database": database, "version": version, "migrations": history})
        return 0
    say(f"{database} has schema {version}{'' if history else ', and was never migrated'}")
    if history:
        rows = [(m.migrated_at, m.from_version, m.to_version, sum(m.row_counts.values()), m.checksum[:12],
                 "; ".join(map(str, _felt(m.dropped))) or "-") for m in history]  # fmt: skip
        print_table(("when", "from", "to", "rows", "checksum", "dropped"), rows, right=("rows",))
    return 0
