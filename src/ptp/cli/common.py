"""What the verbs that read runs share."""

from __future__ import annotations

import argparse
from pathlib import Path

from ptp.config import load_config
from ptp.config.flags import Parser, add_common_flags, given_values
from ptp.config.tree import System

RUN_HELP = "A run: its id, the beginning of its id, its directory, or `latest`."


def parse_common(parser: Parser, argv: list[str]) -> tuple[argparse.Namespace, System]:
    """Parse a verb's own arguments with the flags that every verb has."""
    add_common_flags(parser)
    options = parser.parse(argv)
    return options, load_config(given_values(options)).system


def data_dir(system: System) -> Path:
    """Return the folder that runs are kept in."""
    return Path(system.data_dir)
