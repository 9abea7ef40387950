"""A verb as data: what parser, help, completion and the reference are made from."""

from __future__ import annotations

from argparse import SUPPRESS
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple


class Argument(NamedTuple):
    """One argument or option, as argparse takes it."""

    names: tuple[str, ...]
    facts: dict[str, Any]

    @property
    def is_shown(self) -> bool:
        """Whether help and reference name it."""
        return self.facts["help"] is not SUPPRESS

    @property
    def place(self) -> str:
        """Its place in a usage line: RUN, [RUN] or [RUN ...]; options have none."""
        if self.names[0].startswith("-"):
            return ""
        name = str(self.facts.get("metavar", self.names[0]))
        return {"?": f"[{name}]", "*": f"[{name} ...]"}.get(self.facts.get("nargs", ""), name)


class Verb(NamedTuple):
    """One verb of the command line, or a verb within a verb."""

    name: str
    summary: str
    body: str = ""
    """The function of `ptp.cli` that runs it, as `module:function`; a verb with subcommands has none."""
    about: str = ""
    examples: tuple[str, ...] = ()
    arguments: tuple[Argument, ...] = ()
    settings: Literal["common", "all", "changeable"] = "common"
    """The settings it takes as options: those that every verb has, all, or also those that a live run can change."""
    verbs: tuple[Verb, ...] = ()

    @property
    def places(self) -> str:
        """Its arguments as a usage line names them."""
        return " ".join(filter(None, (argument.place for argument in self.arguments)))


def argument(*names: str, help: str, **facts: Any) -> Argument:
    """Declare an argument or an option; whole numbers are shown as N."""
    if facts.get("type") in (int, float):
        facts.setdefault("metavar", "N")
    return Argument(names, {"help": help, **facts})


def switch(*names: str, help: str) -> Argument:
    """Declare an option without a value."""
    return Argument(names, {"help": help, "action": "store_true"})


def walk(verbs: Sequence[Verb], path: str = "") -> Iterator[tuple[str, Verb]]:
    """Return every verb with its full name, verbs within verbs after their own."""
    for verb in verbs:
        name = f"{path} {verb.name}".lstrip()
        yield name, verb
        yield from walk(verb.verbs, name)
