"""The flight recorder and control tower for game-playing agents.

    import ptp

    run = ptp.run(world="CartPole-v1", agent="random", max_ticks=1000)
    run.steps().to_polars()

    env = ptp.Record(gymnasium.make("CartPole-v1"))   # anybody's own loop becomes a run

Nothing is loaded before it is used.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PUBLIC = {
    "Agent": "ptp.agents",
    "Decision": "ptp.agents",
    "Observation": "ptp.agents",
    "PtpError": "ptp.errors",
    "Record": "ptp.runner.record",
    "RecordVector": "ptp.runner.record",
    "Run": "ptp.runs",
    "RunConfig": "ptp.config",
    "Sink": "ptp.sinks",
    "World": "ptp.worlds",
    "open": "ptp.api",
    "run": "ptp.api",
    "runs": "ptp",
}

__all__ = [*_PUBLIC, "__version__"]

if TYPE_CHECKING:
    from ptp import runs
    from ptp.agents import Agent, Decision, Observation
    from ptp.api import open, run
    from ptp.config import RunConfig
    from ptp.errors import PtpError
    from ptp.runner.record import Record, RecordVector
    from ptp.runs import Run
    from ptp.sinks import Sink
    from ptp.worlds import World


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'ptp' has no attribute {name!r}")
    import importlib

    if name == "runs":  # a room that can be called: `ptp.runs(status="crashed")`
        return importlib.import_module("ptp.runs")
    value = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
