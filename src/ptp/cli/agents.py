"""`ptp agents`: list the agents that can play."""

from __future__ import annotations

from ptp.cli.common import parse_common
from ptp.cli.parser import Parser

DESCRIPTION = """List the agents that can play.

examples:
  ptp agents
  ptp run --world tallgrass --agent explorer
"""


def main(argv: list[str]) -> int:
    """Run the verb."""
    options, _ = parse_common(Parser("ptp agents", DESCRIPTION), argv)

    from ptp.agents.registry import agent_names, find_agent
    from ptp.cli.output import print_json, print_table

    agents = [(name, (find_agent(name).__doc__ or "").splitlines()[0]) for name in agent_names()]
    if options.json:
        print_json([{"name": name, "about": about} for name, about in agents])
    else:
        print_table(("agent", "about"), agents)
    return 0
