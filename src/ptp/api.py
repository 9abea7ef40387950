"""The functions of the package itself: play a run, open one."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ptp.agents import Agent
from ptp.config.load import load_config
from ptp.errors import UsageError
from ptp.runner import run as play
from ptp.runs import Run, open_run
from ptp.runs.settings import check_values
from ptp.sinks import Sink


def run(
    world: str | type[Any] | None = None,
    agent: str | type[Agent] = "random",
    *,
    run_id: str | None = None,
    sinks: Sequence[Sink] = (),
    config_file: str | Path | None = None,
    **settings: Any,
) -> Run:
    """Play one run from start to end, and return it.

    *world* and *agent* are names, or classes that are defined in a file. Every option of `ptp run` can be given by its
    name: `ptp.run("CartPole-v1", max_ticks=1000, tick_rate_base=60)`. By default it plays as fast as it can.
    """
    given = {"tick_rate_base": 0, **settings, "world": _named(world), "agent": _named(agent)}
    values = check_values({name: _plain(value) for name, value in given.items() if value is not None})
    config = load_config(values, None if config_file is None else str(config_file))
    result = play(config, run_id=run_id, sinks=sinks)
    return open_run(result.run_id, Path(config.system.data_dir))


open = open_run


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else list(value) if isinstance(value, tuple) else value


def _named(it: str | type[Any] | None) -> str | None:
    """Return how a class is named on the command line: by the file it is defined in."""
    if it is None or isinstance(it, str):
        return it
    try:
        return f"{Path(inspect.getfile(it)).absolute()}:{it.__qualname__}"
    except (TypeError, OSError):
        remedy = "so its runs could not be resumed; save it"
        raise UsageError(f"{it.__qualname__} is defined in no file, {remedy}") from None
