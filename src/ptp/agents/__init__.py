"""Agents: an observation becomes a decision."""

from ptp.agents.contract import Agent, AgentOptions, Decision, Observation
from ptp.agents.registry import agent_names, make_agent

__all__ = ["Agent", "AgentOptions", "Decision", "Observation", "agent_names", "make_agent"]
