"""The run directory: everything that is kept of a run."""

from ptp.recording.directory import Metadata, RunDirectory, find_run, list_runs
from ptp.recording.recorder import Recorder

__all__ = ["Metadata", "Recorder", "RunDirectory", "find_run", "list_runs"]
