"""Command-line flags, made from the settings."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import Any

from ptp.config.setting import Setting
from ptp.config.tree import SECTIONS, SETTINGS, Values

COMMON = ("--data-dir", "--verbose", "--quiet")
METAVARS = {
    "--rom": "FILE",
    "--start-state": "FILE",
    "--save-file": "FILE",
    "--script": "FILE",
    "--log-file": "FILE",
    "--data-dir": "DIR",
}
SHORT = {"--verbose": "-v", "--quiet": "-q"}


def add_common_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that every verb has."""
    group = parser.add_argument_group("common options")
    for item in SETTINGS:
        if item.flag in COMMON:
            _add(group, item)
    group.add_argument("--json", action="store_true", help="Print one JSON document and nothing else.")


def add_config_flags(parser: argparse.ArgumentParser, sections: Collection[str] = tuple(SECTIONS)) -> None:
    """Add a flag for every setting of some sections, or of all, grouped by section."""
    for section in sections:
        cls = SECTIONS[section]
        title = f"{section.replace('_', ' ')}: {(cls.__doc__ or '').splitlines()[0].lower().rstrip('.')}"
        group = parser.add_argument_group(title)
        for item in SETTINGS:
            if item.section == section:
                _add(group, item)
        if section == "experiment":
            group.add_argument(
                "--experiment-config", metavar="FILE", help="Settings of an experiment; they override --config-file."
            )
        if section == "system":
            group.add_argument("--config-file", metavar="FILE", help="Settings as YAML; flags override them.")
            group.add_argument("--json", action="store_true", help="Print one JSON document and nothing else.")


def given_values(options: argparse.Namespace) -> Values:
    """Return the settings that were given on the command line."""
    return {item: getattr(options, item.flag) for item in SETTINGS if hasattr(options, item.flag)}


def _add(group: Any, item: Setting) -> None:
    names = [*([SHORT[item.flag]] if item.flag in SHORT else []), item.flag]
    optional_value = {"nargs": "?", "const": True} if item.type is bool else {}
    group.add_argument(
        *names,
        dest=item.flag,
        default=argparse.SUPPRESS,
        type=lambda text: item.parse(text, item.flag),
        metavar=_metavar(item),
        help=_help(item),
        **optional_value,
    )


def _metavar(item: Setting) -> str:
    if item.type is tuple:
        return "EVENT,..."
    if item.choices:
        return "{" + ",".join(item.choices) + "}"
    if item.type is str:
        return METAVARS.get(item.flag, "NAME")
    return {bool: "BOOL", int: "N", float: "X"}[item.type]


def _help(item: Setting) -> str:
    default = ",".join(item.default) if item.type is tuple else item.default
    notes = [] if default in (None, "", False) else [f"default: {default}"]
    if item.type is tuple:
        notes.append(f"events: {', '.join(item.choices)}")
    if item.needs:
        notes.append("not available yet")
    text = f"{item.help} ({'; '.join(notes)})" if notes else item.help
    return text.replace("%", "%%")
