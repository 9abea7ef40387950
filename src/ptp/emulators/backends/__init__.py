"""Where the emulators of a pool run: in processes, in containers, or on servers that somebody else runs."""

from ptp.emulators.backends.contract import Backend, Running
from ptp.emulators.backends.processes import Processes
from ptp.emulators.backends.urls import Urls

__all__ = ["Backend", "Processes", "Running", "Urls"]
