"""`ptp config`: show, check, migrate and describe settings."""

from __future__ import annotations

import sys

from ptp.cli.common import parse_common
from ptp.cli.parser import Parser, choose
from ptp.config.flags import add_common_flags, add_config_flags, given_values

DESCRIPTION = """Show, check, migrate and describe settings.

  ptp config show [any flag of `ptp run`]   the settings that a run would have, as YAML
  ptp config validate FILE                  check a YAML file
  ptp config migrate FILE [--to V]          bring a file to another version, with its comments
  ptp config schema                         the settings as JSON Schema
"""


def main(argv: list[str]) -> int:
    """Run the verb."""
    actions = {"show": _show, "validate": _validate, "migrate": _migrate, "schema": _schema}
    return choose("config", DESCRIPTION, actions, argv)


def _show(argv: list[str]) -> int:
    parser = Parser("ptp config show", "Show the settings that a run with these flags would have.")
    add_config_flags(parser)
    options = parser.parse(argv)

    from ptp.cli.output import print_json
    from ptp.config import load_config
    from ptp.config.files import dump
    from ptp.config.tree import as_tree

    config = load_config(given_values(options), options.config_file, options.experiment_config)
    if options.json:
        print_json(as_tree(config))
    else:
        sys.stdout.write(dump(config))
    return 0


def _validate(argv: list[str]) -> int:
    parser = Parser("ptp config validate", "Check a YAML file of settings.")
    parser.add_argument("file", metavar="FILE", help="The file to check.")
    add_common_flags(parser)
    options = parser.parse(argv)

    from ptp.cli.output import print_json, say
    from ptp.config import load_config

    load_config(config_file=options.file, environ={})
    if options.json:
        print_json({"file": options.file, "valid": True})
    elif not getattr(options, "--quiet", False):
        say(f"{options.file} is valid")
    return 0


def _migrate(argv: list[str]) -> int:
    parser = Parser("ptp config migrate", "Bring a YAML file to another version; its comments and its order stay.")
    parser.add_argument("file", metavar="FILE", help="The file to migrate.")
    parser.add_argument("--to", metavar="V", default="3.0", help="Version to have (default: 3.0).")
    parser.add_argument("--dry-run", action="store_true", help="Show what would change, and change nothing.")
    options, system = parse_common(parser, argv)

    from pathlib import Path

    from ptp.cli.output import print_json, say
    from ptp.config.migrate import migrate_file

    done = migrate_file(Path(options.file), options.to, write=not options.dry_run)
    if options.json:
        print_json(done)
    elif not system.quiet:
        sys.stdout.write(done.diff)
        for drop in done.dropped:
            sys.stderr.write(f"{'would drop' if options.dry_run else 'dropped'} {drop}\n")
        if not done.diff:
            say(f"{options.file} has version {done.to_version} already")
        elif not options.dry_run:
            say(f"{options.file}: went from version {done.from_version} to {done.to_version}")
    return 0


def _schema(argv: list[str]) -> int:
    parser = Parser("ptp config schema", "Print the settings as JSON Schema.")
    add_common_flags(parser)
    parser.parse(argv)

    from ptp.cli.output import print_json
    from ptp.config.schema import json_schema

    print_json(json_schema())
    return 0
