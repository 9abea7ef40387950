"""What the verbs that read runs share."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ptp.config import load_config
from ptp.config.flags import Parser, add_common_flags, given_values
from ptp.config.tree import System

if TYPE_CHECKING:
    from ptp.recording import RunDirectory

RUN_HELP = "A run: its id, the beginning of its id, its directory, or `latest`."


def parse_common(parser: Parser, argv: list[str]) -> tuple[argparse.Namespace, System]:
    """Parse a verb's own arguments with the flags that every verb has."""
    add_common_flags(parser)
    options = parser.parse(argv)
    return options, load_config(given_values(options)).system


def data_dir(system: System) -> Path:
    """Return the folder that runs are kept in."""
    return Path(system.data_dir)


def open_run(system: System, name: str) -> RunDirectory:
    """Return the run that a person named, and tell when it is archived."""
    from ptp.recording import find_run

    return tell_archived(find_run(data_dir(system), name))


def tell_archived(directory: RunDirectory) -> RunDirectory:
    """Say of an archived run that it is one, since opening it takes longer; return the run."""
    from ptp.recording.packed import is_packed

    if is_packed(directory.database):
        run_id = directory.run_id
        sys.stderr.write(f"ptp: run {run_id} is archived; a copy is read, `ptp prune --restore {run_id}` unpacks it\n")
    return directory
