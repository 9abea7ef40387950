"""`ptp db`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from ptp.aggregation.ingest import Ingested, ingest, prepare, refresh
from ptp.aggregation.server import read_status
from ptp.cli.common import data_dir
from ptp.cli.databases import find_central, find_databases
from ptp.cli.output import answer, number, print_json, say
from ptp.cli.parser import Options
from ptp.errors import PtpError
from ptp.recording import RunDirectory


def ingest_runs(options: Options) -> int:
    """Load runs into the central database."""
    folders = [database.resolve().parent for database in find_databases(data_dir(options), options.runs)]
    central = find_central(options)
    with central.connected(make=True) as connection:
        prepare(connection, central)

        def work(folder: Path) -> Ingested:
            return ingest(connection, RunDirectory(folder), only_new=options.incremental)

        done, errors = _each(folders, work, options.talks)
        if not options.no_refresh and any(each.outcome != "skipped" for each in done):
            refresh(connection)
    skipped = sum(each.outcome == "skipped" for each in done)
    answer(
        options,
        {"database": str(central), "total": len(folders), "successful": len(done) - skipped, "failed": len(errors),
         "skipped": skipped, "runs": done, "errors": errors},
        f"{central}: loaded {len(done) - skipped:,} of {len(folders):,} runs, {skipped:,} were already there",
    )  # fmt: skip
    return 1 if errors else 0


def _each(
    folders: list[Path], work: Callable[[Path], Ingested], talks: bool
) -> tuple[list[Ingested], list[dict[str, str]]]:
    """Do the work for each run; one that fails does not keep the others out."""
    import psycopg  # of the extra `central`; opening the database has said so if it is missing

    done: list[Ingested] = []
    errors: list[dict[str, str]] = []
    for folder in folders:
        try:
            done.append(work(folder))
        except (PtpError, psycopg.DataError, psycopg.IntegrityError) as problem:
            reason = f"{folder} was not loaded: {str(problem).splitlines()[0]}"
            errors.append({"run_dir": str(folder), "error": reason})
            sys.stderr.write(f"ptp: {reason}\n")
            continue
        if talks:
            say(_line(done[-1]))
    return done, errors


def _line(run: Ingested) -> str:
    counts = "" if run.outcome == "skipped" else f", {run.decisions:,} decisions, {run.battles:,} battles"
    return f"{run.run_id}: {run.outcome}{counts}"


def refresh_all(options: Options) -> int:
    """Recompute the figures that span runs."""
    central = find_central(options)
    with central.connected() as connection:
        prepare(connection, central)
        refresh(connection)
    return answer(options, {"database": str(central), "refreshed": True}, f"{central}: refreshed")


def status(options: Options) -> int:
    """Show what the central database holds."""
    central = find_central(options)
    with central.connected() as connection:
        status = read_status(connection, central)
    if options.json:
        print_json(status)
    else:
        say(f"{status.database}: PostgreSQL {status.server}, central schema {status.version or 'none yet'}")
        say(f"  {number(status.runs)} runs, {number(status.decisions)} decisions, {number(status.battles)} battles, "
            f"{status.size_bytes / 1e6:,.1f} MB; last import {status.last_import or '-'}")  # fmt: skip
    return 0
