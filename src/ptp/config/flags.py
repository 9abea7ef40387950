"""Command-line flags, made from the settings."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable
from functools import partial
from typing import Any

from ptp.config.setting import Setting
from ptp.config.tree import ALL_SETTINGS, EXPERIMENT_SETTINGS, SECTIONS, SETTINGS, Values

COMMON = ("--data-dir", "--verbose", "--quiet")
METAVARS = {
    **dict.fromkeys(("--rom", "--start-state", "--save-file", "--script", "--log-file", "--storage-profiles"), "FILE"),
    "--data-dir": "DIR", "--model": "PROVIDER:NAME", "--base-url": "URL", "--frame-sink": "URL",
}  # fmt: skip
TYPE_METAVARS = {bool: "BOOL", int: "N", float: "X", dict: "NAME=VALUE", str: "NAME", tuple: "WORD,..."}
SHORT = {"--verbose": "-v", "--quiet": "-q"}


class _Collect(argparse.Action):
    """Gathers the options of a flag that is given several times."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        setattr(namespace, self.dest, {**getattr(namespace, self.dest, {}), **values})


def add_common_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that every verb has."""
    group = parser.add_argument_group("common options")
    _add(group, (item for item in SETTINGS if item.flag in COMMON))
    _add_json(group)


def add_config_flags(parser: argparse.ArgumentParser, sections: Collection[str] = tuple(SECTIONS)) -> None:
    """Add a flag for every setting of some sections, or of all, grouped by section."""
    for section in sections:
        cls = SECTIONS[section]
        title = f"{section.replace('_', ' ')}: {(cls.__doc__ or '').splitlines()[0].lower().rstrip('.')}"
        group = parser.add_argument_group(title)
        _add(group, (item for item in SETTINGS if item.section == section))
        if section == "experiment":
            group.add_argument("--experiment-config", metavar="FILE", help="Experiment file; overrides --config-file.")
        if section == "system":
            group.add_argument("--config-file", metavar="FILE", help="Settings as YAML; flags override them.")
            _add_json(group)


def add_experiment_flags(parser: argparse.ArgumentParser) -> None:
    """Add a flag for every setting that only an experiment has."""
    _add(parser.add_argument_group("plan: how the runs are played"), EXPERIMENT_SETTINGS)


def given_values(options: argparse.Namespace) -> Values:
    """Return the settings that were given on the command line."""
    return {item: getattr(options, item.flag) for item in ALL_SETTINGS if hasattr(options, item.flag)}


def _add_json(group: Any) -> None:
    group.add_argument("--json", action="store_true", help="Print one JSON document and nothing else.")


def _add(group: Any, items: Iterable[Setting]) -> None:
    kinds: dict[type, dict[str, Any]] = {bool: {"nargs": "?", "const": True}, dict: {"action": _Collect}}
    for item in items:
        default = ",".join(item.default) if item.type is tuple else item.default
        notes = [] if default in (None, "", False, {}) else [f"default: {default}"]
        metavar = METAVARS.get(item.flag, TYPE_METAVARS[item.type])
        if item.type is tuple and item.choices:
            metavar = "EVENT,..."
            notes.append(f"events: {', '.join(item.choices)}")
        elif item.choices:
            metavar = "{" + ",".join(item.choices) + "}"
        text = f"{item.help} ({'; '.join(notes)})" if notes else item.help
        group.add_argument(
            *([SHORT[item.flag]] if item.flag in SHORT else []),
            item.flag,
            dest=item.flag,
            default=argparse.SUPPRESS,
            type=partial(item.parse, where=item.flag),
            metavar=metavar,
            help=text.replace("%", "%%"),
            **kinds.get(item.type, {}),
        )
