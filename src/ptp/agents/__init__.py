"""Agents: an observation becomes a decision."""

from ptp.agents.contract import Agent, AgentSetup, Answers, Decision, NoOptions, Observation, Remark
from ptp.agents.registry import agent_names, find_agent, make_agent

__all__ = [
    "Agent",
    "AgentSetup",
    "Answers",
    "Decision",
    "NoOptions",
    "Observation",
    "Remark",
    "agent_names",
    "find_agent",
    "make_agent",
]
