"""Verbs that manage what runs leave on disk."""

from __future__ import annotations

from ptp.cli.verb import DATABASE_URL, DRY_RUN, RUN_HELP, RUNS, Verb, argument, optional_run, switch

CLEANUP = (
    Verb("screenshots", "Remove the pictures of ended runs; the tape can draw them again.",
         "ptp.cli.disk:cleanup_screenshots",
         arguments=(optional_run("every run"), DRY_RUN,
                    argument("--older-than", metavar="AGE", help="Only of runs that started longer ago (7d, 12h)."))),
)  # fmt: skip
DB = (
    Verb("ingest", "Load runs into the central database, each completely or not at all.", "ptp.cli.db:ingest_runs",
         about="A run that is already there is replaced.",
         arguments=(
             RUNS,
             switch("--incremental", help="Skip ended runs that are already there."),
             switch("--no-refresh", help="Leave the figures that span runs to `ptp db refresh`."),
             DATABASE_URL,
         )),
    Verb("refresh", "Recompute the figures that span runs.", "ptp.cli.db:refresh_all", arguments=(DATABASE_URL,),
         about="Meant for a scheduler, after `ptp db ingest --no-refresh`."),
    Verb("status", "Show where the central database is and what it holds.", "ptp.cli.db:status",
         arguments=(DATABASE_URL,)),
)  # fmt: skip

MANAGE = (
    Verb("du", "Show how much disk space runs use.", "ptp.cli.disk:du", arguments=(optional_run("every run"),),
         examples=("ptp du", "ptp du latest --json")),
    Verb("tag", "Tag a run, or list its tags.", "ptp.cli.show:tag",
         about="`ptp runs` and `ptp show` show tags, and `ptp prune --keep-tag` keeps tagged runs.",
         examples=("ptp tag latest best paper", "ptp tag latest", "ptp tag latest --remove best"),
         arguments=(
             argument("run", metavar="RUN", help=f"{RUN_HELP}."),
             argument("tags", metavar="TAG", nargs="*", help="Tags to add; without any, the run's tags are listed."),
             argument("--remove", action="append", default=[], metavar="TAG", help="Remove a tag."),
         )),
    Verb("prune", "Remove or shrink old runs.", "ptp.cli.disk:prune_runs",
         about="Live runs and runs with named snapshots are never touched.",
         examples=("ptp prune --max-sessions 100 --dry-run", "ptp prune --older-than 7d --keep-tag paper",
                   "ptp prune --older-than 30d --roll-up", "ptp prune --restore RUN"),
         arguments=(
             DRY_RUN,
             argument("--max-record-bytes", metavar="N", help="Remove the oldest until all use at most N (2G, 500M)."),
             argument("--max-sessions", type=int, help="Keep the newest N runs."),
             argument("--older-than", metavar="AGE", help="Remove runs that started longer ago (7d, 12h)."),
             argument("--keep-tag", action="append", default=[], metavar="TAG",
                      help="Keep runs with this tag or experiment name."),
             switch("--roll-up", help="Shrink the runs instead of removing them."),
             argument("--restore", metavar="RUN", help="Restore the database of a run that was shrunk."),
         )),
    Verb("cleanup", "Remove files that can be made again.", verbs=CLEANUP),
    Verb("db", "Load runs into the central database and show its status.", verbs=DB,
         about="The central database compares thousands of runs. Without --database-url or PTP_DATABASE_URL it is a "
               "PostgreSQL in the data directory, which needs the extra `central` and runs only while it is used."),
)  # fmt: skip
