"""Verbs that watch and read runs."""

from __future__ import annotations

from ptp.cli.verb import LIVE, PAGES, RUN, RUN_HELP, TICKS, TRUST, Verb, argument, switch

EXPORTS = ("status", "steps", "decisions", "events", "episodes", "episode_starts", "metrics", "frames", "model_calls",
           "snapshots", "config_changes", "rewinds", "notices", "errors")  # fmt: skip
PICTURE = (argument("-o", "--output", metavar="FILE", help="Write the picture to a file."), *LIVE)
SCREENSHOT = (
    Verb("latest", "Show the newest picture.", "ptp.cli.screenshot:show_latest", arguments=PICTURE),
    Verb("show", "Show one picture.", "ptp.cli.screenshot:show",
         arguments=(argument("screenshot", metavar="ID", help="A picture: its id, `latest`, or `tick-N` for any tick."),
                    *PICTURE)),
    Verb("list", "List the pictures that were kept, oldest first.", "ptp.cli.screenshot:list_kept",
         arguments=(*LIVE, *PAGES)),
    Verb("export", "Write the pictures that were kept to files, one for each tick.", "ptp.cli.screenshot:export",
         arguments=(
             *LIVE,
             argument("-o", "--output", metavar="DIR", required=True, help="Folder to write to; created if missing."),
             *TICKS,
             argument("--format", choices=("jpeg", "png", "webp"), help="Format (default: as kept)."),
         )),
)  # fmt: skip

READ = (
    Verb("runs", "List recorded runs, newest first.", "ptp.cli.runs:main",
         about="A narrow terminal gets fewer columns, and ids cut to beginnings that still name their runs.",
         examples=("ptp runs", "ptp runs --limit 0 --json"),
         arguments=(argument("--limit", type=int, default=20, help="Runs to list; 0 lists all (default: 20)."),)),
    Verb("show", "Show how a run went: how it ended, what it cost, its episodes.", "ptp.cli.show:show",
         about="With -v it includes the versions of everything involved.",
         examples=("ptp show latest", "ptp show 01a1e290 -v"),
         arguments=(RUN,)),
    Verb("replay", "Replay a recorded run in a fresh world and compare every tick.", "ptp.cli.replay:replay",
         about="Each tick is printed as it is played; --verify only compares, at full speed. The exit code is 1 when "
               "the replay differs from the tape.",
         examples=("ptp replay latest --verify", "ptp replay latest --from-tick 200"),
         arguments=(RUN, TRUST, switch("--verify", help="Only compare, without printing each tick."),
                    argument("--from-tick", type=int, default=1, help="Start comparing at tick N (default: 1)."))),
    Verb("dashboard", "Watch and steer runs in the browser.", "ptp.cli.dashboard:main",
         about="Serves the page and the API over the runs of the data directory, until Ctrl-C. On loopback (the "
               "default) anybody on this machine may read; changing a run needs the token, which is part of the "
               "printed address. On any other address, everything needs the token.",
         examples=("ptp dashboard",
                   'ptp dashboard --host 0.0.0.0 --port 8080 --token "$(openssl rand -hex 16)"'),
         arguments=(
             argument("--host", default="127.0.0.1", metavar="HOST", help="Address to bind (default: 127.0.0.1)."),
             argument("--port", type=int, default=8642, help="Port; 0 picks one (default: 8642, or the next free)."),
             argument("--token", metavar="TOKEN",
                      help="Token that allows changes (default: PTP_TOKEN, or a random one)."),
         )),
    Verb("watch", "Watch a live run in the terminal.", "ptp.cli.watch:watch",
         about="Shows screen, state, decisions and events. Ctrl-C leaves; the run continues. With --json each update "
               "is printed as a line of JSON, without pictures.",
         examples=("ptp watch", "ptp watch latest --json | jq .now.tick"),
         arguments=LIVE),
    Verb("status", "Show the current status of a run: state, newest decision, health.", "ptp.cli.show:status",
         examples=("ptp status", "ptp status latest --json"),
         arguments=LIVE),
    Verb("actions", "List or stream a run's commands and events.", "ptp.cli.watch:actions",
         examples=("ptp actions", "ptp actions latest --stream", 'ptp actions --search "needs rest" --kind commands'),
         arguments=(
             *LIVE,
             switch("--stream", help="Print what happens until the run ends; JSON lines with --json."),
             argument("--kind", choices=("all", "commands", "events"), default="all",
                      help="What to list (default: all)."),
             argument("--action", metavar="NAME", help="Only this command or kind of event."),
             argument("--search", metavar="TEXT", help="Only with this text in a reason, command or event."),
             *PAGES,
         )),
    Verb("screenshot", "List, show and export pictures.", verbs=SCREENSHOT,
         about="A run that kept no pictures is drawn from its tape. A terminal shows colors; a pipe gets shades."),
    Verb("metrics", "Show the metrics of a run.", "ptp.cli.show:metrics",
         examples=("ptp metrics", "ptp metrics latest --json"),
         arguments=LIVE),
    Verb("logs", "Show or follow a run's log.", "ptp.cli.show:logs",
         examples=("ptp logs", "ptp logs latest --follow --level warning"),
         arguments=(
             *LIVE,
             switch("-f", "--follow", help="Keep printing new lines until the run ends."),
             argument("--lines", type=int, default=50, help="Lines from the end (default: 50)."),
             argument("--level", choices=("info", "warning", "error"), help="Only lines of at least this level."),
         )),
    Verb("video", "Make a video of a recorded run from its tape.", "ptp.cli.replay:video",
         about="The run is played again, so it need not have kept pictures.",
         examples=("ptp video latest", "ptp video latest --from 1000 --to 2000 --speed 4 --overlay -o walk.mp4"),
         arguments=(
             RUN, TRUST, *TICKS,
             argument("--speed", type=float, default=1.0, metavar="X", help="Playback speed (default: 1)."),
             switch("--overlay", help="Show tick, action, reward and reasoning below the picture."),
             argument("-o", "--output", metavar="FILE", help="MP4 file to write (default: in the run's video folder)."),
         )),
    Verb("export", "Export the status of a run, or a table of one or several.", "ptp.cli.export:main",
         about="Every table has one schema for all runs and worlds.",
         examples=("ptp export --format json --output state.json",
                   "ptp export latest --what steps --format parquet --output steps.parquet",
                   "ptp export --what decisions --format ndjson | jq .reasoning"),
         arguments=(
             argument("runs", nargs="*", metavar="RUN", help=f"{RUN_HELP} (default: the live or newest one)."),
             argument("--run", metavar="RUN", help="The run, as an option."),
             argument("--format", choices=("json", "csv", "ndjson", "parquet"), default="json",
                      help="Format (default: json)."),
             argument("--what", choices=EXPORTS, default="status", help="The status, or a table (default: status)."),
             argument("-o", "--output", metavar="FILE", help="File to write (default: standard output)."),
         )),
)  # fmt: skip
