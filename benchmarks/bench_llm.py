"""What a decision of the language-model agent costs beside its model: against a server that answers at once.

The server runs in a process of its own. The agent's own cost is a decision without its call: prompt, hashes, the
turn in the queue, the plan, and the threads. What the provider's library and the wire take is shown beside it; the
library looks through the whole conversation, which grows by two messages with every decision.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from benchmarks.common import report
from ptp.config.tree import BY_FLAG, build
from ptp.recording.database import Database
from ptp.runner import run

DECISIONS = 200
GOAL = 15.0
ANSWER = {
    "id": "c", "object": "chat.completion", "created": 1, "model": "gpt-4o",
    "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": None, "tool_calls": [{
            "id": "t", "type": "function", "function": {"name": "act", "arguments": '{"moves":["left"]}'}}]}}],
    "usage": {"prompt_tokens": 900, "completion_tokens": 20, "total_tokens": 920},
}  # fmt: skip


class Handler(BaseHTTPRequestHandler):
    """Answers at once, and always the same."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    body = json.dumps(ANSWER).encode()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(self.body)}\r\n\r\n"
        self.wfile.write(head.encode() + self.body)


def serve() -> None:
    """Serve until the benchmark ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


def decision_times(port: int, folder: str) -> list[tuple[float, float]]:
    """Play CartPole, a call for every tick; return the milliseconds of each decision, and of its call."""
    flags = {
        "--world": "CartPole-v1", "--agent": "llm", "--model": "openai:gpt-4o", "--max-ticks": DECISIONS,
        "--base-url": f"http://127.0.0.1:{port}/v1", "--tick-rate-base": 0, "--random-seed": 1, "--data-dir": folder,
        "--agent-option": {"calls_per_minute": 1_000_000, "history_tokens": 10_000_000},
    }  # fmt: skip
    result = run(build({BY_FLAG[flag]: value for flag, value in flags.items()}))
    assert result.exit_code == 0, result.error
    with Database(Path(result.directory, "game_data.db")) as database:
        query = """SELECT a.decision_latency_ms, m.latency_ms FROM llm_decisions d
                   JOIN action_history a USING (decision_id) JOIN model_calls m USING (call_id) ORDER BY decision_id"""
        return [(whole, call) for whole, call in database.rows(query)]


def main() -> None:
    if "--serve" in sys.argv:
        serve()
        return
    os.environ.setdefault("OPENAI_API_KEY", "none")
    words = [sys.executable, "-m", "benchmarks.bench_llm", "--serve"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server, tempfile.TemporaryDirectory() as folder:
        try:
            assert server.stdout is not None
            times = decision_times(int(server.stdout.readline()), folder)
        finally:
            server.terminate()
    own = [whole - call for whole, call in times]
    facts = {
        "decisions": len(times), "p95_ms": round(statistics.quantiles(own, n=20)[-1], 2),
        "library_and_wire_ms": round(statistics.median(call for _, call in times), 2),
    }  # fmt: skip
    report("llm_overhead", statistics.median(own), GOAL, at_least=False, unit="ms per decision", **facts)


if __name__ == "__main__":
    main()
