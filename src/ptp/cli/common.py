"""What the verbs that read runs share."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ptp.cli.parser import Parser
from ptp.config import load_config
from ptp.config.flags import add_common_flags, given_values
from ptp.config.tree import System

if TYPE_CHECKING:
    from ptp.recording import RunDirectory

RUN_HELP = "A run: its id, the beginning of its id, its directory, or `latest`."


def parse_common(parser: Parser, argv: list[str]) -> tuple[argparse.Namespace, System]:
    """Parse a verb's own arguments with the flags that every verb has."""
    add_common_flags(parser)
    options = parser.parse(argv)
    return options, load_config(given_values(options)).system


@contextmanager
def when_stopped(sentence: str) -> Iterator[None]:
    """Say this, should Ctrl-C or SIGTERM end what happens meanwhile."""
    try:
        yield
    except KeyboardInterrupt as stop:
        stop.args = (sentence,)
        raise


def data_dir(system: System) -> Path:
    """Return the folder that runs are kept in."""
    return Path(system.data_dir)


def readable_data_dir(system: System) -> Path:
    """Return the folder that runs are kept in, once it is known that it can be read."""
    from ptp.recording.directory import run_paths

    run_paths(data_dir(system))
    return data_dir(system)


def open_run(system: System, name: str | None) -> RunDirectory:
    """Return the run that a person named, and tell when it is archived."""
    from ptp.runs.library import find_run

    return tell_archived(find_run(data_dir(system), name))


def tell_archived(directory: RunDirectory) -> RunDirectory:
    """Say of an archived run that it is one, since opening it takes longer; return the run."""
    from ptp.recording.packed import is_packed

    if is_packed(directory.database):
        run_id = directory.run_id
        sys.stderr.write(f"ptp: run {run_id} is archived; a copy is read, `ptp prune --restore {run_id}` unpacks it\n")
    return directory
