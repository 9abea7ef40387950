"""Parsers made from verbs, and what they return."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from itertools import zip_longest
from pathlib import Path
from typing import NoReturn

from ptp.cli.verb import Verb
from ptp.config import RunConfig, load_config
from ptp.config.flags import add_common_flags, add_config_flags, given_values
from ptp.config.load import CHANGEABLE
from ptp.config.setting import FALSE, TRUE
from ptp.config.tree import EXPERIMENT_SETTINGS
from ptp.errors import UnknownName, UsageError


class Options(argparse.Namespace):
    """What a command line says: the arguments of its verb as attributes, and the settings that follow."""

    json: bool
    words: Sequence[str] = ()
    """The words after the verb."""

    @cached_property
    def config(self) -> RunConfig:
        """The settings from this command line, the files it names, and the environment."""
        files = getattr(self, "config_file", None), getattr(self, "experiment_config", None)
        return load_config(given_values(self), *files)

    @property
    def folder(self) -> Path:
        """The folder that runs are kept in."""
        return Path(self.config.system.data_dir)

    @property
    def talks(self) -> bool:
        """Whether lines for a person are to be printed."""
        return not (self.json or self.config.system.quiet)


class Parser(argparse.ArgumentParser):
    """A parser for people: errors are one line with the remedy, and `-q latest` is a switch and a run."""

    def __init__(self, prog: str, description: str, usage: str | None = None) -> None:
        super().__init__(prog, usage, description=description, add_help=False, allow_abbrev=False)
        # argparse makes a formatter for each argument, so this one must not measure the terminal
        self.formatter_class = partial(argparse.HelpFormatter, width=80)
        self._positionals.title, self._optionals.title = "arguments", "options"
        self.add_argument("-h", "--help", action="help", help="Show this help.")

    def format_help(self) -> str:
        """Return the help; what lays it out is imported only now."""
        from ptp.cli.layout import Layout

        self.formatter_class = Layout
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage and exiting."""
        raise UsageError(f"{message}; see `{self.prog} --help`")

    def parse(self, argv: Sequence[str]) -> Options:
        """Parse *argv*; an unknown option is answered with the nearest known one."""
        parse = self.parse_known_intermixed_args if self._get_positional_actions() else self.parse_known_args
        options, unknown = parse(list(self._settled(argv)), Options())
        for word in unknown:
            flag = word.split("=")[0]
            if any(flag == item.flag for item in EXPERIMENT_SETTINGS):
                raise UsageError(f"{flag} is an option of `ptp experiment run`; leave it out of `{self.prog}`")
            if word.startswith("-"):
                known = [name for name in self._option_string_actions if name.startswith("--")]
                similar = sorted((name for name in known if flag.strip("-") in name), key=len)[:3]
                if len(similar) > 1:
                    raise UsageError(f"no option named {flag!r}; did you mean {' or '.join(similar)}?")
                raise UnknownName("option", flag, known, f"see `{self.prog} --help`")
            if "--world" in self._option_string_actions:
                raise UsageError(f"unexpected argument {word!r}; a world is named with --world {word}")
            raise UsageError(f"unexpected argument {word!r}; see `{self.prog} --help`")
        options.words = argv
        return options

    def _settled(self, argv: Sequence[str]) -> Iterator[str]:
        """Return the words with a value after each switch, so that none takes the word after it for one."""
        switches = {flag for action in self._actions if action.const is True for flag in action.option_strings
                    if action.nargs == "?"}  # fmt: skip
        for word, after in zip_longest(argv, argv[1:], fillvalue=""):
            yield word
            if word in switches and after.lower() not in TRUE | FALSE:
                yield "true"


def make_parser(name: str, verb: Verb) -> Parser:
    """Return the parser of the verb of that full name."""
    prog = f"ptp {name}"
    usage = " ".join(filter(None, (prog, verb.places, "[options]")))
    examples = "\n  ".join(["examples:", *verb.examples]) if verb.examples else ""
    parser = Parser(prog, "\n\n".join(filter(None, (verb.summary, verb.about, examples))), usage)
    for names, facts in verb.arguments:
        parser.add_argument(*names, **facts)
    if verb.settings == "all":
        add_config_flags(parser)
        return parser
    if verb.settings == "changeable":
        add_config_flags(parser, CHANGEABLE)
    add_common_flags(parser)
    return parser
