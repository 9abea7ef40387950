"""The learner: beliefs, desires and intentions over Q-learning."""

from ptp.agents.bdi.agent import BDIQAgent

__all__ = ["BDIQAgent"]
