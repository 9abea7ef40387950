"""The command line: one file per verb, imported only when its verb is used."""

from ptp.cli.main import main

__all__ = ["main"]
