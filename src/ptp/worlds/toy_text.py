"""Toy-text worlds: small enough to save and load in full."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from ptp.errors import WorldError
from ptp.records import SnapshotKind
from ptp.worlds.contract import World
from ptp.worlds.spaces import describe

# The attributes of each environment that change while it is played.
_STATE = ("s", "lastaction", "taxi_orientation", "fickle_step", "dealer", "player", "dealer_top_card_suit",
          "dealer_top_card_value_str")  # fmt: skip
_ELAPSED = "_elapsed_steps"  # of the wrapper that limits an episode


class ToyTextWorld(World):
    """FrozenLake, CliffWalking, Taxi and Blackjack."""

    family = "toy_text"
    storage_profile = "toy_text"
    snapshot: ClassVar[SnapshotKind] = "state"
    command_names: ClassVar[dict[str, tuple[str, ...]]] = {
        "FrozenLake": ("left", "down", "right", "up"),
        "FrozenLake8x8": ("left", "down", "right", "up"),
        "CliffWalking": ("up", "right", "down", "left"),
        "CliffWalkingSlippery": ("up", "right", "down", "left"),
        "Taxi": ("south", "north", "east", "west", "pickup", "dropoff"),
        "Blackjack": ("stick", "hit"),
    }

    def observe(self) -> Any:
        """Return the position, or the cards of a hand of Blackjack."""
        env: Any = self.env.unwrapped
        return int(env.s) if hasattr(env, "s") else env._get_obs()

    def save(self) -> bytes:
        """Return position, cards, random numbers and elapsed steps as JSON."""
        env: Any = self.env.unwrapped
        state = {name: describe(getattr(env, name)) for name in _STATE if hasattr(env, name)}
        elapsed = self.env.get_wrapper_attr(_ELAPSED) if self.env.has_wrapper_attr(_ELAPSED) else None
        return json.dumps({"state": state, "random": env.np_random.bit_generator.state, "elapsed": elapsed}).encode()

    def load(self, data: bytes) -> None:
        """Return to a saved state, in this world or a new one."""
        try:
            saved = json.loads(data)
            state, random, elapsed = saved["state"], saved["random"], saved["elapsed"]
        except (ValueError, KeyError, TypeError) as problem:
            raise WorldError(f"not a saved state of {self.spec.name!r}: {problem!r}") from None
        env: Any = self.env.unwrapped
        self.env.reset(seed=0)
        for name, value in state.items():
            setattr(env, name, value)
        env.np_random.bit_generator.state = random
        if self.env.has_wrapper_attr(_ELAPSED):
            self.env.set_wrapper_attr(_ELAPSED, elapsed)
