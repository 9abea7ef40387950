"""What the verbs that look at one run share."""

from __future__ import annotations

import argparse

from ptp.cli.common import RUN_HELP, data_dir, parse_common, tell_archived
from ptp.cli.parser import Parser
from ptp.config.tree import System
from ptp.recording import RunDirectory
from ptp.records import Metadata
from ptp.runs.library import find_run


def parse_run(parser: Parser, argv: list[str]) -> tuple[argparse.Namespace, System, RunDirectory, Metadata]:
    """Parse a verb's arguments with `--run` and the common flags, and find the run: the live or newest one."""
    parser.add_argument("--run", metavar="RUN", help=f"{RUN_HELP} Without it: the live or newest one.")
    options, system = parse_common(parser, argv)
    folder = data_dir(system)
    directory = find_run(folder, options.run)
    return options, system, tell_archived(directory), directory.read_metadata()
