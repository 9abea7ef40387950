"""Verbs that steer a live run."""

from __future__ import annotations

from ptp.cli.verb import LATEST, Verb, argument

WHICH = argument("snapshot", metavar="SNAPSHOT", help="A snapshot: its name, id, beginning of its id, or `latest`.")
SNAPSHOT = (
    Verb("create", "Take a snapshot now, or at the end of a finished run.", "ptp.cli.snapshot:create",
         arguments=(*LATEST, argument("--name", metavar="NAME", help="Name to find it by."),
                    argument("--message", metavar="TEXT", help="What it is for."))),
    Verb("list", "List snapshots, newest first.", "ptp.cli.snapshot:list_all", arguments=LATEST),
    Verb("show", "Show the details of a snapshot.", "ptp.cli.snapshot:show", arguments=(WHICH, *LATEST)),
    Verb("restore", "Go back to a snapshot and discard what came after it.", "ptp.cli.snapshot:restore",
         arguments=(WHICH, *LATEST)),
    Verb("delete", "Delete a snapshot.", "ptp.cli.snapshot:delete", arguments=(WHICH, *LATEST)),
    Verb("verify", "Check every snapshot file of a run.", "ptp.cli.snapshot:verify", arguments=LATEST),
    Verb("export", "Write a snapshot with its tape to a file for another machine.", "ptp.cli.snapshot:export",
         arguments=(WHICH, argument("file", metavar="FILE", help="File to write; it must not exist yet."), *LATEST)),
    Verb("import", "Check an exported snapshot and make it a run.", "ptp.cli.snapshot:import_file",
         about="The snapshot brings the tape that led to it, so the run can be resumed, forked and replayed.",
         examples=("ptp snapshot import gym.ptpsnap", "ptp snapshot import red.ptpsnap --rom red.gb",
                   'ptp snapshot import "http://lab:8642/api/v1/snapshot/export/before-gym?run=latest"'),
         arguments=(
             argument("source", metavar="FILE", help="A file of `ptp snapshot export`, or its URL on a dashboard."),
             argument("--rom", metavar="FILE", help="The cartridge it belongs to."),
             argument("--world", metavar="NAME", help="The world it belongs to, if its own name is not found here."),
             argument("--token", metavar="TOKEN",
                      help="Token of the dashboard (default: PTP_TOKEN, or #token= in the URL)."),
         )),
)  # fmt: skip

STEER = (
    Verb("pause", "Pause a live run.", "ptp.cli.steer:pause", arguments=LATEST,
         examples=("ptp pause", "ptp step 5", "ptp resume")),
    Verb("step", "Play a few ticks of a live run, then pause it.", "ptp.cli.steer:step",
         examples=("ptp step", "ptp step 5"),
         arguments=(argument("ticks", nargs="?", type=int, default=1, help="Ticks to play (default: 1)."), *LATEST)),
    Verb("set", "Change tick rates, limits or command settings of a live run.", "ptp.cli.steer:change",
         examples=("ptp set max-ticks=500", "ptp set --tick-rate-base 60 --max-time 3600",
                   "ptp set 01a1e290 max-ticks=500"),
         arguments=(
             argument("settings", nargs="*", metavar="SETTING=VALUE",
                      help="An option below, without its dashes, and its value; a run may be named first."),
             LATEST[1],
         ),
         settings="changeable"),
    Verb("stop", "Stop a live run, as Ctrl-C would.", "ptp.cli.steer:stop", arguments=LATEST,
         examples=("ptp stop", "ptp stop 01a1e290")),
    Verb("rollback", "Roll a live run back by a few of its snapshots in memory.", "ptp.cli.steer:rollback",
         about="What came after that snapshot is discarded.",
         examples=("ptp rollback", "ptp rollback 3"),
         arguments=(argument("count", nargs="?", type=int, default=1, help="Snapshots back (default: 1)."), *LATEST)),
    Verb("snapshot", "Take, list, verify, restore and share snapshots.", verbs=SNAPSHOT,
         about="A SNAPSHOT is a name, an id, the beginning of an id, or `latest`."),
)  # fmt: skip
