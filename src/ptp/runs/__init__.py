"""Runs as they are read and steered, live or ended: a library that finds them, and everything one can ask of one.

The room itself can be called: `ptp.runs(status="crashed")` is `list_runs`.
"""

import sys
from types import ModuleType

from ptp.runs.library import Library, find_run, list_runs, open_run
from ptp.runs.run import Run
from ptp.runs.tables import Rows

__all__ = ["Library", "Rows", "Run", "find_run", "list_runs", "open_run"]


class _Room(ModuleType):
    __call__ = staticmethod(list_runs)


sys.modules[__name__].__class__ = _Room
