"""The command line: verbs as data in `verbs/`, and one module for each body, imported when its verb runs."""

from ptp.cli.main import main

__all__ = ["main"]
