"""The games that are played here: each on a thread of its own, so many at most."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from ptp._util.ids import uuid7
from ptp.emulators.session import Session
from ptp.errors import PtpError, UsageError
from ptp.records import WorldSpec

MOST_WAITING = 1000  # requests that one game may have before it
T = TypeVar("T")


class AtCapacity(PtpError):
    """There is no room for another game, or another request."""


class NoSuchGame(UsageError):
    """There is no game of that id."""


class Game:
    """A session and its thread; requests wait for their turn."""

    def __init__(self, game_id: str, make: Callable[[], Session]) -> None:
        self.id = game_id
        self._thread = ThreadPoolExecutor(1, f"game-{game_id[-8:]}")
        self._waiting = 0
        self._has_ended = False
        self._session = self._thread.submit(make)

    def ready(self) -> Session:
        """Wait until the game is made; what went wrong is raised."""
        return self._session.result()

    async def do(self, work: Callable[[Session], T]) -> T:
        """Work with the session on its thread."""
        if self._has_ended:
            raise NoSuchGame(f"game {self.id} has ended; POST /games makes another")
        if self._waiting >= MOST_WAITING:
            raise AtCapacity(f"{MOST_WAITING:,} requests wait for this game; try again later")
        self._waiting += 1
        try:
            return await asyncio.wrap_future(self._thread.submit(self._work, work))
        finally:
            self._waiting -= 1

    def _work(self, work: Callable[[Session], T]) -> T:
        session = self._session.result()
        session.finish()
        session.confess()
        done = work(session)
        if session.unfinished is not None:
            with suppress(RuntimeError):  # the game is about to end, which finishes it too
                self._thread.submit(session.finish)
        return done

    def close(self) -> Future[None]:
        """End the game, also in the middle of a request; return what is done when it has ended."""
        self._has_ended = True
        if self._session.done() and self._session.exception() is None:
            self._session.result().interrupt()
        ended = self._thread.submit(self._end)
        self._thread.shutdown(wait=False)
        return ended

    def _end(self) -> None:
        if self._session.exception() is None:
            self._session.result().close()


class Games:
    """The default game, and others by their ids."""

    def __init__(self, spec: WorldSpec, data_dir: Path, most: int, *, record: bool) -> None:
        self.spec = spec
        self.most = most
        self._make: Callable[[], Session] = lambda: Session(spec, data_dir, record)
        self._lock = threading.Lock()
        self._games: dict[str, Game] = {}
        self.default = Game("default", self._make)

    def ids(self) -> list[str]:
        """Return the ids of the further games, oldest first."""
        return list(self._games)

    def find(self, game_id: str | None) -> Game:
        """Return a game; the default one without an id."""
        if game_id is None:
            return self.default
        game = self._games.get(game_id)
        if game is None:
            raise NoSuchGame(f"no game has the id {game_id!r}; GET /games lists them, POST /games makes one")
        return game

    async def create(self) -> Game:
        """Make another game."""
        with self._lock:
            if len(self._games) >= self.most:
                raise AtCapacity(f"there are {self.most} further games, the most here; DELETE /games/ID ends one")
            game = Game(uuid7(), self._make)
            self._games[game.id] = game
        try:
            await game.do(lambda session: None)
        except BaseException:
            self.remove(game.id)
            raise
        return game

    def remove(self, game_id: str) -> Future[None]:
        """End a game; what goes wrong at its end is reported, for nobody waits for it."""
        game = self.find(game_id)
        del self._games[game_id]
        ended = game.close()
        ended.add_done_callback(lambda ended: _report(game_id, ended))
        return ended

    def close(self) -> None:
        """End every game, and wait for it."""
        ending = [self.remove(game_id) for game_id in self.ids()]
        default = self.default.close()
        wait([default, *ending])
        default.result()


def _report(game_id: str, ended: Future[None]) -> None:
    problem = ended.exception()
    if problem is not None:
        sys.stderr.write(f"ptp: game {game_id} did not end well: {problem!r}\n")
