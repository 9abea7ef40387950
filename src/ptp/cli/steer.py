"""`ptp pause`, `step`, `set`, `stop` and `rollback`."""

from __future__ import annotations

from ptp.cli.common import named_run
from ptp.cli.output import answer
from ptp.cli.parser import Options
from ptp.config.flags import given_values
from ptp.config.load import CHANGEABLE
from ptp.errors import UsageError
from ptp.runs.remote import Steered


def _answer(options: Options, done: str, steered: Steered) -> int:
    return answer(options, steered, f"{done}: run {steered.run_id} is at tick {steered.tick}")


def pause(options: Options) -> int:
    """Pause a live run."""
    return _answer(options, "pause", named_run(options).pause())


def stop(options: Options) -> int:
    """Stop a live run."""
    return _answer(options, "stop", named_run(options).stop())


def step(options: Options) -> int:
    """Play a few ticks, then pause."""
    return _answer(options, "step", named_run(options).step(options.ticks))


def rollback(options: Options) -> int:
    """Go back by a few snapshots."""
    return _answer(options, "rollback", named_run(options).rollback(options.count))


def change(options: Options) -> int:
    """Change settings of a live run."""
    texts = list(options.settings)
    if len(texts) > 1 and "=" not in texts[0]:
        options.run = texts.pop(0)
    given = {
        item.flag.removeprefix("--"): str(value)
        for item, value in given_values(options).items()
        if item.section in CHANGEABLE
    }
    changes = {**dict(map(_setting, texts)), **given}
    if not changes:
        raise UsageError("nothing to set; name a setting, for example max-ticks=500")
    return _answer(options, "set", named_run(options).set(**changes))


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"{text!r} is not a setting; write it as max-ticks=500")
    if not value:
        raise UsageError(f"{name} needs a value; write it as {name}=500")
    return name.removeprefix("--"), value
