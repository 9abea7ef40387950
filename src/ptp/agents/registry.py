"""Which agents there are."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable

from ptp.agents.background import BackgroundAgent
from ptp.agents.contract import Agent, AgentOptions
from ptp.errors import AgentError, UnknownName
from ptp.worlds import World

AGENTS: dict[str, str] = {
    "explorer": "ptp.agents.explorer:ExplorerAgent",
    "random": "ptp.agents.random:RandomAgent",
    "script": "ptp.agents.script:ScriptAgent",
}


def _entries() -> dict[str, str]:
    plugins = {plugin.name: plugin.value for plugin in importlib.metadata.entry_points(group="ptp.agents")}
    return plugins | AGENTS


def agent_names() -> list[str]:
    """Return the names of every agent, installed plug-ins included."""
    return sorted(_entries())


def find_agent(name: str) -> type[Agent]:
    """Return the class of the agent of that name."""
    entries = _entries()
    if name not in entries:
        raise UnknownName("agent", name, list(entries))
    module, _, attribute = entries[name].partition(":")
    try:
        cls: type[Agent] = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as problem:
        raise AgentError(f"agent {name!r} can't be made: {problem}") from None
    return cls


def make_agent(name: str, world: World, options: AgentOptions, wake: Callable[[], None]) -> Agent:
    """Make an agent for a world; a slow one gets a thread of its own, and calls *wake* when it has an answer."""
    agent = find_agent(name)(world, options)
    return BackgroundAgent(agent, wake) if agent.slow else agent
