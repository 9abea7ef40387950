"""Every verb, in the groups that `ptp --help` shows."""

from __future__ import annotations

from argparse import SUPPRESS

from ptp.cli.verb import Argument, Verb, argument, switch

RUN_ID = argument("--run-id", help=SUPPRESS)  # whoever starts a run may name it, and so know it at once
TRUST = switch("--trust", help="Load the code that the run names, although it is not installed.")
RUN_HELP = "A run: its id, the beginning of its id, its name, its directory, or `latest`"


def optional_run(otherwise: str, default: str | None = None) -> Argument:
    """Declare a run that may be left out; *otherwise* says what is meant then."""
    return argument("run", nargs="?", default=default, metavar="RUN", help=f"{RUN_HELP} (default: {otherwise}).")


def _either_way(default: str | None, otherwise: str) -> tuple[Argument, Argument]:
    option = argument("--run", dest="run", default=default, metavar="RUN", help="The run, as an option.")
    return optional_run(otherwise, SUPPRESS), option


RUN = optional_run("latest", "latest")
LATEST = _either_way("latest", "latest")
LIVE = _either_way(None, "the live or newest run")
PAGES = (
    argument("--page", type=int, default=1, help="Page to list (default: 1)."),
    argument("--page-size", type=int, default=20, help="Entries per page (default: 20)."),
)
TICKS = (
    argument("--from", dest="first", type=int, default=1, help="First tick (default: 1)."),
    argument("--to", dest="last", type=int, help="Last tick (default: the run's last)."),
)
DRY_RUN = switch("--dry-run", help="Show what would be done, and change nothing.")
RUNS = argument(
    "runs", nargs="*", metavar="RUN",
    help="Runs: ids, directories, database files or patterns like 'var/records/01*' (default: all runs).",
)  # fmt: skip
DATABASE_URL = argument(
    "--database-url", metavar="URL",
    help="PostgreSQL URL of the central database (default: PTP_DATABASE_URL, or a database in the data directory).",
)  # fmt: skip
CENTRAL = (switch("--central", help="Work on the central database instead of runs."), DATABASE_URL)

EMULATOR = (
    Verb("serve", "Serve a world over HTTP and WebSocket, for agents and trainers of every kind.", "emulator:serve",
         about="Answers the requests of pokemon-gym, OpenEnv, and a protocol of its own that takes many commands at "
               "once. On loopback (the default) anybody on this machine may play; on any other address every request "
               "needs the token, unless --no-token is given. Further games are below /games.",
         examples=("ptp emulator serve --world tallgrass",
                   "ptp emulator serve --rom game.gb --port 8081 --record",
                   "ptp emulator serve --world CartPole-v1 --port 0"),
         arguments=(
             argument("--world", metavar="NAME", help="World to serve (default: tallgrass)."),
             argument("--rom", metavar="FILE", help="Game Boy cartridge to serve instead of a world by name."),
             argument("--host", default="127.0.0.1", metavar="HOST", help="Address to bind (default: 127.0.0.1)."),
             argument("--port", type=int, default=8081, help="Port; 0 picks one (default: 8081)."),
             argument("--games", type=int, default=16, help="Games beside the default one, at most (default: 16)."),
             argument("--token", metavar="TOKEN",
                      help="Token that every request needs (default: PTP_TOKEN; on loopback none, else a random one)."),
             switch("--no-token", help="Let everybody play who can connect."),
             switch("--record", help="Record every session as a run."),
         )),
)  # fmt: skip

