"""Write docs/reference.md from the code, so that the two can't disagree; `make docs` calls it."""

from __future__ import annotations

from pathlib import Path

from ptp.agents.registry import AGENTS, find_agent
from ptp.cli.verb import Verb, walk
from ptp.cli.verbs import VERBS
from ptp.config.setting import Setting
from ptp.config.tree import SECTIONS, SETTINGS
from ptp.worlds.registry import WORLDS

REFERENCE = Path(__file__).with_name("reference.md")

HEAD = """# Reference

This page is made from the code by `make docs`.

## Verbs

Every verb has `--help`, `--data-dir`, `--json`, `-q` and `-v`. The exit code is 0 for success, 1 for a failure,
2 for wrong usage, 130 after Ctrl-C and 143 after SIGTERM.

| verb | arguments and options of its own | what it does |
|---|---|---|
"""

SETTINGS_HEAD = """
## Settings

Each setting is a flag of `ptp run`, a place in a YAML file (version "3.0"), and an environment variable. Later
sources override earlier ones: defaults, `--config-file`, `--experiment-config`, environment, flags.
"""


def cell(text: object) -> str:
    """Return text that does not break a table."""
    return str(text).replace("|", "\\|")


def default_of(item: Setting) -> str:
    """Return the default as it would be written."""
    if item.type is tuple:
        return ",".join(item.default) or "none"
    return "none" if item.default is None else str(item.default)


def setting_rows(section: str) -> str:
    """Return the table rows of one section."""
    rows = []
    for item in SETTINGS:
        if item.section == section:
            note = f" *Comes with {item.needs}; until then only the default is taken.*" if item.needs else ""
            rows.append(
                f"| `{item.flag}` | `{item.path}` | `{item.env}` | {cell(item.allowed)} | {default_of(item)} "
                f"| {cell(item.help)}{note} |"
            )
    return "\n".join(rows)


def verb_row(name: str, verb: Verb) -> str:
    """Return the table row of one verb."""
    settings = {"common": [], "all": ["every setting"], "changeable": ["settings that a live run can change"]}
    options = [f"`{argument.names[-1]}`" for argument in verb.arguments if not argument.place]
    arguments = [f"`{verb.places}`"] if verb.places else []
    return f"| `ptp {name}` | {cell(', '.join([*arguments, *options, *settings[verb.settings]]))} | {verb.summary} |"


def reference() -> str:
    """Return the whole page."""
    parts = [HEAD + "\n".join(verb_row(*named) for named in walk(VERBS)), SETTINGS_HEAD]
    for section, cls in SECTIONS.items():
        about = (cls.__doc__ or "").splitlines()[0]
        parts.append(
            f"### {section.replace('_', ' ')}\n\n{about}\n\n"
            "| flag | YAML | environment | allowed | default | what it does |\n|---|---|---|---|---|---|\n"
            + setting_rows(section)
            + "\n"
        )
    parts.append("## Worlds\n\nBeside these, every environment that Gymnasium can make; `ptp worlds` lists them.\n")
    parts.append("| world | made by |\n|---|---|\n" + "\n".join(f"| `{n}` | `{e}` |" for n, e in WORLDS.items()) + "\n")
    parts.append("## Agents\n")
    agents = [f"| `{name}` | {(find_agent(name).__doc__ or '').splitlines()[0]} |" for name in AGENTS]
    parts.append("| agent | about |\n|---|---|\n" + "\n".join(agents) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    REFERENCE.write_text(reference(), encoding="utf-8")
