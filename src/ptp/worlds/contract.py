"""What every world is: a Gymnasium environment plus its facts, a state hash and a text form of its commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any, ClassVar, Protocol

import gymnasium
import msgspec
import numpy as np

from ptp.errors import WorldError
from ptp.records import Gauge, SnapshotKind, WorldFacts, WorldSpec
from ptp.worlds.gym import make_env, package_versions
from ptp.worlds.spaces import CommandCodec, describe, state_hash

Observation = Any
Command = Any
Picture = np.ndarray[Any, Any] | str | None


class Signals(msgspec.Struct, frozen=True, gc=False):
    """What pacing and limits need to know of a state."""

    engaged: bool = False
    """Whether the player is in a fight: such ticks have a rate of their own, and queued commands end there."""
    values: dict[str, float] = {}
    """The figures that limits can watch, by the names in `WorldFacts.signals`; only those that can be read."""


class WorldEvent(msgspec.Struct, frozen=True, gc=False):
    """Something that happened in the last step, in the world's own words."""

    kind: str
    title: str
    """The event in a few words."""
    detail: Any
    """Data that msgspec can write as JSON, and that nobody changes afterwards."""


class Outcome(msgspec.Struct, gc=False):
    """What one command did."""

    observation: Observation
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


NO_SIGNALS = Signals()


class Timing(Protocol):
    """The frames of a world whose commands may have a length of their own."""

    hold: int
    """Frames that a button is held when the command does not say."""
    frames: int
    """Frames of a tick when the command does not say."""
    most: int
    """Frames of the longest command."""
    rate: float
    """Frames per second of the machine itself."""

    def spell(self, button: str | None, hold: int, frames: int, held: Sequence[str]) -> str:
        """Return the command that presses a button for some of its frames, while others are down through all."""

    def length(self, command: Any) -> int:
        """Return how many frames a command takes."""


