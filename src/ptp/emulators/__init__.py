"""The game server, for worlds that other programs play in three protocols; and playing on any such server.

    from ptp.emulators import PokemonGymClient

    with PokemonGymClient("http://127.0.0.1:8081") as client:
        client.reset_game()
        print(client.send_input("A B START").location)

Nothing is loaded before it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ptp.emulators.adapter import PokemonGymAdapter
    from ptp.emulators.answers import GameState
    from ptp.emulators.cache import StateCache
    from ptp.emulators.client import PokemonGymClient, Timeouts
    from ptp.emulators.inputs import InputValidator
    from ptp.emulators.monitor import PerformanceMonitor
    from ptp.emulators.pool import EmulatorPool
    from ptp.emulators.recovery import Backoff, CircuitBreaker, ErrorRecoveryHandler, Rescue
    from ptp.emulators.results import ExecutionResult, Task

__all__ = [
    "Backoff",
    "CircuitBreaker",
    "EmulatorPool",
    "ErrorRecoveryHandler",
    "ExecutionResult",
    "GameState",
    "InputValidator",
    "PerformanceMonitor",
    "PokemonGymAdapter",
    "PokemonGymClient",
    "Rescue",
    "StateCache",
    "Task",
    "Timeouts",
]

_HOMES = {
    "Backoff": "recovery",
    "CircuitBreaker": "recovery",
    "EmulatorPool": "pool",
    "ErrorRecoveryHandler": "recovery",
    "ExecutionResult": "results",
    "GameState": "answers",
    "InputValidator": "inputs",
    "PerformanceMonitor": "monitor",
    "PokemonGymAdapter": "adapter",
    "PokemonGymClient": "client",
    "Rescue": "recovery",
    "StateCache": "cache",
    "Task": "results",
    "Timeouts": "client",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ptp.emulators' has no attribute {name!r}")
    value = getattr(import_module(f"ptp.emulators.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
