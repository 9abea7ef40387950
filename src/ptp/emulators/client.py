"""A client for pokemon-gym servers, ours and others."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

import httpx
import msgspec

from ptp._util.clock import Clock
from ptp.emulators.answers import Evaluation, GameState, Saved, ServerStatus, Stopped
from ptp.emulators.cache import StateCache
from ptp.emulators.inputs import InputValidator
from ptp.emulators.monitor import PerformanceMonitor
from ptp.errors import BadAnswer, ConfigError, GameLost, ServerRefused, ServerTimeout, ServerUnreachable

MOST = 256 * 2**20  # bytes of an answer
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


class Connections:
    """Connections that are kept open, each used by one thread at a time.

    The pool of the HTTP library may close a connection that another thread has just begun to use.
    """

    def __init__(self, number: int, headers: dict[str, str]) -> None:
        trusted = httpx.create_ssl_context(trust_env=False)
        self._idle: queue.LifoQueue[httpx.Client] = queue.LifoQueue()
        self._all = [httpx.Client(headers=headers, verify=trusted, trust_env=False) for _ in range(number)]
        for each in self._all:
            self._idle.put(each)

    @contextmanager
    def use(self, timeout: float) -> Iterator[httpx.Client]:
        """Lend a connection, the one that was used last; wait for one while all are in use."""
        http = self._idle.get(timeout=timeout)
        try:
            yield http
        finally:
            self._idle.put(http)

    def close(self) -> None:
        """Close every connection."""
        for each in self._all:
            each.close()


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
        self._connections = Connections(connections, headers)
        self.base_url, self._login = split_login(base_url)

    def move(self, base_url: str) -> None:
        """Talk to another address from now on, such as another port."""
        self._cache.clear()
        self._last = None
        self.base_url, self._login = split_login(base_url)

    def close(self) -> None:
        """Close every connection; the game on the server stays as it is."""
        self._connections.close()

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
        self._cache.clear()
        self._last = None
        return self._ask("stop", "POST", "/stop", Stopped, self.timeouts.action, {})

    def snapshot(self) -> bytes:
        """Return the whole game as bytes, where the server can."""
        return self._request("snapshot", "GET", "/v1/snapshot", self.timeouts.snapshot)

    def restore(self, snapshot: bytes) -> None:
        """Go back to a snapshot, where the server can."""
        self._cache.clear()
        self._last = None
        self._request("restore", "POST", "/v1/snapshot", self.timeouts.snapshot, snapshot)

    # -- requests ----------------------------------------------------------------------------------------------

    def _ask(
        self, operation: str, method: str, path: str, kind: type[Answer], timeout: float, body: Any = None
    ) -> Answer:
        content = None if body is None else msgspec.json.encode(body)
        answer = self._request(operation, method, path, timeout, content, "application/json")
        return self.validator.decode(self.base_url + path, answer, kind)

    def _request(
        self, operation: str, method: str, path: str, timeout: float, content: bytes | None = None, type: str = BINARY
    ) -> bytes:
        url = self.base_url + path
        headers = {} if content is None else {"content-type": type}
        limits = httpx.Timeout(timeout, connect=min(timeout, self.timeouts.connect))
        until = self._clock.monotonic() + timeout
        with self.monitor.measure(operation), _translated(url, timeout), self._connections.use(timeout) as http:
            with http.stream(
                method, url, content=content, headers=headers, timeout=limits, auth=self._login
            ) as response:
                answer = self._read(response, url, timeout, until)
            if response.is_success:
                return answer
            raise _refused(url, response.status_code, answer)

    def _read(self, response: httpx.Response, url: str, timeout: float, until: float) -> bytes:
        """Return the whole answer; one that trickles in, or never ends, is given up."""
        parts, size = [], 0
        for part in response.iter_bytes():
            parts.append(part)
            size += len(part)
            if size > MOST:
                raise BadAnswer(f"{url} answered more than {MOST:,} bytes; use a pokemon-gym server")
            if self._clock.monotonic() > until:
                raise _late(url, timeout)
        return b"".join(parts)


def split_login(url: str) -> tuple[str, tuple[str, str] | None]:
    """Return an address without its login and without a slash at the end, and the login."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or parts.scheme not in ("http", "https") or parts.query or parts.fragment:
        shown = url.rpartition("@")[2]
        raise ConfigError(f"{shown!r} is not the address of a game server; write it as http://127.0.0.1:8081")
    place = f"[{host}]" if ":" in host else host
    netloc = place if port is None else f"{place}:{port}"
    login = None if parts.username is None else (unquote(parts.username), unquote(parts.password or ""))
    return urlunsplit((parts.scheme, netloc, parts.path.rstrip("/"), "", "")), login


@contextmanager
def _translated(url: str, timeout: float) -> Iterator[None]:
    """Turn the errors of the HTTP library into ours."""
    try:
        yield
    except (httpx.TimeoutException, queue.Empty) as problem:
        raise _late(url, timeout) from problem
    except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError, httpx.DecodingError) as problem:
        raise BadAnswer(
            f"{url}: the answer was cut off ({_said(problem)}); see whether the server still runs"
        ) from problem
    except httpx.TransportError as problem:
        raise ServerUnreachable(
            f"{url}: nothing answers ({_said(problem)}); start the server, or correct the address"
        ) from problem


def _said(problem: Exception) -> str:
    return str(problem) or type(problem).__name__


def _late(url: str, timeout: float) -> ServerTimeout:
    return ServerTimeout(f"{url}: no answer within {timeout:g} s; raise the timeout, or see whether the server is busy")


def _refused(url: str, status: int, answer: bytes) -> ServerRefused:
    try:
        reason = msgspec.json.decode(answer)["detail"]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, LookupError, TypeError):
        reason = answer[:200].decode("utf-8", "replace")
    said = " ".join(str(reason).split())[:200] or httpx.codes.get_reason_phrase(status)
    remedy = "the server's log says more" if status >= 500 else "correct the request"
    return ServerRefused(f"{url}: refused with {status}: {said}; {remedy}", status)