POOL = (
    Verb("start", "Start emulators in the background, ready to play scripts in parallel.", "pool:start",
         about="The pool lives until `ptp pool stop`; there is one for each data directory. An emulator that fails is "
               "replaced, and its script is played by another from the same beginning.",
         examples=("ptp pool start --world tallgrass", "ptp pool start --rom game.gb --size 8 --ports 9000-9007",
                   "ptp pool start --url http://127.0.0.1:8081 --url http://127.0.0.1:8082"),
         arguments=(
             argument("--world", metavar="NAME", help="World to play (default: tallgrass)."),
             argument("--rom", metavar="FILE", help="Game Boy cartridge to play instead of a world by name."),
             argument("--size", type=int, help="Emulators (default: 4, or one for each --url)."),
             argument("--ports", default="8081-8084", metavar="PORTS",
                      help="Ports of the first emulators; others follow the last one (default: 8081-8084)."),
             argument("--backend", choices=("processes", "containers"), default="processes",
                      help="Where the emulators run (default: processes)."),
             argument("--image", default="pokemon-gym:latest", metavar="IMAGE",
                      help="Image of the containers (default: pokemon-gym:latest, built if missing)."),
             argument("--url", action="append", metavar="URL",
                      help="Server that somebody else runs; repeatable. Its token is taken from PTP_TOKEN."),
             argument("--choice", choices=("round-robin", "least-busy", "weighted", "health-aware"),
                      default="health-aware", help="Who does the next work (default: health-aware)."),
             switch("--record", help="Record every session as a run."),
             switch("--foreground", help="Stay here until Ctrl-C instead of going to the background."),
         )),
    Verb("status", "Show the pool and its emulators.", "pool:status", examples=("ptp pool status --json",)),
    Verb("scale", "Change how many emulators there are.", "pool:scale", examples=("ptp pool scale 8",),
         arguments=(argument("emulators", type=int, metavar="N", help="Emulators that there should be."),)),
    Verb("exec", "Play scripts in parallel, and show how they went.", "pool:execute",
         about="Exits with 1 if one of them did not succeed.",
         examples=("ptp pool exec walk.txt", "ptp pool exec *.txt --seed 3 --json"),
         arguments=(
             argument("files", nargs="*", metavar="FILE", help="Scripts in the button language (default: from stdin)."),
             argument("--checkpoint", metavar="ID", help="Checkpoint to begin at."),
             argument("--seed", type=int, default=0, help="Seed of the episode to begin (default: 0)."),
             argument("--times", type=int, default=1, help="How often to play each (default: 1)."),
         )),
    Verb("stop", "End the pool.", "pool:stop", examples=("ptp pool stop",)),
)  # fmt: skip

SCRIPT_FILE = argument("file", metavar="FILE", help="A button script.")
SCRIPT = (
    Verb("check", "Check a script for mistakes, all at once.", "scripts:check", settings="all",
         about="It is checked for the buttons and the state of a world: --world, or --rom; Tallgrass without either. "
               "The exit code is 2 when there are mistakes.",
         examples=("ptp script check walk.ptp", "ptp script check balance.ptp --world CartPole-v1 --json"),
         arguments=(SCRIPT_FILE,)),
    Verb("compile", "Show what a script becomes: instructions, frames, time, what can fail.", "scripts:compile_script",
         settings="all", examples=("ptp script compile walk.ptp", "ptp script compile walk.ptp --json"),
         arguments=(SCRIPT_FILE,)),
    Verb("run", "Play a script and record everything, as `ptp run --agent script` does.", "scripts:run", settings="all",
         about="The exit code is 1 when an EXPECT or a loop of it failed.",
         examples=("ptp script run walk.ptp --tick-rate-base 0",
                   "ptp script run balance.ptp --world CartPole-v1 --agent-option on_fail=continue"),
         arguments=(SCRIPT_FILE, RUN_ID)),
    Verb("fmt", "Rewrite a script in its usual form, with its comments.", "scripts:fmt",
         examples=("ptp script fmt walk.ptp", "ptp script fmt walk.ptp --check"),
         arguments=(SCRIPT_FILE, switch("--check", help="Change nothing, and fail when it would be changed."))),
)  # fmt: skip

