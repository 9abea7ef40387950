"""`ptp db`: bring runs into the central database, and tell how it stands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ptp.cli.common import data_dir, parse_common
from ptp.cli.databases import RUNS_HELP, URL_HELP, find_central, find_databases
from ptp.cli.parser import Parser, choose
from ptp.config.tree import System
from ptp.errors import PtpError

if TYPE_CHECKING:
    from ptp.aggregation.ingest import Ingested

DESCRIPTION = """Bring runs into the central database, where thousands of them can be compared, and tell how it stands.

  ptp db ingest [RUN...]   bring runs in; one that is there is replaced
  ptp db refresh           count anew what spans many runs, after `ptp db ingest --no-refresh`
  ptp db status            where the database is and what is in it

Without --database-url or PTP_DATABASE_URL the database is a PostgreSQL in the data directory, which needs the extra
`central` and runs as long as somebody uses it.
"""


def main(argv: list[str]) -> int:
    """Run the verb."""
    actions = {"ingest": _ingest, "refresh": _refresh, "status": _status}
    return choose("db", DESCRIPTION, actions, argv)


def _parse(parser: Parser, argv: list[str]) -> tuple[argparse.Namespace, System]:
    parser.add_argument("--database-url", metavar="URL", help=URL_HELP)
    return parse_common(parser, argv)


def _ingest(argv: list[str]) -> int:
    parser = Parser("ptp db ingest", "Bring runs into the central database, each whole or not at all.")
    parser.add_argument("runs", metavar="RUN", nargs="*", help=RUNS_HELP)
    parser.add_argument("--incremental", action="store_true", help="Skip runs that are there and have ended.")
    parser.add_argument("--no-refresh", action="store_true", help="Leave what spans many runs to `ptp db refresh`.")
    options, system = _parse(parser, argv)

    from ptp.aggregation.ingest import ingest, prepare, refresh
    from ptp.cli.output import print_json, say
    from ptp.recording import RunDirectory

    folders = [database.resolve().parent for database in find_databases(data_dir(system), options.runs)]
    talk = not (options.json or system.quiet)
    central = find_central(options, system)
    with central.connected(make=True) as connection:
        prepare(connection, central)

        def work(folder: Path) -> Ingested:
            return ingest(connection, RunDirectory(folder), only_new=options.incremental)

        done, errors = _each(folders, work, talk)
        if not options.no_refresh and any(each.outcome != "skipped" for each in done):
            refresh(connection)
    skipped = sum(each.outcome == "skipped" for each in done)
    if options.json:
        print_json({"database": str(central), "total": len(folders), "successful": len(done) - skipped,
                    "failed": len(errors), "skipped": skipped, "runs": done, "errors": errors})  # fmt: skip
    elif talk:
        say(f"{central}: {len(done) - skipped:,} of {len(folders):,} runs came in, {skipped:,} were there already")
    return 1 if errors else 0


def _each(
    folders: list[Path], work: Callable[[Path], Ingested], talk: bool
) -> tuple[list[Ingested], list[dict[str, str]]]:
    """Do the work for each run; one that fails does not keep the others from coming in."""
    import psycopg

    done: list[Ingested] = []
    errors: list[dict[str, str]] = []
    for folder in folders:
        try:
            done.append(work(folder))
        except (PtpError, psycopg.DataError, psycopg.IntegrityError) as problem:
            told = f"{folder} did not come in: {str(problem).splitlines()[0]}"
            errors.append({"run_dir": str(folder), "error": told})
            sys.stderr.write(f"ptp: {told}\n")
            continue
        if talk:
            _tell(done[-1])
    return done, errors


def _tell(run: Ingested) -> None:
    from ptp.cli.output import say

    counts = "" if run.outcome == "skipped" else f", {run.decisions:,} decisions, {run.battles:,} battles"
    say(f"{run.run_id}: {run.outcome}{counts}")


def _refresh(argv: list[str]) -> int:
    options, system = _parse(Parser("ptp db refresh", "Count anew what spans many runs; for a scheduler."), argv)

    from ptp.aggregation.ingest import prepare, refresh
    from ptp.cli.output import print_json, say

    central = find_central(options, system)
    with central.connected() as connection:
        prepare(connection, central)
        refresh(connection)
    if options.json:
        print_json({"database": str(central), "refreshed": True})
    elif not system.quiet:
        say(f"{central}: refreshed")
    return 0


def _status(argv: list[str]) -> int:
    options, system = _parse(Parser("ptp db status", "Tell where the central database is and what is in it."), argv)

    from ptp.aggregation.status import read_status
    from ptp.cli.output import number, print_json, say

    central = find_central(options, system)
    with central.connected() as connection:
        status = read_status(connection, central)
    if options.json:
        print_json(status)
    else:
        say(f"{status.database}: PostgreSQL {status.server}, central schema {status.version or 'none yet'}")
        say(f"  {number(status.runs)} runs, {number(status.decisions)} decisions, {number(status.battles)} battles, "
            f"{status.size_bytes / 1e6:,.1f} MB; last import {status.last_import or '-'}")  # fmt: skip
    return 0
