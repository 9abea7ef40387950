"""The command line: verbs as data in `verbs.py`, and their bodies in modules that are imported when a verb runs."""

from ptp.cli.main import main

__all__ = ["main"]