PLAY = (
    Verb("run", "Play an agent in a world and record everything.", "play:run_new", settings="all",
         arguments=(RUN_ID,),
         examples=("ptp run --world tallgrass --agent explorer --max-ticks 300",
                   "ptp run --world CliffWalking-v1 --tick-rate-base 0 --episodes 10 --random-seed 7",
                   "ptp run --world Taxi-v4 --agent script --script moves.txt")),
    Verb("resume", "Resume a stopped, crashed or paused run.", "play:resume_run", settings="all",
         about="It continues in place from its last committed tick: from the newest intact snapshot, then along the "
               "tape. It keeps the settings it was recorded with; options change limits, tick rates and the like.",
         examples=("ptp resume latest", "ptp resume latest --max-ticks 5000"),
         arguments=(RUN, TRUST)),
    Verb("fork", "Start a new run from any tick of another.", "play:fork_run", settings="all",
         about="The new run shares the other's history up to that tick and its settings, which options change. With "
               "--random-seed or another --agent it diverges from there; with neither it plays the same.",
         examples=("ptp fork latest --at-tick 500 --random-seed 8",
                   "ptp fork latest --at-tick 500 --agent script --script moves.txt"),
         arguments=(RUN, argument("--at-tick", type=int, required=True, help="Last tick of the shared history."), TRUST,
                    RUN_ID)),
    Verb("train", "Let an agent learn, as fast as it can, and record everything.", "learn:train", settings="all",
         about="It is `ptp run` with --agent bdi and --tick-rate-base 0, unless others are given.",
         examples=("ptp train --world FrozenLake-v1 --episodes 5000", "ptp train --world CartPole-v1 --episodes 250"),
         arguments=(RUN_ID,)),
    Verb("eval", "Play greedily with what a run has learnt, in a run of its own.", "learn:evaluate", settings="all",
         about="It plays the same world, 100 episodes unless a limit is given, and learns nothing more.",
         examples=("ptp eval latest", "ptp eval latest --episodes 20 --random-seed 7"),
         arguments=(RUN, TRUST, RUN_ID)),
    Verb("emulator", "Serve worlds to other programs.", verbs=EMULATOR),
    Verb("pool", "Play scripts on many emulators at once.", verbs=POOL),
    Verb("script", "Check, compile, run and format button scripts.", verbs=SCRIPT,
         about="A script presses buttons, waits, loops, and asks for the state of the game; docs/scripts.md has the "
               "language."),
    Verb("worlds", "List the worlds that can be played.", "catalog:worlds",
         about="These are ptp's own, plug-ins, and everything in Gymnasium. Some of Gymnasium's need a package of "
               "their own; playing one names the package.",
         examples=("ptp worlds", "ptp run --world CartPole-v1 --max-ticks 100")),
    Verb("agents", "List the agents that can play.", "catalog:agents",
         examples=("ptp agents", "ptp run --world tallgrass --agent explorer")),
)  # fmt: skip

EXPORTS = ("status", "steps", "decisions", "events", "episodes", "episode_starts", "metrics", "resources",
           "transitions", "learning", "frames", "model_calls",
           "snapshots", "config_changes", "rewinds", "notices", "errors")  # fmt: skip
PICTURE = (argument("-o", "--output", metavar="FILE", help="Write the picture to a file."), *LIVE)
SCREENSHOT = (
    Verb("latest", "Show the newest picture.", "screenshot:show", arguments=PICTURE),
    Verb("show", "Show one picture.", "screenshot:show",
         arguments=(argument("screenshot", metavar="ID", help="A picture: its id, `latest`, or `tick-N` for any tick."),
                    *PICTURE)),
    Verb("list", "List the pictures that were kept, oldest first.", "screenshot:list_kept",
         arguments=(*LIVE, *PAGES)),
    Verb("export", "Write the pictures that were kept to files, one for each tick.", "screenshot:export",
         arguments=(
             *LIVE,
             argument("-o", "--output", metavar="DIR", required=True, help="Folder to write to; created if missing."),
             *TICKS,
             argument("--format", choices=("jpeg", "png", "webp"), help="Format (default: as kept)."),
         )),
)  # fmt: skip

