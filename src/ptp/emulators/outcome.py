"""What a pool asks of a game server, and what it is answered: a script, its beginning, and how it went."""

from __future__ import annotations

import hashlib
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ptp.errors import BadAnswer

EXECUTE = "/v1/execute"
ALIVE = "/v1/alive"


class Alive(Struct, frozen=True):
    """What a server says of itself."""

    status: Literal["healthy"]
    world: str


class Execution(Struct, kw_only=True, omit_defaults=True):
    """A script, and where it begins: in an episode with a seed, in a snapshot, or where the game is."""

    text: str
    seed: int | None = None
    snapshot: str | None = None
    """In base64."""
    keep: bool = False
    """Whether the game at the end is wanted."""


class Outcome(Struct, kw_only=True):
    """How a script went; all but the seconds is the same whenever it is played from the same beginning."""

    success: bool
    error: str | None
    """Why it was not played to its end; null for a script that ended, also if an expectation failed."""
    checkpoints: list[str]
    """The checkpoints that were reached, in order."""
    failures: list[str]
    """What the script expected and was not so, with its line."""
    world: str
    seed: int | None
    """The seed of the episode; null before the first."""
    step: int
    """Commands since the episode began."""
    reward: float
    """The reward of the episode so far."""
    done: bool
    """Whether the episode has ended."""
    state: Any
    """Everything that the world tells at the end."""
    snapshot: str | None
    """The game at the end in base64, if asked."""
    commands: int
    """How many commands the script has played."""
    seconds: float
    """How long that took, without the way here and back."""


class Sealed(Struct, frozen=True):
    """An outcome, and the digest by which a damaged answer is found out."""

    outcome: Outcome
    digest: str


def seal(outcome: Outcome) -> Sealed:
    """Return an outcome with its digest."""
    return Sealed(outcome, _digest(outcome))


def unseal(sealed: Sealed, where: str) -> Outcome:
    """Return an outcome that arrived as it was sent; any other is refused."""
    if _digest(sealed.outcome) != sealed.digest:
        raise BadAnswer(f"{where}: the answer was damaged on its way; see whether the server is sound")
    return sealed.outcome


def _digest(outcome: Outcome) -> str:
    return hashlib.blake2b(msgspec.json.encode(outcome), digest_size=16).hexdigest()
