"""Runs as they are read and steered, live or ended: a library that finds them, and everything one can ask of one."""

from ptp.runs.library import Library, find_run, list_runs, open_run
from ptp.runs.rows import Rows
from ptp.runs.run import Run

__all__ = ["Library", "Rows", "Run", "find_run", "list_runs", "open_run"]
