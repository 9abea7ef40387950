"""OpenEnv's protocol: reset, step and state, over HTTP and over a WebSocket with a game of its own."""

from __future__ import annotations

import base64
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from ptp import __version__
from ptp.emulators.endpoints import GameEndpoint
from ptp.emulators.session import Session
from ptp.errors import UsageError
from ptp.http.endpoints import convert
from ptp.worlds.gameboy.state import GameState
from ptp.worlds.spaces import describe

PLAYER = "openenv"
EXTENSIONS = ("snapshot", "restore", "fork")
README = """An action is `{"command": ...}`: a name, a number, or data of the world's action space. For a Game Boy it is
a button such as `a`, held as long as usual, or with frames of its own: `a:10/130` holds A for 10 of 130 frames, and
`none/60` lets 60 pass. `reset` takes `seed`, and `frames: true` to have a picture in every observation (a PNG file as
base64). The same seed and actions give the same game. Messages beside OpenEnv's own, over the WebSocket: `snapshot`
answers with everything needed to continue (`data.snapshot`, base64), `restore` takes it back, `fork` makes another game
that continues from here (`data.path` is where its routes begin, and its `ws`)."""
Seed = Annotated[int, Meta(ge=0, le=(1 << 63) - 1, description="The same seed and actions give the same game.")]


class Action(Struct):
    """What to do in one step."""

    command: Any
    """A name, a number, or data of the world's action space; a Game Boy takes frames too, as in `a:10/130`."""


class Observation(Struct, kw_only=True, omit_defaults=True):
    """What is there after a step."""

    state: Any
    """Everything that the world tells, such as place, party and text, or the numbers of its observation."""
    frame: str | None = None
    """The picture as a PNG file in base64, if reset asked for `frames`."""
    metadata: dict[str, Any] = {}
    """What the environment said beside it."""


class StepResult(Struct):
    """What came of a step or a reset."""

    observation: Observation
    reward: float | None
    done: bool


class State(Struct):
    """Where the episode stands."""

    episode_id: str | None
    step_count: int
    seed: int | None
    total_reward: float
    done: bool
    run_id: str | None = None
    """The run that this is recorded as."""


class Schemas(Struct):
    """What actions, observations and states look like, as JSON Schemas."""

    action: dict[str, Any]
    observation: dict[str, Any]
    state: dict[str, Any]


class Metadata(Struct):
    """What this environment is."""

    name: str
    description: str
    readme_content: str
    version: str
    author: str | None
    documentation_url: str | None
    extensions: list[str]
    """Messages of the WebSocket beside OpenEnv's own."""


def reset(
    session: Session,
    seed: Seed | None = None,
    episode_id: Annotated[str, Meta(max_length=200)] | None = None,
    frames: bool = False,
) -> StepResult:
    """Begin an episode; with the same seed it is the same one."""
    session.begin(PLAYER, seed)
    session.episode_id, session.shows_frames = episode_id, frames
    return StepResult(_observe(session, session.world.info), None, False)


def step(
    session: Session,
    action: dict[str, Any],
    timeout_s: Annotated[float, Meta(gt=0)] | None = None,
    request_id: Annotated[str, Meta(max_length=200)] | None = None,
) -> StepResult:
    """Apply one command."""
    return apply(session, convert(action, Action))


def apply(session: Session, action: Action) -> StepResult:
    """Apply an action."""
    command = session.parse(action.command)
    session.check_length([command])
    outcome = session.step(command)
    return StepResult(_observe(session, outcome.info), outcome.reward, session.play.over)


def _observe(session: Session, info: Any) -> Observation:
    known = session.play.state
    state = known if isinstance(known, GameState) else known["observation"] if _is_plain(known) else known
    picture = session.picture() if session.shows_frames else None
    frame = None if picture is None else base64.b64encode(picture).decode()
    return Observation(state=state, frame=frame, metadata=describe(info) if info else {})


def _is_plain(known: Any) -> bool:
    return isinstance(known, dict) and set(known) == {"observation"}


def state(session: Session) -> State:
    """Tell where the episode stands."""
    over = session.seed is not None and session.play.over
    return State(session.episode_id, session.steps, session.seed, session.reward, over, session.run_id)


def schema(session: Session) -> Schemas:
    """Return the schemas of actions, observations and states."""
    schemas = [msgspec.json.schema(kind) for kind in (Action, Observation, State)]
    return Schemas(*schemas)


def metadata(session: Session) -> Metadata:
    """Tell what this environment is."""
    facts = session.world.facts
    commands = f"; commands: {', '.join(facts.commands)}" if facts.commands else ""
    about = f"{facts.name} ({facts.family}), served by ptp{commands}"
    return Metadata(facts.name, about, README, __version__, None, None, list(EXTENSIONS))


def read_snapshot(text: Any) -> bytes:
    """Return a snapshot from what a message says."""
    try:
        return base64.b64decode(text, validate=True)
    except (TypeError, ValueError) as problem:
        raise UsageError(f"snapshot: not base64: {problem}") from None


ENDPOINTS = (
    GameEndpoint("POST", "/step", step, lenient=True),
    GameEndpoint("POST", "/reset", reset, lenient=True),
    GameEndpoint("GET", "/state", state),
    GameEndpoint("GET", "/schema", schema),
    GameEndpoint("GET", "/metadata", metadata),
)
