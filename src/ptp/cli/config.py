"""`ptp config`: show, check and describe settings."""

from __future__ import annotations

import sys

from ptp.config.flags import Parser, add_common_flags, add_config_flags, given_values
from ptp.errors import UnknownName

DESCRIPTION = """Show, check and describe settings.

  ptp config show [any flag of `ptp run`]   the settings that a run would have, as YAML
  ptp config validate FILE                  check a YAML file
  ptp config schema                         the settings as JSON Schema
"""


def main(argv: list[str]) -> int:
    """Run the verb."""
    actions = {"show": _show, "validate": _validate, "schema": _schema}
    if not argv or argv[0] in {"-h", "--help"}:
        sys.stdout.write(DESCRIPTION)
        return 0
    if argv[0] not in actions:
        raise UnknownName("config verb", argv[0], list(actions))
    return actions[argv[0]](argv[1:])


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
    else:
        say(f"{options.file} is valid")
    return 0


def _schema(argv: list[str]) -> int:
    parser = Parser("ptp config schema", "Print the settings as JSON Schema.")
    add_common_flags(parser)
    parser.parse(argv)

    from ptp.cli.output import print_json
    from ptp.config.schema import json_schema

    print_json(json_schema())
    return 0
