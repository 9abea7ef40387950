"""`ptp worlds` and `ptp agents`: what can be played, and what can play."""

from __future__ import annotations

from ptp.agents.registry import agent_names, find_agent
from ptp.cli.output import print_json, print_table
from ptp.cli.parser import Options
from ptp.worlds import list_worlds


def worlds(options: Options) -> int:
    """List worlds."""
    known = list_worlds()
    if options.json:
        print_json(known)
    else:
        print_table(("world", "family", "missing"), [(it.name, it.family, it.missing or "") for it in known])
    return 0


def agents(options: Options) -> int:
    """List agents."""
    known = [(name, (find_agent(name).__doc__ or "").splitlines()[0]) for name in agent_names()]
    if options.json:
        print_json([{"name": name, "about": about} for name, about in known])
    else:
        print_table(("agent", "about"), known)
    return 0
