"""What every agent is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol

import msgspec

from ptp.records import EpisodeLearnt, Level, ModelCall, ModelConfigured, ModelText, Transition
from ptp.worlds import Outcome, WorldView


class Observation(msgspec.Struct, gc=False):
    """What an agent is shown before it decides."""

    value: Any
    state: Any
    """What the world says of itself: plain data, or a frozen struct such as a `GameState`."""
    tick: int
    episode: int
    step: int
    frame: Callable[[], Any] | None = None
    """Draws the picture of this moment: an array, or text; None for a slow agent that does not see."""


class Remark(msgspec.Struct, frozen=True, gc=False):
    """Something that a person should know."""

    level: Level
    kind: str
    message: str


class Decision(msgspec.Struct, gc=False):
    """What an agent wants done, and why; one with no commands says that the agent has finished, and its reason why."""

    commands: tuple[Any, ...]
    type: str = "ACTION"
    reasoning: str | None = None
    confidence: float | None = None
    tokens: int | None = None
    cost: float | None = None
    model: str | None = None
    context: dict[str, Any] | None = None
    calls: tuple[ModelCall, ...] = ()
    """The model calls that it took; the engine fills in their tick and the number of the decision."""
    kept: tuple[ModelText | ModelConfigured, ...] = ()
    """What those calls sent and received, and how the model was asked."""
    failure: str | None = None
    """Why the agent can't go on; the run ends with this error once everything else is recorded."""
    checkpoints: tuple[str, ...] = ()
    """Names of snapshots to take before its commands are applied."""
    remarks: tuple[Remark, ...] = ()
    """What becomes notices of the run."""


class NoOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of an agent that takes none."""


class Answers(Protocol):
    """What models answered in an earlier play of the same ticks."""

    last_tick: int
    """The tick up to which there are answers."""

    def next(self, tick: int, prompt: ModelText, texts: Sequence[ModelText]) -> bytes | None:
        """Return the next answer at a tick, None if there is none; *prompt* names the *texts* that are asked with."""


class AgentSetup(msgspec.Struct, frozen=True):
    """What an agent is made with, beside the view of its world."""

    seed: int
    options: Any = NoOptions()
    """The agent's own `Options`."""
    model: str | None = None
    base_url: str | None = None
    snapshot_provider: str = "auto"
    """Where a model's pictures come from: auto, world or none."""
    shared: str | None = None
    """A folder that all runs share; None for an agent that plays by itself."""
    answers: Answers | None = None
    """Recorded answers: as long as there are some, no model is asked."""


class Agent:
    """An agent; subclasses decide, and may learn from what came of it."""

    name: ClassVar[str] = ""
    Options: ClassVar[type[msgspec.Struct]] = NoOptions
    """The options that the agent takes: a struct whose fields are named by `--agent-option name=value`."""
    slow: bool = False
    """Whether a decision may take so long that it must not hold up the clock."""
    repeatable: bool = False
    """Whether deciding again costs nothing and gives the same answer; a resumed run then asks again."""
    sees: bool = False
    """Whether a slow agent wants a picture with each observation; others can always draw one."""
    ahead: int = 0
    """A slow agent is asked again while at most so many of its commands still wait."""

    def __init__(self, world: WorldView, setup: AgentSetup) -> None:
        self.world = world
        self.setup = setup
        self.options = setup.options

    def decide(self, observation: Observation) -> Decision | None:
        """Return what to do now, or None while still thinking."""
        raise NotImplementedError

    def late(self) -> Sequence[Decision]:
        """Return the decisions since the last call that came too late to be used; what they cost is booked."""
        return ()

    def on_step(self, outcome: Outcome) -> Transition | None:
        """Hear what one command did; what a learner took from it is recorded, unless the agent is slow."""
        return None

    def on_episode_end(self, episode: int, total_reward: float) -> EpisodeLearnt | None:
        """Hear that an episode is over; what a learner says of itself is recorded, unless the agent is slow."""
        return None

    def save(self) -> dict[str, Any]:
        """Return the agent's own state as JSON-safe data."""
        return {}

    def load(self, state: dict[str, Any]) -> None:
        """Return to a saved state."""

    def close(self) -> None:
        """Free what the agent holds, such as a connection; called once, when the run has ended, however it did.

        A slow agent may still be deciding then, and should give up.
        """
