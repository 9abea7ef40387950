"""`ptp config`."""

from __future__ import annotations

import sys
from pathlib import Path

from ptp.cli import output
from ptp.cli.output import answer, print_json
from ptp.cli.parser import Options
from ptp.config import load_config
from ptp.config.files import dump, json_schema
from ptp.config.tree import VERSION, as_tree
from ptp.config.versions import migrate_file


def show(options: Options) -> int:
    """Show the settings that a run would have."""
    return output.show(options, as_tree(options.config), dump(options.config).rstrip("\n"))


def validate(options: Options) -> int:
    """Validate a file."""
    load_config(config_file=options.file, environ={})
    return answer(options, {"file": options.file, "valid": True}, f"{options.file} is valid")


def migrate(options: Options) -> int:
    """Migrate a file."""
    done = migrate_file(Path(options.file), options.to or VERSION, write=not options.dry_run)
    if options.talks:
        sys.stdout.write(done.diff)
        for drop in done.dropped:
            sys.stderr.write(f"{'would drop' if options.dry_run else 'dropped'} {drop}\n")
    if not done.diff:
        return answer(options, done, f"{options.file} already has version {done.to_version}")
    migrated = f"{options.file}: migrated from version {done.from_version} to {done.to_version}"
    return answer(options, done, *([] if options.dry_run else [migrated]))


def schema(options: Options) -> int:
    """Print the settings as JSON Schema."""
    print_json(json_schema())
    return 0
