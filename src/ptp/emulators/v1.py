"""Our own protocol: the whole state, many commands in one request, scripts, snapshots and pictures."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from msgspec import Meta, Struct
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ptp.emulators.endpoints import GameEndpoint
from ptp.emulators.session import NotBegun, Session
from ptp.http.endpoints import Media

PLAYER = "v1"
MOST_INPUTS = 10_000
OCTETS = "application/octet-stream"
SNAPSHOT = Media("A snapshot, to be sent back as it is.", (OCTETS,))
FRAME = Media("The picture.", ("image/png",))


class Position(Struct, kw_only=True):
    """Where a game stands."""

    world: str
    seed: int | None
    """The seed of the episode; null before the first."""
    step: int
    """Commands since the episode began."""
    reward: float
    """The reward of the episode so far."""
    done: bool
    """Whether the episode has ended."""
    run_id: str | None
    """The run that this is recorded as."""
    state: Any
    """Everything that the world tells."""


class Stepped(Struct, kw_only=True):
    """What commands did."""

    played: int
    """How many were applied; fewer than were sent when the episode ended."""
    position: Position
    rewards: list[float] | None
    """The reward of each, if asked."""
    states: list[Any] | None
    """The state after each, if asked."""


class Happened(Struct, kw_only=True):
    """How a script went."""

    success: bool
    checkpoints: list[str]
    """The checkpoints that were reached, in order."""
    failures: list[str]
    """What the script expected and was not so, with its line."""
    position: Position


class Restored(Struct, frozen=True):
    """Where the game stands after a snapshot was restored."""

    position: Position


def position(session: Session) -> Position:
    """Return the whole state of the game."""
    began = session.seed is not None
    return Position(
        world=session.world.spec.name,
        seed=session.seed,
        step=session.steps if began else 0,
        reward=session.reward if began else 0.0,
        done=began and session.play.over,
        run_id=session.run_id,
        state=session.play.state if began else None,
    )


def step(
    session: Session,
    inputs: Annotated[list[Any], Meta(max_length=MOST_INPUTS, description="Commands, in order.")],
    rewards: Annotated[bool, Meta(description="Whether to return the reward of each.")] = False,
    states: Annotated[bool, Meta(description="Whether to return the state after each.")] = False,
) -> Stepped:
    """Apply many commands; every one is checked before the first is applied. A new game begins by itself."""
    commands = [session.parse(command) for command in inputs]
    session.check_length(commands)
    if session.seed is None:
        session.begin(PLAYER)
    earned: list[float] = []
    seen: list[Any] = []
    for command in commands:
        if session.play.over and earned:
            break
        earned.append(session.step(command).reward)
        if states:
            seen.append(session.play.state)
    return Stepped(
        played=len(earned),
        position=position(session),
        rewards=earned if rewards else None,
        states=seen if states else None,
    )


def script(
    session: Session,
    text: Annotated[str, Meta(max_length=1 << 19, description="A script in the button language.")],
) -> Happened:
    """Play a button script. A new game begins by itself."""
    if session.seed is None:
        session.begin(PLAYER)
    played = session.execute(text)
    return Happened(
        success=played.success,
        checkpoints=list(played.checkpoints),
        failures=[f"line {failure.line}: {failure.message}" for failure in played.failures],
        position=position(session),
    )


def snapshot(session: Session) -> Response:
    """Return everything that is needed to continue from here."""
    return Response(session.snapshot(), media_type=OCTETS)


def restore(session: Session, data: bytes) -> Restored:
    """Continue from a snapshot of this world, or begin in a state of its emulator."""
    session.restore(PLAYER, data)
    return Restored(position(session))


def frame(session: Session) -> Response:
    """Return the present picture; one of a Game Boy is 320 x 288."""
    if session.seed is None:
        raise NotBegun("no game has begun; POST /initialize or /reset first")
    picture = session.picture()
    if picture is None:
        raise HTTPException(HTTPStatus.CONFLICT, f"world {session.world.spec.name!r} draws no pictures")
    return Response(picture, media_type="image/png")


ENDPOINTS = (
    GameEndpoint("POST", "/v1/step", step),
    GameEndpoint("GET", "/v1/state", position),
    GameEndpoint("POST", "/v1/script", script),
    GameEndpoint("GET", "/v1/snapshot", snapshot, SNAPSHOT),
    GameEndpoint("POST", "/v1/snapshot", restore, takes=SNAPSHOT),
    GameEndpoint("GET", "/v1/frame", frame, FRAME),
)
