"""What an agent may see of its world."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptp.worlds.contract import World


class WorldView:
    """A world to look at: nothing here changes it, and its dice are not the agent's."""

    def __init__(self, world: World) -> None:
        self.facts = world.facts
        self.action_space = deepcopy(world.action_space)
        """The commands that the world takes; a copy, so that sampling from it does not touch the world."""
        self.encode, self.decode, self.parse = world.encode, world.decode, world.parse
        self.context = world.context
        self.frame = world.frame
