"""Command lines: help that fits the terminal, switches that leave the next word alone, and verbs within a verb.

What only help needs is imported when somebody asks for help, so that no other command line waits for it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest

from ptp.config import flags
from ptp.config.setting import FALSE, TRUE
from ptp.errors import UnknownName

WIDEST = 100  # columns of a help text; longer lines are hard to read


def help_width() -> int:
    """Return how wide a help text may be."""
    import shutil

    return min(WIDEST, max(30, shutil.get_terminal_size().columns - 2))


class Layout(argparse.HelpFormatter):
    """Help whose paragraphs are as wide as the terminal, and whose examples stay as they are."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=help_width())

    def start_section(self, heading: str | None) -> None:
        """Begin a group of flags."""
        from ptp.cli.layout import wrap

        super().start_section(heading and "\n".join(wrap(heading, help_width() - 1)))

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        from ptp.cli.layout import fit_text

        return fit_text(text, width)

    def _split_lines(self, text: str, width: int) -> list[str]:
        from ptp.cli.layout import wrap

        return wrap(text, width)


class Parser(flags.Parser):
    """A parser for people: `-q latest` is a switch and a run."""

    def __init__(self, prog: str, description: str) -> None:
        super().__init__(prog, description, add_help=False)
        self.formatter_class = Layout
        self._positionals.title, self._optionals.title = "words", "flags"
        self.add_argument("-h", "--help", action="help", help="Show this help.")

    def parse(self, argv: Sequence[str]) -> argparse.Namespace:
        """Parse *argv*."""
        return super().parse(list(self._settled(argv)))

    def _settled(self, argv: Sequence[str]) -> Iterator[str]:
        """Return the words with a value after each switch, so that none takes the word after it for one."""
        switches = {flag for action in self._actions if action.const is True for flag in action.option_strings
                    if action.nargs == "?"}  # fmt: skip
        for word, after in zip_longest(argv, argv[1:], fillvalue=""):
            yield word
            if word in switches and after.lower() not in TRUE | FALSE:
                yield "true"


def choose(kind: str, description: str, actions: Mapping[str, Callable[[list[str]], int]], argv: list[str]) -> int:
    """Run the verb within a verb that a command line names; without one, tell which there are."""
    if not argv or argv[0] in {"-h", "--help"}:
        from ptp.cli.layout import fit_text

        sys.stdout.write(fit_text(description, help_width()))
        return 0
    if argv[0] not in actions:
        raise UnknownName(f"{kind} verb", argv[0], list(actions), f"see `ptp {kind} --help`")
    return actions[argv[0]](argv[1:])
