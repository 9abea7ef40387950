"""`ptp worlds` and `ptp agents`: what can be played, and what can play."""

from __future__ import annotations

from ptp.agents.registry import agent_names, find_agent
from ptp.cli.output import show, table
from ptp.cli.parser import Options
from ptp.worlds import list_worlds


def worlds(options: Options) -> int:
    """List worlds."""
    known = list_worlds()
    rows = [(it.name, it.family, it.missing or "") for it in known]
    return show(options, known, *table(("world", "family", "missing"), rows))


def agents(options: Options) -> int:
    """List agents."""
    known = [{"name": name, "about": (find_agent(name).__doc__ or "").splitlines()[0]} for name in agent_names()]
    return show(options, known, *table(("agent", "about"), [tuple(agent.values()) for agent in known]))
