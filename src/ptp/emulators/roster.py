"""Games beside the default one: made, forked, listed and ended."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ptp.emulators.connections import fork as fork_game
from ptp.emulators.endpoints import PREFIX, GameId, Made
from ptp.emulators.games import Games
from ptp.http.endpoints import Endpoint


class GameList(Struct, frozen=True):
    """The games beside the default one."""

    world: str
    games: list[Made]
    most: int
    """How many there can be."""


class Ended(Struct, frozen=True):
    """A game that has ended."""

    game_id: str


class Healthy(Struct, frozen=True):
    """That the server is there."""

    status: Literal["healthy"]


async def health(services: Games) -> Healthy:
    """Tell that the server answers, also while its game is busy."""
    return Healthy("healthy")


async def health_of(services: Games, game_id: GameId) -> Healthy:
    """Tell that a game is there, also while it is busy."""
    services.find(game_id)
    return Healthy("healthy")


async def games(services: Games) -> GameList:
    """List the games beside the default one."""
    return GameList(services.spec.name, [_made(game_id) for game_id in services.ids()], services.most)


async def create(services: Games) -> Made:
    """Make another game of the same world."""
    return _made((await services.create()).id)


async def fork(services: Games) -> Made:
    """Make another game that continues from where the default one is."""
    return _made((await fork_game(services, services.default, "v1")).id)


async def fork_this(services: Games, game_id: GameId) -> Made:
    """Make another game that continues from where this one is."""
    return _made((await fork_game(services, services.find(game_id), "v1")).id)


async def end(services: Games, game_id: GameId) -> Ended:
    """End a game."""
    services.remove(game_id)
    return Ended(game_id)


def _made(game_id: str) -> Made:
    return Made(game_id, f"/games/{game_id}")


ENDPOINTS = (
    Endpoint("GET", "/health", health, public=True),
    Endpoint("GET", f"{PREFIX}/health", health_of),
    Endpoint("GET", "/games", games),
    Endpoint("POST", "/games", create),
    Endpoint("POST", "/v1/fork", fork),
    Endpoint("POST", f"{PREFIX}/v1/fork", fork_this),
    Endpoint("DELETE", PREFIX, end),
)
