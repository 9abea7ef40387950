"""`ptp worlds` and `ptp agents`: what can be played, and what can play."""

from __future__ import annotations

from ptp.agents.registry import agent_names, find_agent
from ptp.cli.output import print_json, print_table
from ptp.cli.parser import Options
from ptp.worlds import find_world, world_names
from ptp.worlds.registry import GAMEBOY, GYMNASIUM, TOY_TEXT

MAKERS = {GAMEBOY: "Game Boy", TOY_TEXT: "Gymnasium, toy text", GYMNASIUM: "Gymnasium"}


def worlds(options: Options) -> int:
    """List worlds."""
    specs = [find_world(name) for name in world_names()]
    if options.json:
        print_json([{"name": spec.name, "entry": spec.entry} for spec in specs])
    else:
        print_table(("world", "made by"), [(spec.name, MAKERS.get(spec.entry, spec.entry)) for spec in specs])
    return 0


def agents(options: Options) -> int:
    """List agents."""
    known = [(name, (find_agent(name).__doc__ or "").splitlines()[0]) for name in agent_names()]
    if options.json:
        print_json([{"name": name, "about": about} for name, about in known])
    else:
        print_table(("agent", "about"), known)
    return 0
