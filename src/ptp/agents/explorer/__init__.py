"""The explorer: an agent that plays by looking, with no model, no training and no walkthrough.

What it sees becomes memory, memory and needs become an errand, an errand becomes button presses::

    state ──> sight ──> memory ──> atlas ──> goals ──> errand ──> feet
      │                   ^                   ^                    │
      ├──> battle ────────┤                patience                v
      └──> talk, shop ────┘                                     Decision
"""

from ptp.agents.explorer.agent import ExplorerAgent

__all__ = ["ExplorerAgent"]
