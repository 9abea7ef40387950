"""Endpoints of games: the same at the root, for the default game, and below `/games/{game_id}`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response

from ptp.emulators.games import Games
from ptp.emulators.session import Session
from ptp.http.endpoints import END, Endpoint, reply

PREFIX = "/games/{game_id}"
GameId = Annotated[
    str, Meta(max_length=64, pattern=rf"^[0-9a-zA-Z-]+{END}", description="The id of a game, as POST /games gave it.")
]


class GameEndpoint(Endpoint, frozen=True, dict=True):
    """Something that is asked of a game; the handler takes its session, and runs on its thread."""

    @property
    def operation(self) -> str:
        """What the OpenAPI document calls it."""
        return f"game_{super().operation}" if self.path.startswith(PREFIX) else super().operation

    def _fields(self, in_body: bool) -> list[tuple[str, Any, Any]]:
        fields = super()._fields(in_body)
        if self.path.startswith(PREFIX) and not in_body:
            fields.insert(0, ("game_id", GameId, msgspec.NODEFAULT))
        return fields

    async def respond(self, request: Request) -> Response:
        """Answer a request."""
        arguments = await self.arguments(request)
        games: Games = request.app.state.services
        handler = self.handler

        def work(session: Session) -> Response:
            return reply(handler(session, **arguments))

        return await games.find(arguments.pop("game_id", None)).do(work)


def for_every_game(endpoints: Sequence[GameEndpoint]) -> list[GameEndpoint]:
    """Return endpoints of the default game, and those of every other."""
    return [*endpoints, *(msgspec.structs.replace(it, path=PREFIX + it.path) for it in endpoints)]


class Made(Struct, frozen=True):
    """A game that was made."""

    game_id: str
    path: str
    """Where its routes begin."""
