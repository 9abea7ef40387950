"""The pokemon-gym protocol: a session with its files, and the routes that its clients use."""

from __future__ import annotations

import time
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from starlette.exceptions import HTTPException

from ptp.emulators.endpoints import GameEndpoint
from ptp.emulators.files import (
    AUTOSAVE,
    FINAL,
    SESSIONS,
    STATE,
    SessionFiles,
    checked_name,
    read_autosave,
    read_state_file,
)
from ptp.emulators.gamestate import GymState, read_state
from ptp.emulators.score import Found, Score, found
from ptp.emulators.session import Session
from ptp.errors import UsageError

PLAYER = "pokemon-gym"
HOLD, PRESS = 10, 130  # frames that a key is held, and that pass in all
AUTOSAVE_EVERY = 50  # steps
MINUTES = 30 * 24 * 60  # that a session lasts
IDLE = "none"
Key = Annotated[str, Meta(max_length=100)]


class GymSession:
    """One session, from /initialize to /stop."""

    def __init__(self, files: SessionFiles) -> None:
        self.files = files
        self.score = Score()
        self.steps = files.last_step
        self._began = self._answered = time.monotonic()

    @property
    def remaining(self) -> float:
        """Seconds that are left."""
        return max(0.0, MINUTES * 60 - (time.monotonic() - self._began))

    def answer(self, session: Session, kind: str, details: dict[str, Any], name: str) -> GymState:
        """Return the state after a step, which is kept as soon as it is sent."""
        picture = session.picture()
        state = read_state(session, picture)
        now = time.monotonic()
        state.execution_time, self._answered = now - self._answered, now
        state.step_number = self.steps
        state.score = self.score.see(state)
        autosave = session.snapshot() if self.steps and self.steps % AUTOSAVE_EVERY == 0 else None

        def keep() -> None:
            self.files.note(state, kind, details, picture, name)
            if autosave is not None:
                self.files.save(AUTOSAVE, autosave)

        session.unfinished = keep
        return state

    def close(self) -> None:
        """Close the files."""
        self.files.close()


def _root(session: Session) -> Path:
    return session.data_dir / SESSIONS


def _begun(session: Session) -> GymSession:
    if session.gym is None:
        raise HTTPException(HTTPStatus.BAD_REQUEST, "there is no session; POST /initialize first")
    if session.gym.remaining <= 0:
        raise HTTPException(HTTPStatus.BAD_REQUEST, "the session's time is over; POST /stop, or /initialize another")
    return session.gym


# -- routes ----------------------------------------------------------------------------------------------------


def initialize(
    session: Session,
    headless: bool = True,
    sound: bool = False,
    load_state_file: Annotated[str, Meta(max_length=1000)] | None = None,
    load_autosave: bool = False,
    session_id: Annotated[str, Meta(max_length=200)] | None = None,
) -> GymState:
    """Begin a session, from power-on or from a saved state; one that is under way ends. No window, no sound."""
    root = _root(session)
    folder = session.gym.files.path if session.gym else None
    data = None
    if load_state_file is not None:
        data = read_state_file(root, folder, load_state_file)
    elif load_autosave:
        data = read_autosave(root, session_id)
    if session_id is not None:
        checked_name(session_id.removeprefix("session_"), "session_id")
    if data is not None:
        session.check(data)
    _end(session)
    if data is None:
        session.begin(PLAYER)
    else:
        session.restore(PLAYER, data)
    session.gym = GymSession(SessionFiles(root, session_id))
    return session.gym.answer(session, "initialize", {}, "initial")


def action(
    session: Session,
    action_type: Literal["press_key", "wait"],
    keys: Annotated[list[Key], Meta(max_length=100)] | None = None,
    frames: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None,
) -> GymState:
    """Press keys, each held for 10 frames and followed by 120, or let frames pass; this is one step."""
    gym = _begun(session)
    if action_type == "press_key":
        if not keys:
            raise HTTPException(HTTPStatus.BAD_REQUEST, "keys: missing; press_key needs at least one")
        commands = [session.parse(_timed(session, key)) for key in keys]
        details: dict[str, Any] = {"keys": keys}
        name = f"press_{session.world.encode(commands[0]).partition(':')[0]}"
    else:
        if frames is None:
            raise HTTPException(HTTPStatus.BAD_REQUEST, "frames: missing; wait needs a number of frames")
        commands, details, name = _waits(session, frames), {"frames": frames}, f"wait_{frames}"
    session.check_length(commands)
    if session.play.over:
        session.begin(PLAYER)
    for command in commands:
        session.step(command)
        if session.play.over:
            break
    gym.steps += 1
    return gym.answer(session, action_type, details, _file_name(name))


