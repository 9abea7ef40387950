"""`ptp replay`."""

from __future__ import annotations

import sys
from contextlib import closing

from ptp.cli.common import opened_run
from ptp.cli.output import STATUS_COLORS, answer, paint, say
from ptp.cli.parser import Options
from ptp.cli.progress import work_shown
from ptp.replay import Replay, Replayed, Tape


def main(options: Options) -> int:
    """Replay a run, and fail when it differs."""
    tape = Tape(opened_run(options).directory)
    replay = Replay(tape, options.from_tick, trusted=options.trust)
    with closing(replay), work_shown(options.verify and options.talks) as shown:
        for step in replay:
            shown("comparing", step.tick, tape.length)
            if options.talks and not options.verify:
                say(f"tick {step.tick}  episode {step.episode}  command {step.command}  reward {step.reward}")
    answer(options, replay.result, _verdict(replay.result))
    if replay.result.difference is not None:
        sys.stderr.write(f"ptp: the replay differs from the tape at tick {replay.result.difference.tick}\n")
    return 0 if replay.result.equal else 1


def _verdict(result: Replayed) -> str:
    difference = result.difference
    if difference is None:
        start = f" from tick {result.from_tick}" if result.from_tick > 1 else ""
        equal = paint("equal", STATUS_COLORS["completed"])
        return f"{equal}: {result.ticks:,} ticks{start} of {result.run_id} replayed with the same hashes"
    return (
        f"{paint('different', STATUS_COLORS['crashed'])}: tick {difference.tick} should be {difference.expected} "
        f"but is {difference.actual}: {'; '.join(difference.why)}"
    )
