"""The player of a run that `ptp.Record` recorded: somebody's own loop, which nobody here can ask again."""

from __future__ import annotations

from ptp.agents.contract import Agent, Decision, Observation
from ptp.errors import AgentError


class LoopAgent(Agent):
    """A loop of your own, recorded by `ptp.Record`; only the loop itself can go on."""

    name = "loop"

    def decide(self, observation: Observation) -> Decision:
        """Refuse: the loop that decided is not here."""
        raise AgentError("a loop of its own played this run; fork the run and name an agent, e.g. --agent random")
