"""Write docs/reference.md from the code, so that the two can't disagree; `make docs` calls it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ptp.agents.registry import AGENTS, find_agent
from ptp.cli.verb import Verb, walk
from ptp.cli.verbs import VERBS
from ptp.config.setting import Setting
from ptp.config.tree import EXPERIMENT_SETTINGS, SECTIONS, SETTINGS
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

Options of a world or an agent are a mapping in YAML (`agent: {name: mine, options: {alpha: 0.1}}`), a flag for each
(`--agent-option alpha=0.1 --agent-option depth=3`), or a JSON object in the environment. A value that is not JSON is
text. Later sources override single options; one that names another world or agent drops the options of the former.
"""

EXPERIMENT_HEAD = """### experiment plan

What only an experiment has. A file may hold these for `ptp experiment run`, a verb to come; a single run ignores them.

"""


def cell(text: object) -> str:
    """Return text that does not break a table."""
    return str(text).replace("|", "\\|")


def default_of(item: Setting) -> str:
    """Return the default as it would be written."""
    default = ",".join(item.default) if item.type is tuple else item.default
    return "none" if default in (None, "", {}) else str(default)


def setting_table(items: Iterable[Setting]) -> str:
    """Return one section as a table."""
    head = "| flag | YAML | environment | allowed | default | what it does |\n|---|---|---|---|---|---|\n"
    return head + "".join(
        f"| `{item.flag}` | `{item.path}` | `{item.env}` | {cell(item.allowed)} | {default_of(item)} "
        f"| {cell(item.help)} |\n"
        for item in items
    )


def verb_row(name: str, verb: Verb) -> str:
    """Return the table row of one verb."""
    settings = {"common": [], "all": ["every setting"], "changeable": ["settings that a live run can change"]}
    options = [f"`{argument.names[-1]}`" for argument in verb.arguments if not argument.place and argument.is_shown]
    arguments = [f"`{verb.places}`"] if verb.places else []
    return f"| `ptp {name}` | {cell(', '.join([*arguments, *options, *settings[verb.settings]]))} | {verb.summary} |"


def reference() -> str:
    """Return the whole page."""
    parts = [HEAD + "\n".join(verb_row(*named) for named in walk(VERBS)), SETTINGS_HEAD]
    for section, cls in SECTIONS.items():
        about = (cls.__doc__ or "").splitlines()[0]
        table = setting_table(item for item in SETTINGS if item.section == section)
        parts.append(f"### {section.replace('_', ' ')}\n\n{about}\n\n{table}")
    parts.append(EXPERIMENT_HEAD + setting_table(EXPERIMENT_SETTINGS))
    parts.append("## Worlds\n\nBeside these, every environment that Gymnasium can make; `ptp worlds` lists them.\n")
    parts.append("| world | made by |\n|---|---|\n" + "\n".join(f"| `{n}` | `{e}` |" for n, e in WORLDS.items()) + "\n")
    parts.append("## Agents\n")
    agents = [f"| `{name}` | {(find_agent(name).__doc__ or '').splitlines()[0]} |" for name in AGENTS]
    parts.append("| agent | about |\n|---|---|\n" + "\n".join(agents) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    REFERENCE.write_text(reference(), encoding="utf-8")
