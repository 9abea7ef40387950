"""The run directory: everything that is kept of a run."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ptp.recording.directory import RunDirectory

if TYPE_CHECKING:
    from ptp.recording.recorder import Recorder

__all__ = ["Recorder", "RunDirectory"]


def __getattr__(name: str) -> Any:
    """Load the recorder when it is asked for: who only reads runs needs no engine."""
    if name == "Recorder":
        return import_module("ptp.recording.recorder").Recorder
    raise AttributeError(name)