class World:
    """A Gymnasium environment with its facts; the default serves any environment that Gymnasium can make.

    A subclass names its `environment`, or makes everything itself in `__init__`.
    """

    environment: ClassVar[str | type[gymnasium.Env[Any, Any]] | None] = None
    """The environment of a subclass: its id or its class; without one, the id is in the options."""
    Options: ClassVar[type[msgspec.Struct] | None] = None
    """The options that a world takes; None when they are the arguments of its environment."""
    family: ClassVar[str] = "gymnasium"
    storage_profile: ClassVar[str | None] = None
    """How its pictures are kept; when left out, as the package of its environment says, or else as of toy-text."""
    snapshot: ClassVar[SnapshotKind] = "tape"
    releases_lock: ClassVar[bool] = False
    """Whether most of a step runs without Python's lock, so that other threads can work meanwhile."""
    gauges: ClassVar[tuple[Gauge, ...]] = ()
    """Every signal and measurement of the world, described."""
    signal_names: ClassVar[tuple[str, ...]] = ()
    milestones: ClassVar[tuple[str, ...]] = ()
    state_fields: ClassVar[tuple[str, ...]] = ("observation",)
    """The names in its states, which scripts can ask for."""
    command_names: ClassVar[dict[str, tuple[str, ...]]] = {
        "CartPole": ("left", "right"),
        "MountainCar": ("left", "none", "right"),
        "LunarLander": ("none", "left", "main", "right"),
    }
    """Words for the commands 0, 1, 2, ... of an environment, by its name without the version."""
    events: Sequence[WorldEvent] = ()
    """What happened in the last step, for worlds that report it."""
    remarks: Sequence[str] = ()
    """What a person should know before the world is played."""
    info: Mapping[str, Any] = {}
    """What the environment said beside the observation of the last reset."""

    def __init__(
        self, spec: WorldSpec, render_mode: str | None = None, env: gymnasium.Env[Any, Any] | None = None
    ) -> None:
        """Make the world; *env* is an environment that is there already."""
        self.spec = spec
        self.env = env if env is not None else make_env(spec, render_mode, self.environment)
        self.facts = self._describe()
        codec = CommandCodec(self.env.action_space, self.facts.commands)
        self.encode, self.decode, self.parse = codec.encode, codec.decode, codec.parse
        self.state_hash = state_hash(self.env.observation_space)

    def _describe(self) -> WorldFacts:
        unwrapped, env_spec = self.env.unwrapped, self.env.spec
        rate = float(unwrapped.metadata.get("render_fps") or 30)
        return WorldFacts(
            name=self.spec.name,
            family=self.family,
            version=str(env_spec.version) if env_spec and env_spec.version is not None else "0",
            render_modes=tuple(unwrapped.metadata.get("render_modes", ())),
            render_mode=unwrapped.render_mode,
            control_modes=("agent", "human"),
            storage_profile=self.storage_profile or _profile_of(type(unwrapped).__module__),
            snapshot=self.snapshot,
            signals=self.signal_names,
            origin=self._origin(),
            gauges=self.gauges,
            milestones=self.milestones,
            commands=self.command_names.get(env_spec.name, ()) if env_spec else (),
            ticks_per_second=rate / getattr(unwrapped, "frames_per_tick", 1),
        )

    def _origin(self) -> dict[str, str]:
        """Return the versions that a replay depends on."""
        return package_versions(type(self.env.unwrapped).__module__)

    @property
    def action_space(self) -> gymnasium.Space[Any]:
        """The commands that the world takes."""
        return self.env.action_space

    def view(self) -> WorldView:
        """Return what an agent may see."""
        return WorldView(self)

    def reset(self, seed: int | None, options: dict[str, Any] | None = None) -> Observation:
        """Begin an episode and return its first observation; without a seed the world draws on."""
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

    def trigger_values(self, trigger: str) -> Sequence[str]:
        """Return the names that a trigger of `--snapshot-on-event` can be given; none where any may come."""
        return ()

    def annotations(self) -> Any:
        """Return what is to be seen in the present picture, as data for JSON; None where the world can't say."""
        return None

    def state(self, observation: Observation) -> Any:
        """Return the present state as data that msgspec can write as JSON, and that nobody changes afterwards."""
        return {"observation": describe(observation)}

    def frame(self) -> Picture:
        """Return the present picture, in the negotiated render mode."""
        picture: Picture = self.env.render()  # type: ignore[assignment]
        return picture

    def raw_frame(self) -> Picture:
        """Return the present picture in the form that is had soonest: pixels may have alpha, or be grey."""
        return self.frame()

    def observe(self) -> Observation:
        """Return what the last step or reset showed; a world that can load a state shows it without a step."""
        raise WorldError(f"world {self.spec.name!r} can't show its state without a step")

    def save(self) -> bytes:
        """Return the whole state, if the world can save it."""
        raise WorldError(f"world {self.spec.name!r} can't save its state; go back by replaying the tape")

    def load(self, data: bytes) -> None:
        """Return to a saved state."""
        raise WorldError(f"world {self.spec.name!r} can't load a state; go back by replaying the tape")

    def options_from(self, data: bytes) -> dict[str, Any]:
        """Return the options of a reset that begins an episode in a saved state, as data for JSON."""
        raise WorldError(f"world {self.spec.name!r} can't begin in a saved state; go there by replaying the tape")

    def close(self) -> None:
        """Free what the environment holds."""
        self.env.close()


PROFILES = {
    "gymnasium.envs.box2d": "box2d",
    "gymnasium.envs.classic_control": "box2d",
    "gymnasium.envs.mujoco": "stream",
    "ale_py": "atari_sqlite",
}
"""The storage profiles of known environments, by where they come from."""


def _profile_of(module: str) -> str:
    return next((name for place, name in PROFILES.items() if f"{module}.".startswith(f"{place}.")), "toy_text")


class WorldView:
    """What an agent may see of its world: nothing here changes it, and its random numbers are not the agent's."""

    timing: Timing | None = None
    """How commands become frames; None where every command is one step."""
    memory: Callable[[int, int], bytes] | None = None
    """Reads raw memory from one address up to another; None where there is none."""
    way_to: Callable[[int, int], list[str] | None] | None = None
    """Finds the commands that lead to a place, none when it is reached, None when no way is known; None where the world
    finds no ways."""

    def __init__(self, world: World) -> None:
        self.facts = world.facts
        self.action_space = deepcopy(world.action_space)
        """The commands that the world takes; a copy, so that sampling from it does not touch the world."""
        self.observation_space = deepcopy(world.env.observation_space)
        self.encode, self.decode, self.parse = world.encode, world.decode, world.parse
        self.context = world.context
        self.signals = world.signals
        self.state_fields = world.state_fields
        self.frame = world.frame
