"""Which agents there are: a table of names, installed plug-ins, and any class that is named by module or file."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable

from ptp._util.loading import decode_options, load_class
from ptp.agents.background import BackgroundAgent
from ptp.agents.contract import Agent, AgentSetup
from ptp.config.tree import Agent as AgentConfig
from ptp.errors import AgentError, ConfigError, UnknownName
from ptp.worlds import World

AGENTS: dict[str, str] = {
    "explorer": "ptp.agents.explorer:ExplorerAgent",
    "loop": "ptp.agents.simple:LoopAgent",
    "random": "ptp.agents.simple:RandomAgent",
    "script": "ptp.agents.simple:ScriptAgent",
}


def _entries() -> dict[str, str]:
    plugins = {plugin.name: plugin.value for plugin in importlib.metadata.entry_points(group="ptp.agents")}
    return plugins | AGENTS


def agent_names() -> list[str]:
    """Return the names of every agent, installed plug-ins included."""
    return sorted(_entries())


def is_foreign(name: str) -> bool:
    """Whether an agent is code that is not installed as one."""
    return name not in _entries()


def find_agent(name: str, *, trusted: bool = False) -> type[Agent]:
    """Return the class of an agent: by its name or, if *trusted*, as `module:Class` or `file.py:Class`."""
    entries = _entries()
    entry = entries.get(name, name)
    if entry.endswith(".py"):
        raise ConfigError(f"--agent {name} names no class; write {name}:Class")
    if ":" not in entry:
        raise UnknownName("agent", name, list(entries))
    if is_foreign(name) and not trusted:
        raise AgentError(f"agent {name!r} is code that is not installed as an agent; if you trust it, add --trust")
    return load_class("an agent", entry, Agent)


def make_agent(
    name: str,
    world: World,
    config: AgentConfig,
    seed: int,
    *,
    wake: Callable[[], None] = lambda: None,
    trusted: bool = False,
) -> Agent:
    """Make an agent for a world, with its options decoded.

    A slow one gets a thread of its own, and calls *wake* when it has an answer.
    """
    kind = find_agent(name, trusted=trusted)
    given = config.options
    if config.script is not None and "file" in kind.Options.__struct_fields__:
        given = {"file": config.script, **given}
    options = decode_options(f"agent {name!r}", given, kind.Options)
    agent = kind(world.view(), AgentSetup(seed, options, config.model, config.base_url))
    return BackgroundAgent(agent, wake) if agent.slow else agent