READ = (
    Verb("runs", "List, filter, sort and group recorded runs.", "runs:main",
         about="The newest come first, with their key figures. A narrow terminal gets fewer columns, and ids cut to "
               "beginnings that still identify their runs.",
         examples=("ptp runs", "ptp runs --world tallgrass --status completed --since 7d",
                   "ptp runs --sort reward --limit 5", "ptp runs --tag paper --group-by agent",
                   "ptp runs --limit 0 --json"),
         arguments=(
             argument("--limit", type=int, default=20, help="Runs to list; 0 lists all (default: 20)."),
             argument("--status", choices=("running", "completed", "crashed", "manual_stop"),
                      help="Only runs of this status."),
             argument("--world", metavar="NAME", help="Only runs of this world."),
             argument("--agent", metavar="NAME", help="Only runs of this agent."),
             argument("--tag", metavar="TAG", help="Only runs with this tag."),
             argument("--experiment", metavar="NAME", help="Only runs of this experiment."),
             argument("--search", metavar="TEXT",
                      help="Only runs with these words in id, name, notes, world, agent, experiment, tags or error."),
             argument("--since", metavar="TIME", help="Only runs that started then or later (2026-01-31, 12h, 7d)."),
             argument("--until", metavar="TIME", help="Only runs that started before then."),
             argument("--min-ticks", type=int, help="Only runs of at least N ticks."),
             argument("--max-ticks", type=int, help="Only runs of at most N ticks."),
             argument("--min-reward", type=float, metavar="X", help="Only runs with at least this total reward."),
             argument("--max-reward", type=float, metavar="X", help="Only runs with at most this total reward."),
             argument("--sort", default="started", metavar="COLUMN",
                      help="Column to sort by, such as ticks, reward, duration or badges (default: started)."),
             switch("--reverse", help="Sort the smallest or oldest first."),
             argument("--group-by", choices=("world", "agent", "status", "experiment", "tag", "seed"),
                      help="Show one line for each group of all matching runs."),
         )),
    Verb("show", "Show how a run went: how it ended, what it cost, its episodes.", "show:show",
         about="With -v it includes the versions of everything involved.",
         examples=("ptp show latest", "ptp show 01a1e290 -v"),
         arguments=(RUN,)),
    Verb("transcript", "Show what an agent and its model said to each other.", "transcript:transcript",
         about="Each call is shown with its tick, tokens, price and latency, with what was said to the model since the "
               "call before (>) and what it answered (<).",
         examples=("ptp transcript latest", "ptp transcript 01a1e290 --from-tick 100 --to-tick 120 --json"),
         arguments=(RUN, argument("--from-tick", type=int, default=0, help="Begin with the calls after tick N."),
                    argument("--to-tick", type=int, metavar="N", help="End with the calls after tick N."))),
    Verb("verify", "Check that runs are what was recorded: seal, schema, snapshots, header.", "verify:verify",
         about="Nothing is played; `ptp replay --verify` does that. A run that is not what was recorded is named with "
               "batch, table and first key, and the exit code is 1. Runs from before there was a seal are unsealed.",
         examples=("ptp verify latest", "ptp verify --json"),
         arguments=(RUNS,)),
    Verb("replay", "Replay a recorded run in a fresh world and compare every tick.", "play:replay_run",
         about="Each tick is printed as it is played; --verify only compares, at full speed. The exit code is 1 when "
               "the replay differs from the tape.",
         examples=("ptp replay latest --verify", "ptp replay latest --from-tick 200",
                   "ptp replay var/records/01a1e290/episodes/episode_000001.jsonl"),
         arguments=(argument("run", nargs="?", default="latest", metavar="RUN",
                             help=f"{RUN_HELP}; or an exported file of episodes (default: latest)."),
                    TRUST, switch("--verify", help="Only compare, without printing each tick."),
                    switch("--rerun-agent", help="Let the agent decide again, given what its model answered then, and "
                                                 "show the first prompt that differs."),
                    argument("--from-tick", type=int, default=1, help="Start comparing at tick N (default: 1)."))),
    Verb("dashboard", "Watch and steer runs in the browser.", "watch:dashboard",
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
    Verb("watch", "Watch a live run in the terminal.", "watch:watch",
         about="Shows screen, state, decisions, commands and events, also those from before. Keys: space pauses and "
               "resumes, s plays one tick, the left arrow goes back while it is held, b goes back a snapshot, n takes "
               "one, + and - change the speed, ? shows all keys, q quits; the run continues. With --json each update "
               "is printed as a line of JSON, without pictures.",
         examples=("ptp watch", "ptp watch latest --json | jq .now.tick"),
         arguments=LIVE),
    Verb("status", "Show the current status of a run: state, newest decision, health.", "show:status",
         examples=("ptp status", "ptp status latest --json"),
         arguments=LIVE),
    Verb("actions", "List or stream a run's commands and events.", "watch:actions",
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
    Verb("metrics", "Show the metrics of a run.", "show:metrics",
         examples=("ptp metrics", "ptp metrics latest --json"),
         arguments=LIVE),
    Verb("logs", "Show or follow a run's log.", "show:logs",
         examples=("ptp logs", "ptp logs latest --follow --level warning"),
         arguments=(
             *LIVE,
             switch("-f", "--follow", help="Keep printing new lines until the run ends."),
             argument("--lines", type=int, default=50, help="Lines from the end (default: 50)."),
             argument("--level", choices=("info", "warning", "error"), help="Only lines of at least this level."),
         )),
    Verb("video", "Make a video of a recorded run from its tape.", "play:video",
         about="The run is played again, so it need not have kept pictures.",
         examples=("ptp video latest", "ptp video latest --from 1000 --to 2000 --speed 4 --overlay -o walk.mp4"),
         arguments=(
             RUN, TRUST, *TICKS,
             argument("--speed", type=float, default=1.0, metavar="X", help="Playback speed (default: 1)."),
             switch("--overlay", help="Show tick, action, reward and reasoning below the picture."),
             argument("-o", "--output", metavar="FILE", help="MP4 file to write (default: in the run's video folder)."),
         )),
    Verb("export", "Export the status of a run, or a table of one or several.", "show:export",
         about="Every table has one schema for all runs and worlds.",
         examples=("ptp export --format json --output state.json",
                   "ptp export latest --what steps --format parquet --output steps.parquet",
                   "ptp export --what decisions --format ndjson | jq .reasoning",
                   "ptp export --what transitions --format sqlite --output transitions.sqlite"),
         arguments=(
             argument("runs", nargs="*", metavar="RUN", help=f"{RUN_HELP} (default: the live or newest one)."),
             argument("--run", metavar="RUN", help="The run, as an option."),
             argument("--format", choices=("json", "csv", "ndjson", "parquet", "sqlite"), default="json",
                      help="Format (default: json)."),
             argument("--what", choices=EXPORTS, default="status", help="The status, or a table (default: status)."),
             argument("-o", "--output", metavar="FILE", help="File to write (default: standard output)."),
         )),
)  # fmt: skip

WHICH = argument("snapshot", metavar="SNAPSHOT", help="A snapshot: its name, id, beginning of its id, or `latest`.")
SNAPSHOT = (
    Verb("create", "Take a snapshot now, or at the end of a finished run.", "steer:create_snapshot",
         arguments=(*LATEST, argument("--name", metavar="NAME", help="Name to find it by."),
                    argument("--message", metavar="TEXT", help="What it is for."))),
    Verb("list", "List snapshots, newest first.", "steer:list_snapshots",
         arguments=(*LATEST, argument("--tag", action="append", default=[], metavar="TAG",
                                      help="Only snapshots with this tag; repeatable."))),
    Verb("show", "Show the details of a snapshot.", "steer:show_snapshot", arguments=(WHICH, *LATEST)),
    Verb("restore", "Go back to a snapshot, or to any tick, and discard what came after it.", "steer:restore_snapshot",
         examples=("ptp snapshot restore before-gym", "ptp snapshot restore --tick 500"),
         arguments=(argument("snapshot", metavar="SNAPSHOT", nargs="?",
                             help="A snapshot: its name, id, beginning of its id, or `latest`."),
                    argument("--tick", type=int, metavar="N", help="Any tick instead of a snapshot."), *LATEST)),
    Verb("tag", "Tag a snapshot, or list its tags.", "steer:tag_snapshot",
         about="One tagged `keep` is not removed to make room, nor when the run goes back past it.",
         examples=("ptp snapshot tag before-gym keep best", "ptp snapshot tag before-gym --remove best"),
         arguments=(WHICH, argument("tags", metavar="TAG", nargs="*", help="Tags to add; left out, tags are listed."),
                    argument("--remove", action="append", default=[], metavar="TAG", help="Remove a tag."),
                    LATEST[1])),
    Verb("delete", "Delete a snapshot.", "steer:delete_snapshot", arguments=(WHICH, *LATEST)),
    Verb("verify", "Read every snapshot of a run, and restore each in a second world.", "steer:verify_snapshots",
         arguments=LATEST),
    Verb("export", "Write a snapshot with its tape to a file for another machine.", "steer:export_snapshot",
         arguments=(WHICH, argument("file", metavar="FILE", help="File to write; it must not exist yet."), *LATEST)),
    Verb("import", "Check an exported snapshot and make it a run.", "steer:import_file",
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
    Verb("pause", "Pause a live run.", "steer:pause", arguments=LATEST,
         examples=("ptp pause", "ptp step 5", "ptp resume")),
    Verb("step", "Play a few ticks of a live run, then pause it.", "steer:step",
         examples=("ptp step", "ptp step 5"),
         arguments=(argument("ticks", nargs="?", type=int, default=1, help="Ticks to play (default: 1)."), *LATEST)),
    Verb("set", "Change tick rates, limits or command settings of a live run.", "steer:change",
         examples=("ptp set max-ticks=500", "ptp set --tick-rate-base 60 --max-time 3600",
                   "ptp set 01a1e290 max-ticks=500"),
         arguments=(
             argument("settings", nargs="*", metavar="SETTING=VALUE",
                      help="An option below, without its dashes, and its value; a run may be named first."),
             LATEST[1],
         ),
         settings="changeable"),
    Verb("stop", "Stop a live run, as Ctrl-C would.", "steer:stop", arguments=LATEST,
         examples=("ptp stop", "ptp stop 01a1e290")),
    Verb("rewind", "Go back a number of ticks, and discard what came after.", "steer:rewind",
         about="A live run plays on from there; one that has ended is resumed with `ptp resume`.",
         examples=("ptp rewind 1", "ptp rewind 500 latest"),
         arguments=(argument("ticks", metavar="TICKS", type=int, help="Ticks to go back."), *LIVE)),
    Verb("rollback", "Roll a live run back by a few of its snapshots in memory.", "steer:rollback",
         about="What came after that snapshot is discarded.",
         examples=("ptp rollback", "ptp rollback 3"),
         arguments=(argument("count", nargs="?", type=int, default=1, help="Snapshots back (default: 1)."), *LATEST)),
    Verb("snapshot", "Take, list, verify, restore and share snapshots.", verbs=SNAPSHOT,
         about="A SNAPSHOT is a name, an id, the beginning of an id, or `latest`."),
    Verb("checkpoint", "The same as `ptp snapshot`.", verbs=SNAPSHOT,
         about="A SNAPSHOT is a name, an id, the beginning of an id, or `latest`."),
)  # fmt: skip

CLEANUP = (
    Verb("screenshots", "Remove the pictures of ended runs; the tape can draw them again.", "disk:cleanup_screenshots",
         arguments=(optional_run("every run"), DRY_RUN,
                    argument("--older-than", metavar="AGE", help="Only of runs that started longer ago (7d, 12h)."))),
    Verb("transitions", "Roll up old episodes of learners: merge statistics, remove steps that taught little.",
         "disk:cleanup_transitions",
         about="What ended an episode, was rewarded unlike the step before, or was a first try is kept. The tape stays "
               "as it is: the run replays and resumes as before.",
         examples=("ptp cleanup transitions latest --dry-run", "ptp cleanup transitions --least-error 0.05"),
         arguments=(optional_run("every run"), DRY_RUN,
                    argument("--least-error", type=float, default=0.01, metavar="X",
                             help="Remove steps with a smaller TD error (default: 0.01)."),
                    argument("--keep-episodes", type=int, default=500, metavar="N",
                             help="Newest episodes to leave as they are (default: 500)."))),
)  # fmt: skip
DB = (
    Verb("ingest", "Load runs into the central database, each completely or not at all.", "databases:ingest_runs",
         about="A run that is already there is replaced.",
         arguments=(
             RUNS,
             switch("--incremental", help="Skip ended runs that are already there."),
             switch("--no-refresh", help="Leave the figures that span runs to `ptp db refresh`."),
             DATABASE_URL,
         )),
    Verb("refresh", "Recompute the figures that span runs.", "databases:refresh_all", arguments=(DATABASE_URL,),
         about="Meant for a scheduler, after `ptp db ingest --no-refresh`."),
    Verb("status", "Show where the central database is and what it holds.", "databases:status",
         arguments=(DATABASE_URL,)),
)  # fmt: skip

MANAGE = (
    Verb("du", "Show how much disk space runs use.", "disk:du", arguments=(optional_run("every run"),),
         examples=("ptp du", "ptp du latest --json")),
    Verb("tag", "Tag a run, or list its tags.", "labels:tag",
         about="`ptp runs` and `ptp show` show tags, and `ptp prune --keep-tag` keeps tagged runs.",
         examples=("ptp tag latest best paper", "ptp tag latest", "ptp tag latest --remove best"),
         arguments=(
             argument("run", metavar="RUN", help=f"{RUN_HELP}."),
             argument("tags", metavar="TAG", nargs="*", help="Tags to add; without any, the run's tags are listed."),
             argument("--remove", action="append", default=[], metavar="TAG", help="Remove a tag."),
         )),
    Verb("note", "Write notes about a run, or show them.", "labels:note",
         about="New notes replace the old ones; empty notes remove them. `ptp show` shows them.",
         examples=('ptp note latest "stuck at the ledge from tick 800 on"', "ptp note latest"),
         arguments=(argument("run", metavar="RUN", help=f"{RUN_HELP}."),
                    argument("notes", metavar="TEXT", nargs="?", help="The notes; left out, the notes are shown."))),
    Verb("rename", "Name a run, so that verbs find it by its name.", "labels:rename",
         about="An empty name removes it.",
         examples=("ptp rename latest baseline", "ptp show baseline"),
         arguments=(argument("run", metavar="RUN", help=f"{RUN_HELP}."),
                    argument("name", metavar="NAME", help="The name; it has no slash."))),
    Verb("prune", "Remove or shrink old runs.", "disk:prune_runs",
         about="Without a limit it follows the settings (PTP_MAX_RECORD_BYTES, PTP_MAX_SESSIONS) and the storage "
               "profiles: how many runs each keeps, and for how many days their pictures. Live runs and runs with "
               "named snapshots are never touched.",
         examples=("ptp prune --dry-run", "ptp prune --max-sessions 100 --dry-run",
                   "ptp prune --older-than 7d --keep-tag paper",
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

FILE = argument("file", metavar="FILE", help="A YAML file of settings.")
TO = argument("--to", metavar="VERSION", help="Version to migrate to (default: the newest).")
CONFIG = (
    Verb("show", "Show the settings that a run with these options would have.", "config:show", settings="all"),
    Verb("validate", "Validate a YAML file of settings.", "config:validate", arguments=(FILE,)),
    Verb("migrate", "Migrate a YAML file to another version, keeping comments and order.", "config:migrate",
         arguments=(FILE, TO, DRY_RUN)),
    Verb("schema", "Print the settings as JSON Schema.", "config:schema"),
)  # fmt: skip
SCHEMA = (
    Verb("migrate", "Migrate databases to another schema, each in one transaction.", "databases:migrate_all",
         arguments=(
             RUNS, argument("--from", dest="start", metavar="VERSION", help="Only databases of this schema."), TO,
             DRY_RUN, switch("--keep-backup", help="Keep a copy of each database as it was."), *CENTRAL,
         )),
    Verb("verify", "Check the version, tables and pages of databases.", "databases:verify_all",
         arguments=(RUNS, *CENTRAL)),
    Verb("history", "Show the migrations of a run; without one, every schema.", "databases:history",
         arguments=(optional_run("every schema"), *CENTRAL)),
)  # fmt: skip
DRIFT = (
    Verb("config", "Compare a config file with the settings of a version.", "databases:drift_config",
         arguments=(FILE, argument("--reference", metavar="VERSION",
                                   help="Version to compare with (default: the newest)."))),
    Verb("schema", "Compare a database with the schema of its version.", "databases:drift_schema",
         arguments=(optional_run("latest"), *CENTRAL)),
)  # fmt: skip

SETTINGS = (
    Verb("config", "Show, validate, migrate and describe settings.", verbs=CONFIG),
    Verb("schema", "Migrate and verify databases, and show their history.", verbs=SCHEMA,
         about="These work on the databases of runs, or with --central on the central one."),
    Verb("drift", "Show how a config file or database differs from what it should be, and how to fix it.", verbs=DRIFT,
         about="The exit code is 1 when something differs."),
    Verb("version", "Show every version, and whether runs are compatible.", "version:main",
         about="With --check the recorded runs, or one RUN, are compared with this ptp, and the exit code is 1 when "
               "something is incompatible.",
         examples=("ptp version", "ptp version --check", "ptp version --check latest"),
         arguments=(optional_run("every run"), DATABASE_URL,
                    switch("--check", help="Compare with recorded runs and the central database."))),
    Verb("completion", "Print a completion script for bash or zsh.", "completion:main",
         examples=("source <(ptp completion bash)                        # in this shell",
                   "ptp completion bash >> ~/.bash_completion            # in every new shell",
                   "ptp completion zsh > ~/.zfunc/_ptp                   # in a folder of your fpath"),
         arguments=(argument("shell", choices=("bash", "zsh"), help="The shell to complete in."),)),
)  # fmt: skip

GROUPS = {
    "play": PLAY,
    "watch and read": READ,
    "steer a live run": STEER,
    "manage runs": MANAGE,
    "settings and versions": SETTINGS,
}
VERBS = tuple(verb for verbs in GROUPS.values() for verb in verbs)
