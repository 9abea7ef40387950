"""Agents: an observation becomes a decision."""

from ptp.agents.contract import Agent, AgentSetup, Decision, NoOptions, Observation
from ptp.agents.registry import agent_names, find_agent, make_agent

__all__ = [
    "Agent",
    "AgentSetup",
    "Decision",
    "NoOptions",
    "Observation",
    "agent_names",
    "find_agent",
    "make_agent",
]