def _timed(session: Session, key: str) -> str:
    """Return the command of a key; where the world counts frames, with those of this protocol."""
    return f"{key.strip().lower()}:{HOLD}/{PRESS}" if session.timing else key


def _waits(session: Session, frames: int) -> list[Any]:
    if session.timing is None:
        if IDLE not in session.world.facts.commands:
            raise UsageError(f"world {session.world.spec.name!r} has no command that does nothing; press a key")
        return [session.parse(IDLE)] * min(frames, 1_000_000)
    whole, rest = divmod(frames, session.timing.most)
    texts = [f"{IDLE}/{session.timing.most}"] * whole + ([f"{IDLE}/{rest}"] if rest else [])
    return [session.parse(text) for text in texts]


def _file_name(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)[:40]


class Status(Struct, kw_only=True, omit_defaults=True):
    """How the session goes; before it begins, only that it has not."""

    status: Literal["not_initialized", "running"]
    steps_taken: int | UnsetType = UNSET
    session_dir: str | UnsetType = UNSET
    remaining_time_seconds: float | UnsetType = UNSET
    remaining_time_minutes: float | UnsetType = UNSET
    score: float | UnsetType = UNSET
    pokemon_count: int | UnsetType = UNSET
    badges_count: int | UnsetType = UNSET
    locations_count: int | UnsetType = UNSET


def status(session: Session) -> Status:
    """Tell how the session goes."""
    gym = session.gym
    if gym is None:
        return Status(status="not_initialized")
    return Status(
        status="running",
        steps_taken=gym.steps,
        session_dir=str(gym.files.path),
        remaining_time_seconds=gym.remaining,
        remaining_time_minutes=gym.remaining / 60,
        score=gym.score.total,
        pokemon_count=len(gym.score.pokemon),
        badges_count=len(gym.score.badges),
        locations_count=len(gym.score.locations),
    )


class Stopped(Struct, kw_only=True, omit_defaults=True):
    """How the session ended; without one, only that there was none."""

    status: Literal["not_initialized", "stopped"]
    session_dir: str | UnsetType = UNSET
    final_score: float | UnsetType = UNSET
    pokemon_collected: list[str] | UnsetType = UNSET
    badges_earned: list[str] | UnsetType = UNSET
    locations_visited: list[str] | UnsetType = UNSET
    pokemon_count: int | UnsetType = UNSET
    badges_count: int | UnsetType = UNSET
    locations_count: int | UnsetType = UNSET
    run_id: str | UnsetType | None = UNSET
    """The run that the session was recorded as."""


def stop(session: Session) -> Stopped:
    """End the session; its last state is kept."""
    gym, run_id = session.gym, session.run_id
    if gym is None:
        return Stopped(status="not_initialized")
    _end(session)
    score = gym.score
    return Stopped(
        status="stopped",
        session_dir=str(gym.files.path),
        final_score=score.total,
        pokemon_collected=score.pokemon,
        badges_earned=score.badges,
        locations_visited=score.locations,
        pokemon_count=len(score.pokemon),
        badges_count=len(score.badges),
        locations_count=len(score.locations),
        run_id=run_id,
    )


def _end(session: Session) -> None:
    if session.gym is not None:
        if session.seed is not None:
            session.gym.files.save(FINAL, session.snapshot())
        session.gym.close()
        session.gym = None
    session.end()


class Evaluation(Struct, frozen=True):
    """The score, and everything that counts for it."""

    score: float
    pokemon: Found
    badges: Found
    locations: Found


def evaluate(session: Session) -> Evaluation:
    """Return the score of the session so far."""
    score = _begun(session).score
    return Evaluation(score.total, found(score.pokemon), found(score.badges), found(score.locations))


class StateSaved(Struct, frozen=True):
    """Where a state was saved."""

    status: Literal["success"]
    state_file: str


def save_state(session: Session, filename: Annotated[str, Meta(max_length=200)] | None = None) -> StateSaved:
    """Save the present state beside the session's files, for /initialize to load."""
    gym = _begun(session)
    name = f"step_{gym.steps:06d}" if filename is None else checked_name(filename.removesuffix(STATE), "filename")
    return StateSaved("success", str(gym.files.save(name + STATE, session.snapshot())))


ENDPOINTS = (
    GameEndpoint("POST", "/action", action, lenient=True),
    GameEndpoint("POST", "/initialize", initialize, lenient=True),
    GameEndpoint("GET", "/status", status),
    GameEndpoint("POST", "/stop", stop, lenient=True),
    GameEndpoint("GET", "/evaluate", evaluate),
    GameEndpoint("POST", "/save_state", save_state, lenient=True),
)
