"""A pokemon-gym server that is not ours: one deterministic game, no snapshots, and whatever faults a test orders.

`python -m tests.emulators.foreign PORT` serves it in a process of its own.
"""

from __future__ import annotations

import base64
import io
import json
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from PIL import Image

MOVES = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


class Game:
    """A walk over fields of 20 by 18 squares; the money is what all keys and frames so far come to."""

    def __init__(self) -> None:
        self.x = self.y = self.steps = 0
        self.money = 3000
        self.visited = {(0, 0)}

    def press(self, key: str) -> None:
        dx, dy = MOVES.get(key, (0, 0))
        self.x, self.y = (self.x + dx) % 20, (self.y + dy) % 18
        self.money = (self.money * 31 + len(key)) % 999_999
        self.visited.add((self.x, self.y))

    def wait(self, frames: int) -> None:
        self.money = (self.money * 7 + frames) % 999_999

    def answer(self) -> dict[str, Any]:
        picture = Image.new("RGB", (320, 288), (self.x * 12, self.y * 12, self.money % 256))
        file = io.BytesIO()
        picture.save(file, "PNG")
        hp = {"current": 20, "max": 20}
        return {
            "player_name": "RED", "rival_name": "Not yet set", "money": self.money, "location": "PALLET TOWN",
            "coordinates": [self.x, self.y], "badges": ["BOULDER"] if self.x > 10 else [], "valid_moves": ["up"],
            "inventory": [{"item": "POTION", "quantity": 1}], "dialog": None if self.y else "HELLO!",
            "pokemons": [{"nickname": "A", "species": "B", "level": 5, "hp": hp, "types": ["FIRE"],
                          "moves": [{"name": "TACKLE", "pp": 35}], "status": None}],
            "screenshot_base64": base64.b64encode(file.getvalue()).decode(), "collision_map": None,
            "step_number": self.steps, "execution_time": time.time() % 1, "score": float(len(self.visited)),
            "a_field_of_its_own": True,
        }  # fmt: skip


class Foreign(ThreadingHTTPServer):
    """The server; `faults` are done to the next answers of /action and /initialize, one each."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.game: Game | None = None
        self.faults: deque[int | str | Callable[[dict[str, Any]], Any]] = deque()
        self.seen: list[tuple[str, Any]] = []
        self.headers_seen: list[dict[str, str]] = []
        self.connections = 0
        self.release = threading.Event()
        """Lets an answer go that was held back by the fault "hang"."""
        self.remaining = 1800.0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def get_request(self) -> tuple[socket.socket, Any]:
        self.connections += 1
        return super().get_request()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that vanish are part of the tests."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Foreign

    def log_message(self, *words: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        game = self.server.game
        self._note(None)
        if self.path == "/status":
            running = {"status": "running", "steps_taken": game.steps, "session_dir": "session_1",
                       "remaining_time_seconds": self.server.remaining, "score": 1.0} if game else {}  # fmt: skip
            self._answer(200, running or {"status": "not_initialized"})
        elif self.path == "/evaluate" and game:
            none = {"count": 0, "items": []}
            self._answer(200, {"score": 1.0, "pokemon": none, "badges": none, "locations": none})
        elif self.path == "/evaluate":
            self._answer(400, {"detail": "Not initialized"})
        else:
            self._answer(404, {"detail": "Not Found"})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])) or b"null")
        self._note(body)
        server = self.server
        if self.path == "/initialize":
            server.game = Game()
        elif self.path == "/stop":
            server.game = None
            return self._answer(200, {"status": "stopped", "final_score": 1.0, "badges_earned": ["BOULDER"]})
        elif self.path not in ("/action", "/save_state"):
            return self._answer(404, {"detail": "Not Found"})
        game = server.game
        if game is None:
            return self._answer(400, {"detail": "Environment not initialized. Call /initialize first."})
        if self.path == "/save_state":
            return self._answer(200, {"status": "success", "state_file": f"{body.get('filename', 'a')}.state"})
        fault = server.faults.popleft() if server.faults else None
        if isinstance(fault, int):
            return self._answer(fault, {"detail": "Failed to take action"})
        if self.path == "/action":
            self._play(game, body)
        return self._fail(fault, game)

    def _play(self, game: Game, body: Any) -> None:
        game.steps += 1
        if body["action_type"] == "wait":
            game.wait(body["frames"])
        for key in body.get("keys") or ():
            game.press(key)

    def _fail(self, fault: Any, game: Game) -> None:
        status, answer = 200, game.answer()
        if fault == "hang":
            self.server.release.wait(60)
        elif fault == "session_over":
            self.server.game = None
            answer = {**Game().answer(), "location": "SESSION_TIMEOUT", "screenshot_base64": ""}
        elif fault == "late_500":
            status, answer = 500, {"detail": "Failed to take action"}
        elif callable(fault):
            answer = fault(answer)
        if fault == "drop":
            self.close_connection = True
        else:
            self._answer(status, answer, cut=fault == "cut")

    def _note(self, body: Any) -> None:
        self.server.seen.append((self.path, body))
        self.server.headers_seen.append({name.lower(): value for name, value in self.headers.items()})

    def _answer(self, status: int, answer: Any, cut: bool = False) -> None:
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if cut else data)
        self.close_connection = self.close_connection or cut


@contextmanager
def serving(port: int = 0) -> Iterator[Foreign]:
    """Serve a game on a thread."""
    server = Foreign(port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.release.set()
        server.shutdown()
        thread.join()
        server.server_close()


if __name__ == "__main__":
    with Foreign(int(sys.argv[1])) as served:
        print(served.url, flush=True)  # noqa: T201 - whoever started it waits for this
        served.serve_forever()
