"""Command-line flags, made from the settings."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NoReturn

from ptp.config.setting import Setting
from ptp.config.tree import ALL_SETTINGS, EXPERIMENT_SETTINGS, SECTIONS, SETTINGS, Values
from ptp.errors import UnknownName, UsageError

COMMON = ("--data-dir", "--verbose", "--quiet")
METAVARS = {
    **dict.fromkeys(("--rom", "--start-state", "--save-file", "--script", "--log-file", "--storage-profiles"), "FILE"),
    "--data-dir": "DIR", "--model": "PROVIDER:NAME", "--base-url": "URL", "--frame-sink": "URL",
}  # fmt: skip
SHORT = {"--verbose": "-v", "--quiet": "-q"}


class Parser(argparse.ArgumentParser):
    """An argparse parser whose errors are one line that names the remedy."""

    def __init__(self, prog: str, description: str, **extra: Any) -> None:
        layout = argparse.RawDescriptionHelpFormatter
        super().__init__(prog, description=description, allow_abbrev=False, formatter_class=layout, **extra)

    def format_help(self) -> str:
        """Return the help; the usage names what must be given, and leaves the flags to the list below it."""
        if self.usage is None and self._subparsers is None:
            places = (action.metavar or action.dest for action in self._get_positional_actions())
            self.usage = " ".join([self.prog, *map(str, places), "[flags]"])
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage and exiting."""
        raise UsageError(f"{message}; see `{self.prog} --help`")

    def parse(self, argv: Sequence[str]) -> argparse.Namespace:
        """Parse *argv*; an unknown flag is answered with the nearest known one."""
        options, unknown = self.parse_known_args(argv)
        for word in unknown:
            flag = word.split("=")[0]
            if any(flag == item.flag for item in EXPERIMENT_SETTINGS):
                raise UsageError(f"{flag} is a flag of `ptp experiment run`; leave it out of `{self.prog}`")
            if word.startswith("-"):
                known = [flag for action in self._actions for flag in action.option_strings if flag.startswith("--")]
                raise UnknownName("flag", flag, known, f"see `{self.prog} --help`")
            raise UsageError(f"unexpected argument {word!r}; see `{self.prog} --help`")
        return options


class _Collect(argparse.Action):
    """Gathers the options of a flag that is given several times."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        setattr(namespace, self.dest, {**getattr(namespace, self.dest, {}), **values})


def add_common_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that every verb has."""
    group = parser.add_argument_group("common flags")
    _add(group, (item for item in SETTINGS if item.flag in COMMON))
    _add_json(group)


def add_config_flags(parser: argparse.ArgumentParser) -> None:
    """Add a flag for every setting of a run, grouped by section."""
    for section, cls in SECTIONS.items():
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
    for item in items:
        kinds: dict[type, dict[str, Any]] = {bool: {"nargs": "?", "const": True}, dict: {"action": _Collect}}
        group.add_argument(
            *([SHORT[item.flag]] if item.flag in SHORT else []),
            item.flag,
            dest=item.flag,
            default=argparse.SUPPRESS,
            type=partial(item.parse, where=item.flag),
            metavar=_metavar(item),
            help=_help(item),
            **kinds.get(item.type, {}),
        )


def _metavar(item: Setting) -> str:
    if item.type is tuple:
        return "EVENT,..."
    if item.choices:
        return "{" + ",".join(item.choices) + "}"
    kinds: dict[type, str] = {bool: "BOOL", int: "N", float: "X", dict: "NAME=VALUE", str: "NAME"}
    return METAVARS.get(item.flag, kinds[item.type])


def _help(item: Setting) -> str:
    default = ",".join(item.default) if item.type is tuple else item.default
    notes = [] if default in (None, "", False, {}) else [f"default: {default}"]
    if item.type is tuple:
        notes.append(f"events: {', '.join(item.choices)}")
    text = f"{item.help} ({'; '.join(notes)})" if notes else item.help
    return text.replace("%", "%%")
