"""One script from a known beginning, in one request; what goes wrong with it is part of the answer."""

from __future__ import annotations

import base64
import binascii
import time
from typing import Annotated

from msgspec import Meta

from ptp.emulators.endpoints import GameEndpoint
from ptp.emulators.games import Games
from ptp.emulators.outcome import ALIVE, EXECUTE, Alive, Outcome, Sealed, seal
from ptp.emulators.session import Session, Stopping
from ptp.errors import PtpError, SnapshotError
from ptp.http.endpoints import Endpoint
from ptp.scripts import Played

PLAYER = "pool"
Seed = Annotated[int, Meta(ge=0, le=2**53)]
Base64 = Annotated[str, Meta(max_length=4 << 20)]


def execute(
    session: Session,
    text: Annotated[str, Meta(max_length=1 << 19, description="A script in the button language.")],
    seed: Annotated[Seed | None, Meta(description="Begin an episode with this seed.")] = None,
    snapshot: Annotated[Base64 | None, Meta(description="Begin there; in base64.")] = None,
    keep: Annotated[bool, Meta(description="Whether to return the game at the end.")] = False,
) -> Sealed:
    """Play a script from a seed, from a snapshot, or from where the game is."""
    began = time.perf_counter()
    played, error, before = Played((), ()), None, 0
    try:
        _begin(session, seed, snapshot)
        before = session.steps
        played = session.execute(text)
    except Stopping:
        raise
    except PtpError as problem:
        error = str(problem)
    return seal(_outcome(session, played, error, before, time.perf_counter() - began, keep))


def _begin(session: Session, seed: int | None, snapshot: str | None) -> None:
    if snapshot is not None:
        try:
            data = base64.b64decode(snapshot, validate=True)
        except binascii.Error:
            raise SnapshotError("the snapshot is not base64; send what GET /v1/snapshot gave, in base64") from None
        session.restore(PLAYER, data)
    elif seed is not None or session.seed is None:
        session.begin(PLAYER, seed)


def _outcome(session: Session, played: Played, error: str | None, before: int, spent: float, keep: bool) -> Outcome:
    has_begun = session.seed is not None
    steps = session.steps if has_begun else 0
    return Outcome(
        success=error is None and played.success,
        error=error,
        checkpoints=list(played.checkpoints),
        failures=[f"line {failure.line}: {failure.message}" for failure in played.failures],
        world=session.world.spec.name,
        seed=session.seed,
        step=steps,
        reward=session.reward if has_begun else 0.0,
        done=has_begun and session.play.over,
        state=session.play.state if has_begun else None,
        snapshot=base64.b64encode(session.snapshot()).decode() if keep and has_begun else None,
        commands=steps - before,
        seconds=round(spent, 6),
    )


async def alive(games: Games) -> Alive:
    """Tell that the server answers; unlike /health, this does not wait for what is being played."""
    return Alive("healthy", games.spec.name)


ENDPOINTS = (GameEndpoint("POST", EXECUTE, execute),)
SERVER_ENDPOINTS = (Endpoint("GET", ALIVE, alive, public=True),)
