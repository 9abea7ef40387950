"""A client for pokemon-gym servers, ours and others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import httpx
import msgspec

from ptp._util.clock import Clock
from ptp.emulators.answers import (
    Evaluation,
    GameState,
    Position,
    Saved,
    ScriptOutcome,
    ServerStatus,
    Stepped,
    Stopped,
)
from ptp.emulators.cache import StateCache
from ptp.emulators.inputs import InputValidator
from ptp.emulators.monitor import PerformanceMonitor
from ptp.emulators.transport import Transport, split_login
from ptp.errors import ConfigError, GameLost

BINARY = "application/octet-stream"
Answer = TypeVar("Answer", bound=msgspec.Struct)


class Timeouts(msgspec.Struct, frozen=True):
    """The seconds that each kind of call may take as a whole."""

    connect: float = 5.0
    read: float = 10.0
    """Calls that change nothing, such as the status."""
    action: float = 30.0
    initialize: float = 120.0
    """Beginning a game: some servers play two minutes of it first."""
    snapshot: float = 30.0
    script: float = 300.0
    """Many commands at once, and scripts."""


class PokemonGymClient:
    """One game on a pokemon-gym server; connections are kept open and shared by threads.

    The token, or a login in the address, is sent with every request and shown nowhere.
    """

    def __init__(
        self,
        base_url: str,
        timeouts: Timeouts | None = None,
        *,
        token: str | None = None,
        connections: int = 4,
        max_state_age: float = 1.0,
        monitor: PerformanceMonitor | None = None,
        validator: InputValidator | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.timeouts = timeouts or Timeouts()
        self.monitor = monitor or PerformanceMonitor()
        self.validator = validator or InputValidator()
        self._clock = clock or Clock()
        self._cache: StateCache[GameState] = StateCache(max_state_age, self._clock)
        self._last: GameState | None = None
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        self._transport = Transport(connections, headers, self._clock)
        self.base_url, self._login = split_login(base_url)

    def move(self, base_url: str) -> None:
        """Talk to another address from now on, such as another port."""
        self._forget()
        self.base_url, self._login = split_login(base_url)

    def _forget(self) -> None:
        self._cache.clear()
        self._last = None

    def close(self) -> None:
        """Close every connection; the game on the server stays as it is."""
        self._transport.close()

    def __enter__(self) -> PokemonGymClient:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    # -- playing -----------------------------------------------------------------------------------------------

    def reset_game(self, session_id: str | None = None, **options: Any) -> GameState:
        """Begin the game anew and return its first state; *options* are fields of `/initialize`."""
        body = {"headless": True, "sound": False, "session_id": session_id, **options}
        return self._play("initialize", "/initialize", body, self.timeouts.initialize)

    def send_input(self, keys: str) -> GameState:
        """Press keys one after the other, such as "A B START", and return the state that follows."""
        body = {"action_type": "press_key", "keys": self.validator.parse(keys)}
        return self._play("action", "/action", body, self.timeouts.action)

    def wait(self, frames: int) -> GameState:
        """Let frames pass without a key, and return the state that follows."""
        if frames < 1:
            raise ConfigError(f"can't wait {frames} frames; wait at least 1")
        return self._play("action", "/action", {"action_type": "wait", "frames": frames}, self.timeouts.action)

    def _play(self, operation: str, path: str, body: dict[str, Any], timeout: float) -> GameState:
        generation = self._cache.clear()
        state = self._ask(operation, "POST", path, GameState, timeout, body)
        self._cache.put(state, generation)
        self._last = state
        return state

    def get_state(self) -> GameState:
        """Return the present state, without an input.

        The protocol has no call for it: it is the last answer, once the server says that nothing was played since.
        """
        state = self._cache.get()
        if state is not None:
            return state
        generation, last = self._cache.generation, self._last
        if last is None:
            raise GameLost(f"{self.base_url} can't show its game before an input; call reset_game() first")
        steps = self.status().steps_taken
        if steps != last.step_number:
            raise GameLost(
                f"{self.base_url} is at input {steps}, not {last.step_number}: it was restarted, or somebody else "
                "plays there; call reset_game()"
            )
        self._cache.put(last, generation)
        return last

    # -- everything else ---------------------------------------------------------------------------------------

    def status(self) -> ServerStatus:
        """Return whether a game is being played, and how far it is."""
        return self._ask("status", "GET", "/status", ServerStatus, self.timeouts.read)

    def evaluate(self) -> Evaluation:
        """Return the score and what it is made of."""
        return self._ask("evaluate", "GET", "/evaluate", Evaluation, self.timeouts.read)

    def save_state(self, filename: str | None = None) -> Saved:
        """Let the server keep its state in a file of its own."""
        body = {} if filename is None else {"filename": filename}
        return self._ask("save_state", "POST", "/save_state", Saved, self.timeouts.snapshot, body)

    def stop(self) -> Stopped:
        """End the game on the server."""
        self._forget()
        return self._ask("stop", "POST", "/stop", Stopped, self.timeouts.action, {})

    # -- what only our servers have ----------------------------------------------------------------------------

    def position(self) -> Position:
        """Return where the game stands, with everything that its world tells."""
        return self._ask("state", "GET", "/v1/state", Position, self.timeouts.read)

    def step(self, inputs: Sequence[Any], *, rewards: bool = False, states: bool = False) -> Stepped:
        """Apply many commands of the world in one request; the rewards and states of each are returned if asked."""
        self._forget()
        body = {"inputs": list(inputs), "rewards": rewards, "states": states}
        return self._ask("step", "POST", "/v1/step", Stepped, self.timeouts.script, body)

    def run_script(self, text: str) -> ScriptOutcome:
        """Play a script in the button language."""
        self._forget()
        return self._ask("script", "POST", "/v1/script", ScriptOutcome, self.timeouts.script, {"text": text})

    def frame(self) -> bytes:
        """Return the present picture as a PNG file."""
        return self._request("frame", "GET", "/v1/frame", self.timeouts.read)

    def snapshot(self) -> bytes:
        """Return the whole game as bytes."""
        return self._request("snapshot", "GET", "/v1/snapshot", self.timeouts.snapshot)

    def restore(self, snapshot: bytes) -> None:
        """Go back to a snapshot."""
        self._forget()
        self._request("restore", "POST", "/v1/snapshot", self.timeouts.snapshot, snapshot)

    # -- requests ----------------------------------------------------------------------------------------------

    def _ask(
        self, operation: str, method: str, path: str, kind: type[Answer], timeout: float, body: Any = None
    ) -> Answer:
        content = None if body is None else msgspec.json.encode(body)
        answer = self._request(operation, method, path, timeout, content, "application/json")
        return self.validator.decode(self.base_url + path, answer, kind)

    def _request(
        self, operation: str, method: str, path: str, timeout: float, content: bytes | None = None, kind: str = BINARY
    ) -> bytes:
        limits = httpx.Timeout(timeout, connect=min(timeout, self.timeouts.connect))
        with self.monitor.measure(operation):
            return self._transport.request(method, self.base_url + path, content, kind, self._login, limits)
