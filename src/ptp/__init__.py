"""The flight recorder and control tower for game-playing agents.

    import ptp

    run = ptp.run(world="CartPole-v1", agent="random", max_ticks=1000)
    run.steps().to_polars()

    env = ptp.Record(gymnasium.make("CartPole-v1"))   # anybody's own loop becomes a run

Nothing is loaded before it is used.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from ptp import records
    from ptp.agents import Agent, Decision, Observation
    from ptp.agents.llm.agent import LLMMultiStepAgent
    from ptp.api import open, run
    from ptp.config import RunConfig
    from ptp.emulators import (
        EmulatorPool,
        ErrorRecoveryHandler,
        InputValidator,
        PerformanceMonitor,
        PokemonGymAdapter,
        PokemonGymClient,
    )
    from ptp.errors import PtpError
    from ptp.runner.record import Record, RecordVector
    from ptp.runs import Run
    from ptp.runs import list_runs as runs  # the room itself, which can be called
    from ptp.sinks import Sink
    from ptp.snapshots import CheckpointManager
    from ptp.worlds import World

__all__ = [
    "Agent",
    "CheckpointManager",
    "Decision",
    "EmulatorPool",
    "ErrorRecoveryHandler",
    "InputValidator",
    "LLMMultiStepAgent",
    "Observation",
    "PerformanceMonitor",
    "PokemonGymAdapter",
    "PokemonGymClient",
    "PtpError",
    "Record",
    "RecordVector",
    "Run",
    "RunConfig",
    "Sink",
    "World",
    "__version__",
    "open",
    "records",
    "run",
    "runs",
]

_HOMES = {
    "Agent": "ptp.agents",
    "CheckpointManager": "ptp.snapshots",
    "Decision": "ptp.agents",
    "EmulatorPool": "ptp.emulators",
    "ErrorRecoveryHandler": "ptp.emulators",
    "InputValidator": "ptp.emulators",
    "LLMMultiStepAgent": "ptp.agents.llm.agent",
    "Observation": "ptp.agents",
    "PerformanceMonitor": "ptp.emulators",
    "PokemonGymAdapter": "ptp.emulators",
    "PokemonGymClient": "ptp.emulators",
    "PtpError": "ptp.errors",
    "Record": "ptp.runner.record",
    "RecordVector": "ptp.runner.record",
    "Run": "ptp.runs",
    "RunConfig": "ptp.config",
    "Sink": "ptp.sinks",
    "World": "ptp.worlds",
    "open": "ptp.api",
    "records": "",
    "run": "ptp.api",
    "runs": "",  # a room that can be called: `ptp.runs(status="crashed")`
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ptp' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name) if _HOMES[name] else import_module(f"ptp.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
