"""The run directory: everything that is kept of a run."""

from ptp.recording.directory import RunDirectory, find_run, list_runs
from ptp.recording.recorder import Recorder

__all__ = ["Recorder", "RunDirectory", "find_run", "list_runs"]
