"""Runs as they are read and steered, live or ended: a library that finds them, and everything one can ask of one.

The room itself can be called: `ptp.runs(status="crashed")` is `list_runs`.
"""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from ptp.runs.library import Library, find_run, list_runs, open_run
from ptp.runs.rows import Rows
from ptp.runs.run import Run

__all__ = ["Library", "Rows", "Run", "find_run", "list_runs", "open_run"]


class _Room(ModuleType):
    """The room as the function that lists runs."""

    def __call__(self, data_dir: str | Path = "var", **filters: Any) -> list[Run]:
        """Return runs, newest first; filters are those of `list_runs`."""
        return list_runs(data_dir, **filters)


sys.modules[__name__].__class__ = _Room
