"""OpenEnv over a WebSocket: one connection plays one game, which ends with it."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from ptp.emulators import openenv
from ptp.emulators.games import AtCapacity, Game, Games, NoSuchGame
from ptp.emulators.session import Session
from ptp.errors import BadCommand, PtpError, SnapshotError, UsageError
from ptp.http.endpoints import convert

MOST_MESSAGE = 4 << 20  # bytes


class Message(Struct):
    """What a client says."""

    type: str
    data: dict[str, Any] = {}


class ResetData(Struct):
    """What a reset may say; more is ignored."""

    seed: openenv.Seed | None = None
    episode_id: str | None = None
    frames: bool = False


class Reply(Struct):
    """What it is answered with."""

    type: str
    data: Any


class Complaint(Struct):
    """What is wrong with a message."""

    message: str
    code: str


_decode = msgspec.json.Decoder(Message).decode
_encode = msgspec.json.Encoder().encode


class Connection:
    """One client."""

    def __init__(self, socket: WebSocket, games: Games, game: Game) -> None:
        self._socket = socket
        self._games = games
        self._game = game
        self.forks: list[str] = []
        """Games that this client made, which end with it."""

    async def converse(self) -> None:
        """Answer messages until the client closes."""
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            reply = await self._answer(message.get("text"))
            if reply is None:
                await self._socket.close()
                return
            await self._socket.send_text(reply)

    async def _answer(self, text: str | None) -> str | None:
        try:
            message = _decode(text or "")
        except msgspec.ValidationError as problem:
            return complain(str(problem), "VALIDATION_ERROR")
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as problem:
            return complain(f"{problem}; send an object as text", "INVALID_JSON")
        try:
            return await self._meet(message)
        except NoSuchGame as problem:
            return complain(str(problem), "SESSION_ERROR")
        except (UsageError, BadCommand, SnapshotError) as problem:
            return complain(str(problem), "VALIDATION_ERROR")
        except AtCapacity as problem:
            return complain(str(problem), "CAPACITY_REACHED")
        except PtpError as problem:
            return complain(str(problem), "EXECUTION_ERROR")

    async def _meet(self, message: Message) -> str | None:
        data = message.data
        match message.type:
            case "step":
                action = convert(data, openenv.Action)
                return await self._do(lambda session: Reply("observation", openenv.apply(session, action)))
            case "reset":
                asked = convert(data, ResetData)
                begin = (asked.seed, asked.episode_id, asked.frames)
                return await self._do(lambda session: Reply("observation", openenv.reset(session, *begin)))
            case "state":
                return await self._do(lambda session: Reply("state", openenv.state(session)))
            case "snapshot":
                return await self._do(lambda session: Reply("snapshot", {"snapshot": _text(session.snapshot())}))
            case "restore":
                snapshot = openenv.read_snapshot(data.get("snapshot"))
                return await self._do(lambda session: Reply("state", _restored(session, snapshot)))
            case "fork":
                return await self._fork()
            case "close":
                return None
            case other:
                known = ("reset", "step", "state", "close", *openenv.EXTENSIONS)
                return complain(f"no message of type {other[:80]!r}; known: {', '.join(known)}", "UNKNOWN_TYPE")

    async def _do(self, work: Callable[[Session], Reply]) -> str:
        return await self._game.do(lambda session: _encode(work(session)).decode())

    async def _fork(self) -> str:
        made = await fork(self._games, self._game, openenv.PLAYER)
        self.forks.append(made.id)
        return _encode(Reply("fork", {"game_id": made.id, "path": f"/games/{made.id}"})).decode()


async def fork(games: Games, game: Game, player: str) -> Game:
    """Return another game that continues from where one is."""
    data = await game.do(lambda session: session.snapshot())
    made = await games.create()
    try:
        await made.do(lambda session: session.restore(player, data))
    except BaseException:
        games.remove(made.id)
        raise
    return made


def _restored(session: Session, data: bytes) -> openenv.State:
    session.restore(openenv.PLAYER, data)
    return openenv.state(session)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def complain(message: str, code: str) -> str:
    """Return an error message."""
    return _encode(Reply("error", Complaint(message, code))).decode()


async def play(socket: WebSocket) -> None:
    """Serve one connection: with a game of its own, or with the one that its address names."""
    games: Games = socket.app.state.services
    game_id = socket.path_params.get("game_id")
    await socket.accept()
    try:
        game = await games.create() if game_id is None else games.find(game_id)
    except PtpError as problem:
        code = "CAPACITY_REACHED" if isinstance(problem, AtCapacity) else "SESSION_ERROR"
        await _part(socket, complain(str(problem), code))
        return
    connection = Connection(socket, games, game)
    try:
        await connection.converse()
    except (WebSocketDisconnect, RuntimeError) as problem:  # it is gone; Starlette says so in two ways
        if isinstance(problem, RuntimeError) and socket.application_state is WebSocketState.CONNECTED:
            raise
    finally:
        own = [] if game_id is not None else [game.id]
        for made in {*own, *connection.forks} & set(games.ids()):
            games.remove(made)


async def _part(socket: WebSocket, message: str) -> None:
    try:
        await socket.send_text(message)
        await socket.close(1013)
    except (WebSocketDisconnect, RuntimeError):
        return
