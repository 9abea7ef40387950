"""Help: of one verb, as wide as the terminal, and of all verbs or those within one."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence

from ptp.cli.layout import fit_text, wrap
from ptp.cli.verb import Verb
from ptp.cli.verbs import GROUPS, VERBS

WIDEST = 100  # columns; longer lines are hard to read
OVERVIEW = """The flight recorder and control tower for game-playing agents.

try:
  ptp run --world tallgrass --agent explorer --tick-rate-base 0 --max-ticks 1000
  ptp show latest
  ptp replay latest --verify
  ptp dashboard

{verbs}

`ptp VERB --help` describes each. Every verb has --data-dir, --json, -q and -v.
"""


def help_width() -> int:
    """Return how wide a help text may be."""
    return min(WIDEST, max(30, shutil.get_terminal_size().columns - 2))


class Layout(argparse.HelpFormatter):
    """Help whose paragraphs are as wide as the terminal, and whose examples stay as they are."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=help_width())

    def start_section(self, heading: str | None) -> None:
        """Begin a group of options."""
        super().start_section(heading and "\n".join(wrap(heading, self._width - 1)))

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return fit_text(text, width)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrap(text, width)


def overview() -> str:
    """Return the help of ptp itself."""
    width = max(len(verb.name) for verb in VERBS)
    groups = [f"{group}:\n{_lines([(verb.name, verb) for verb in verbs], width)}" for group, verbs in GROUPS.items()]
    return fit_text(OVERVIEW.format(verbs="\n\n".join(groups)), help_width())


def describe(name: str, verb: Verb) -> str:
    """Return the help of a verb that has verbs of its own."""
    inner = [(" ".join(filter(None, ("ptp", name, each.name, each.places))), each) for each in verb.verbs]
    parts = (verb.summary, _lines(inner, max(len(usage) for usage, _ in inner)), verb.about)
    return fit_text("\n\n".join(filter(None, parts)).rstrip() + "\n", help_width())


def _lines(verbs: Sequence[tuple[str, Verb]], width: int) -> str:
    return "\n".join(f"  {name:<{width}}  {verb.summary}" for name, verb in verbs)
