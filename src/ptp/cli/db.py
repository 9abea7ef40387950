"""`ptp db`."""

from __future__ import annotations

from pathlib import Path

from ptp.aggregation.ingest import Ingested, ingest, prepare, refresh
from ptp.aggregation.server import read_status
from ptp.cli.common import each
from ptp.cli.databases import find_central, find_databases
from ptp.cli.output import answer, number, say, show
from ptp.cli.parser import Options
from ptp.errors import PtpError
from ptp.recording import RunDirectory


def ingest_runs(options: Options) -> int:
    """Load runs into the central database."""
    folders = [database.resolve().parent for database in find_databases(options.folder, options.runs)]
    central = find_central(options)
    with central.connected(make=True) as connection:
        import psycopg  # of the extra `central`; opening the database has said so if it is missing

        prepare(connection, central)

        def work(folder: Path) -> Ingested:
            try:
                return ingest(connection, RunDirectory(folder), only_new=options.incremental)
            except (PtpError, psycopg.DataError, psycopg.IntegrityError) as problem:
                raise PtpError(f"{folder} was not loaded: {str(problem).splitlines()[0]}") from None

        done, failed = each(folders, work, lambda run: say(_line(run)) if options.talks else None)
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
    return show(
        options, status,
        f"{status.database}: PostgreSQL {status.server}, central schema {status.version or 'none yet'}",
        f"  {number(status.runs)} runs, {number(status.decisions)} decisions, {number(status.battles)} battles, "
        f"{status.size_bytes / 1e6:,.1f} MB; last import {status.last_import or '-'}",
    )  # fmt: skip
