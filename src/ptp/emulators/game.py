"""A game on a server that comes back to where it was, whatever happens to the server or its answers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Literal, TypeVar

import msgspec

from ptp.emulators.answers import GameState
from ptp.emulators.client import PokemonGymClient
from ptp.emulators.recovery import ErrorRecoveryHandler
from ptp.errors import GameLost, ServerRefused, WorldError

WAIT = "wait"
T = TypeVar("T")
UNKNOWN = (404, 405)  # answers to a path that a server does not have
WITHOUT_GAME = (400, 404, 409)  # answers to an input where there is no game
SNAPSHOT_EVERY = 100  # inputs; so many at most are played again when a game is lost


class Saved(msgspec.Struct):
    """A game as it is saved."""

    state: GameState
    game: bytes


class ServedGame:
    """The game that a client plays, and how it came about.

    An input is applied exactly once: the server counts inputs, and a count that is not the next one means that an
    answer was lost, that the server was restarted, or that somebody else plays there. Then the game is begun anew,
    from the last snapshot where the server has them, and the inputs since are played again; it has to come out equal.
    """

    def __init__(
        self, client: PokemonGymClient, recovery: ErrorRecoveryHandler, frames: int, session: str | None = None
    ) -> None:
        self._client, self._recovery = client, recovery
        self._frames, self._session = frames, session
        self._tape: list[str] = []
        """The inputs since the last snapshot, or since the beginning."""
        self._server: Literal["there", "unsure", "lost"] = "there"
        """Whether the server's game is where ours is."""
        recovery.moved = self._move
        self.state = client.reset_game(session)
        self.has_snapshots = self._offers_snapshots()

    def _offers_snapshots(self) -> bool:
        try:
            self._keep(self._client.snapshot())
        except ServerRefused as problem:
            if problem.status not in UNKNOWN:
                raise
            return False
        return True

    def _move(self, url: str, snapshot: bytes | None) -> None:
        self._client.move(url)
        self._server = "lost"

    def begin(self) -> GameState:
        """Begin the game anew and return its first state."""
        self.state = self._run(self._start)
        self._tape, self._recovery.last_snapshot = [], None
        if self.has_snapshots:
            self.save()
        return self.state

    def _start(self) -> GameState:
        state = self._client.reset_game(self._session)
        if not state.screenshot_base64:
            raise self._gone()
        self._server = "there"
        return state

    def apply(self, command: str) -> GameState:
        """Apply one input, exactly once, and return the state that follows."""
        if self.has_snapshots and len(self._tape) >= SNAPSHOT_EVERY:
            self.save()
        self.state = self._run(lambda: self._there(lambda: self._send(command, self.state)))
        self._tape.append(command)
        return self.state

    def save(self) -> bytes:
        """Return the game as bytes, with its state: the server has no call for that."""
        return self._keep(self._run(lambda: self._there(self._client.snapshot)))

    def _keep(self, game: bytes) -> bytes:
        """Have the game played again from here when it is lost."""
        snapshot = msgspec.msgpack.encode(Saved(self.state, game))
        self._tape, self._recovery.last_snapshot = [], snapshot
        return snapshot

    def load(self, snapshot: bytes) -> GameState:
        """Return to a game that was saved."""
        try:
            saved = msgspec.msgpack.decode(snapshot, type=Saved)
        except msgspec.DecodeError as problem:
            raise WorldError(f"not a saved game of a server: {problem}; take another snapshot") from None
        self.state = self._run(lambda: self._restore(saved))
        self._tape, self._recovery.last_snapshot = [], snapshot
        return self.state

    def _restore(self, saved: Saved) -> GameState:
        if self._server != "there":
            self._start()
        self._server = "lost"
        self._client.restore(saved.game)
        steps = self._steps()
        if steps is None:
            raise self._gone()
        self._server = "there"
        return msgspec.structs.replace(saved.state, step_number=steps)

    def _there(self, call: Callable[[], T]) -> T:
        """Return what a call answers to a server that is brought to where our game is, if it is not there."""
        if self._server != "there" and (self._server == "lost" or self._steps() != self.state.step_number):
            self._rebuild()
        self._server = "unsure"
        answer = call()
        self._server = "there"
        return answer

    def _run(self, operation: Callable[[], T]) -> T:
        return self._recovery.run(lambda: self._playing(operation))

    def _playing(self, operation: Callable[[], T]) -> T:
        """Return what an operation returns; a refusal by a server that has no game is no fault of the request."""
        try:
            return operation()
        except ServerRefused as problem:
            if problem.status in WITHOUT_GAME and self._steps() is None:
                raise self._gone() from problem
            raise

    def _gone(self) -> GameLost:
        self._server = "lost"
        return GameLost(f"{self._client.base_url} has no game any more; see whether it is being restarted")

    def _steps(self) -> int | None:
        return self._client.status().steps_taken

    def _send(self, command: str, before: GameState) -> GameState:
        state = self._client.wait(self._frames) if command == WAIT else self._client.send_input(command)
        if state.step_number != before.step_number + 1 or not state.screenshot_base64:
            self._server = "lost"
            raise GameLost(
                f"{self._client.base_url} is at input {state.step_number}, {state.location!r}, right after input "
                f"{before.step_number}: its session ended, or somebody else plays there; give each run its own server"
            )
        return state

    def _rebuild(self) -> None:
        """Play the game again up to where it was lost."""
        self._server, snapshot = "lost", self._recovery.last_snapshot
        state = self._start() if snapshot is None else self._restore(msgspec.msgpack.decode(snapshot, type=Saved))
        self._server = "lost"  # until it is where our game is
        for command in self._tape:
            state = self._send(command, state)
        if not self._is_equal(state):
            raise WorldError(
                f"{self._client.base_url} lost the game and did not come back to it after {len(self._tape)} inputs: "
                "it is not deterministic; begin another run"
            )
        self.state, self._server = state, "there"
        warnings.warn(f"{self._client.base_url} lost the game; it was played again up to here", stacklevel=2)

    def _is_equal(self, state: GameState) -> bool:
        look, where = self._client.validator, self._client.base_url
        same = look.format_response(state) == look.format_response(self.state)
        return same and bool((look.picture(where, state) == look.picture(where, self.state)).all())
