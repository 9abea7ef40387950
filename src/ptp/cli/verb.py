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
    """The function that runs it, as `module:function`; a verb with verbs of its own has none."""
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


RUN_ID = argument("--run-id", help=SUPPRESS)  # whoever starts a run may name it, and so know it at once
TRUST = switch("--trust", help="Load the code that the run names, although it is not installed.")
RUN_HELP = "A run: its id, the beginning of its id, its directory, or `latest`"


def optional_run(otherwise: str, default: str | None = None) -> Argument:
    """Declare a run that may be left out; *otherwise* says what is meant then."""
    return argument("run", nargs="?", default=default, metavar="RUN", help=f"{RUN_HELP} (default: {otherwise}).")


def _either_way(default: str | None, otherwise: str) -> tuple[Argument, Argument]:
    """Declare a run that is given as an argument or as --run."""
    option = argument("--run", dest="run", default=default, metavar="RUN", help="The run, as an option.")
    return optional_run(otherwise, SUPPRESS), option


RUN = optional_run("latest", "latest")
LATEST = _either_way("latest", "latest")
LIVE = _either_way(None, "the live or newest run")
PAGES = (
    argument("--page", type=int, default=1, help="Page to list (default: 1)."),
    argument("--page-size", type=int, default=20, help="Entries per page (default: 20)."),
)
TICKS = (
    argument("--from", dest="first", type=int, default=1, help="First tick (default: 1)."),
    argument("--to", dest="last", type=int, help="Last tick (default: the run's last)."),
)
DRY_RUN = switch("--dry-run", help="Show what would be done, and change nothing.")
RUNS = argument(
    "runs", nargs="*", metavar="RUN",
    help="Runs: ids, directories, database files or patterns like 'var/records/01*' (default: all runs).",
)  # fmt: skip
DATABASE_URL = argument(
    "--database-url", metavar="URL",
    help="PostgreSQL URL of the central database (default: PTP_DATABASE_URL, or a database in the data directory).",
)  # fmt: skip
CENTRAL = (switch("--central", help="Work on the central database instead of runs."), DATABASE_URL)
