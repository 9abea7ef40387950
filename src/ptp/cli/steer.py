"""`ptp pause`, `step`, `set`, `stop` and `rollback`."""

from __future__ import annotations

import time

from msgspec import structs

from ptp.cli.common import named_run, when_stopped
from ptp.cli.output import answer
from ptp.cli.parser import Options
from ptp.config.flags import given_values
from ptp.config.load import CHANGEABLE
from ptp.errors import PtpError, UsageError
from ptp.runs import Run
from ptp.runs.steering import Steered

LOOK = 0.05  # seconds between two looks at a run that steps


def _answer(options: Options, done: str, steered: Steered, **more: object) -> int:
    line = f"{done}: run {steered.run_id} is at tick {steered.tick}"
    return answer(options, {**structs.asdict(steered), **more}, line)


def pause(options: Options) -> int:
    """Pause a live run."""
    return _answer(options, "pause", named_run(options).pause())


def stop(options: Options) -> int:
    """Stop a live run."""
    return _answer(options, "stop", named_run(options).stop())


def step(options: Options) -> int:
    """Play a few ticks, then pause."""
    run = named_run(options)
    with when_stopped(f"no longer waiting; run {run.id} pauses after {options.ticks} ticks"):
        return _answer(options, "step", _stepped(run, options.ticks))


def _stepped(run: Run, ticks: int) -> Steered:
    """Step, and return where the run stands when it has: paused again, ended, or resumed by somebody else."""
    from ptp.runner.protocol import Status
    from ptp.runs.steering import steer

    now = run.step(ticks)
    last = now.tick + ticks
    while not now.paused and now.tick <= last:
        time.sleep(LOOK)
        try:
            now = steer(run.directory, Status())
        except PtpError:
            if run.is_live:
                raise
            return Steered(run.id, run.last_tick, None)
    return now


def rollback(options: Options) -> int:
    """Go back by a few snapshots."""
    return _answer(options, "rollback", named_run(options).rollback(options.count))


def change(options: Options) -> int:
    """Change settings of a live run."""
    texts = list(options.settings)
    if len(texts) > 1 and "=" not in texts[0]:
        options.run = texts.pop(0)
    changes = dict(map(_setting, texts))
    for item, value in given_values(options).items():
        if item.section in CHANGEABLE:
            changes[item.flag.removeprefix("--")] = str(value)
    if not changes:
        raise UsageError("nothing to set; name a setting, for example max-ticks=500")
    now = ", ".join(f"{name}={value}" for name, value in changes.items())
    return _answer(options, f"set {now}", named_run(options).set(**changes), settings=changes)


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"{text!r} is not a setting; write it as max-ticks=500")
    if not value:
        raise UsageError(f"{name} needs a value; write it as {name}=500")
    return name.removeprefix("--"), value
