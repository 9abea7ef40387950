"""Verbs that play."""

from __future__ import annotations

from ptp.cli.verb import RUN, RUN_ID, TRUST, Verb, argument

PLAY = (
    Verb("run", "Play an agent in a world and record everything.", "ptp.cli.play:run_new", settings="all",
         arguments=(RUN_ID,),
         examples=("ptp run --world tallgrass --agent explorer --max-ticks 300",
                   "ptp run --world CliffWalking-v1 --tick-rate-base 0 --episodes 10 --random-seed 7",
                   "ptp run --world Taxi-v4 --agent script --script moves.txt")),
    Verb("resume", "Resume a stopped, crashed or paused run.", "ptp.cli.play:resume_run", settings="all",
         about="It continues in place from its last committed tick: from the newest intact snapshot, then along the "
               "tape. It keeps the settings it was recorded with; options change limits, tick rates and the like.",
         examples=("ptp resume latest", "ptp resume latest --max-ticks 5000"),
         arguments=(RUN, TRUST)),
    Verb("fork", "Start a new run from any tick of another.", "ptp.cli.play:fork_run", settings="all",
         about="The new run shares the other's history up to that tick and its settings, which options change. With "
               "--random-seed or another --agent it diverges from there; with neither it plays the same.",
         examples=("ptp fork latest --at-tick 500 --random-seed 8",
                   "ptp fork latest --at-tick 500 --agent script --script moves.txt"),
         arguments=(RUN, argument("--at-tick", type=int, required=True, help="Last tick of the shared history."), TRUST,
                    RUN_ID)),
    Verb("worlds", "List the worlds that can be played.", "ptp.cli.catalog:worlds",
         about="These are ptp's own, plug-ins, and everything in Gymnasium. Some of Gymnasium's need a package of "
               "their own; playing one names the package.",
         examples=("ptp worlds", "ptp run --world CartPole-v1 --max-ticks 100")),
    Verb("agents", "List the agents that can play.", "ptp.cli.catalog:agents",
         examples=("ptp agents", "ptp run --world tallgrass --agent explorer")),
)  # fmt: skip
