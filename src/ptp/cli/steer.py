"""`ptp pause`, `step`, `set`, `stop` and `rollback`."""

from __future__ import annotations

from typing import Any

from ptp.cli.common import named_run
from ptp.cli.output import answer
from ptp.cli.parser import CHANGEABLE, Options
from ptp.config.flags import given_values
from ptp.errors import UsageError
from ptp.runner.control import ask


def _ask(options: Options, request: str, **facts: Any) -> int:
    directory = named_run(options)
    now = ask(directory, request, **facts)
    return answer(options, now, f"{request}: run {directory.run_id} is at tick {now['tick']}")


def pause(options: Options) -> int:
    """Pause a live run."""
    return _ask(options, "pause")


def stop(options: Options) -> int:
    """Stop a live run."""
    return _ask(options, "stop")


def step(options: Options) -> int:
    """Play a few ticks, then pause."""
    return _ask(options, "step", ticks=options.ticks)


def rollback(options: Options) -> int:
    """Go back by a few snapshots."""
    return _ask(options, "rollback", count=options.count)


def change(options: Options) -> int:
    """Change settings of a live run."""
    texts = list(options.settings)
    if len(texts) > 1 and "=" not in texts[0]:
        options.run = texts.pop(0)
    given = {item.flag: str(value) for item, value in given_values(options).items() if item.section in CHANGEABLE}
    flags = {**dict(map(_setting, texts)), **given}
    if not flags:
        raise UsageError("nothing to set; name a setting, for example max-ticks=500")
    return _ask(options, "set", flags=flags)


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"{text!r} is not a setting; write it as max-ticks=500")
    if not value:
        raise UsageError(f"{name} needs a value; write it as {name}=500")
    return "--" + name.removeprefix("--"), value
