"""What every world is: a Gymnasium environment plus its facts, a state hash and a text form of its commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import msgspec
import numpy as np

from ptp.errors import WorldError
from ptp.records import SnapshotKind, WorldFacts, WorldSpec
from ptp.worlds.spaces import CommandCodec, StateHash, describe

Observation = Any
Command = Any


class Signals(msgspec.Struct, frozen=True, gc=False):
    """What pacing and limits need to know of a state."""

    engaged: bool = False
    """Whether the player is in a fight, or whatever else calls for a pace of its own."""
    values: dict[str, float] = {}
    """The declared signals that can be read now."""


class WorldEvent(msgspec.Struct, frozen=True, gc=False):
    """Something that happened in a step."""

    kind: str
    title: str
    """The event in a few words."""
    detail: Any


class Outcome(msgspec.Struct, gc=False):
    """What one command did."""

    observation: Observation
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


NO_SIGNALS = Signals()


class World:
    """A Gymnasium environment with its facts; the default serves any environment that Gymnasium can make."""

    family: ClassVar[str] = "gymnasium"
    storage_profile: ClassVar[str] = "box2d"
    snapshot: ClassVar[SnapshotKind] = "tape"
    releases_lock: ClassVar[bool] = False
    """Whether most of a step runs without Python's lock, so that other threads can work meanwhile."""
    events: Sequence[WorldEvent] = ()
    """What happened in the last step, for worlds that can tell."""
    remarks: Sequence[str] = ()
    """What a person should know before the world is played."""
    info: dict[str, Any] = {}
    """What the last reset said beside the observation."""
    command_names: ClassVar[dict[str, tuple[str, ...]]] = {}

    def __init__(self, spec: WorldSpec, render_mode: str | None = None) -> None:
        from ptp.worlds.gym import make_env, package_versions

        self.spec = spec
        self.env = make_env(spec, render_mode)
        unwrapped = self.env.unwrapped
        env_spec = self.env.spec
        self.facts = WorldFacts(
            name=spec.name,
            family=self.family,
            version=str(env_spec.version) if env_spec and env_spec.version is not None else "0",
            render_modes=tuple(unwrapped.metadata.get("render_modes", ())),
            render_mode=unwrapped.render_mode,
            control_modes=("agent", "human"),
            storage_profile=self.storage_profile,
            snapshot=self.snapshot,
            origin=package_versions(type(unwrapped).__module__),
        )
        codec = CommandCodec(self.env.action_space, self.names_of_commands())
        self.encode, self.decode, self.parse = codec.encode, codec.decode, codec.parse
        self.state_hash = StateHash(self.env.observation_space).of

    @property
    def action_space(self) -> gymnasium.Space[Any]:
        """The commands that the world takes."""
        return self.env.action_space

    def names_of_commands(self) -> tuple[str, ...]:
        """Return words for the commands 0, 1, 2, ..., where the world has them."""
        return self.command_names.get(self.spec.options.get("id", "").split("-")[0], ())

    def reset(self, seed: int | None, options: dict[str, Any] | None = None) -> Observation:
        """Begin an episode and return its first observation; without a seed the world goes on with its own dice."""
        observation, self.info = self.env.reset(seed=seed, options=options)
        return observation

    def step(self, command: Command) -> Outcome:
        """Apply one command."""
        observation, reward, terminated, truncated, info = self.env.step(command)
        return Outcome(observation, float(reward), bool(terminated), bool(truncated), info)

    def context(self) -> str:
        """Return a word for the kind of situation; a queued command is valid only in the one it was meant for."""
        return ""

    def signals(self) -> Signals:
        """Return what pacing and limits need to know of the present state."""
        return NO_SIGNALS

    def measurements(self) -> dict[str, float]:
        """Return figures about the play that are worth keeping once a second, beside those of every run."""
        return {}

    def state(self, observation: Observation) -> Any:
        """Return the present state as data that msgspec can write as JSON, and that nobody changes afterwards."""
        return {"observation": describe(observation)}

    def frame(self) -> np.ndarray[Any, Any] | str | None:
        """Return the present picture, in the negotiated render mode."""
        picture: np.ndarray[Any, Any] | str | None = self.env.render()  # type: ignore[assignment]
        return picture

    def raw_frame(self) -> np.ndarray[Any, Any] | str | None:
        """Return the present picture in the form that is had soonest: pixels may have alpha, or be grey."""
        return self.frame()

    def annotations(self) -> Any:
        """Return what the picture shows, for worlds that can tell: text, figures and menus, each with its box."""
        return None

    def observe(self) -> Observation:
        """Return what the last step or reset showed; a world that can load a state shows it without a step."""
        raise WorldError(f"world {self.spec.name!r} can't show its state without a step")

    def save(self) -> bytes:
        """Return the whole state, if the world can save it."""
        raise WorldError(f"world {self.spec.name!r} can't save its state; go back by replaying the tape")

    def load(self, data: bytes) -> None:
        """Return to a saved state."""
        raise WorldError(f"world {self.spec.name!r} can't load a state; go back by replaying the tape")

    def close(self) -> None:
        """Free what the environment holds."""
        self.env.close()
