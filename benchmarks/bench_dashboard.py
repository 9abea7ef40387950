"""How fast the dashboard tells what happens, how many it can tell, and what that costs the run."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import apsw
import httpx
import msgspec

from benchmarks.common import report
from ptp._util.ids import uuid7
from ptp.config.tree import BY_FLAG, build
from ptp.recording import RunDirectory
from ptp.recording.directory import run_paths
from ptp.records import Metadata
from ptp.runner import run
from ptp.runner.control import ask
from ptp.runner.protocol import Status
from ptp.web.app import STATIC, bind

TOKEN = "a token for benchmarks"
RATE = 200  # ticks per second of the live run
SECONDS = 10.0
LATER = ("nice", "-n", "15")  # clients are meant to be elsewhere: here they yield to what is measured


@contextmanager
def playing(folder: Path, rate: int = RATE) -> Iterator[RunDirectory]:
    """Play Tallgrass in a process of its own."""
    command = [sys.executable, "-m", "ptp", "run", "--world", "tallgrass", "--agent", "explorer", "--tick-rate-base",
               str(rate), "--tick-rate-battle", str(rate), "--data-dir", str(folder), "--quiet", "--random-seed", "3",
               "--tick-rate-timeout", "0"]  # fmt: skip
    process = subprocess.Popen(command)
    try:
        directory = _wait(lambda: next((RunDirectory(path) for path in run_paths(folder)), None))
        _wait(lambda: (directory.path / "control.sock").exists())
        yield directory
    finally:
        process.terminate()
        process.wait()


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve the folder from a process of its own, as a user would."""
    listener, address = bind("127.0.0.1", 0, TOKEN)
    listener.close()
    command = [sys.executable, "-m", "ptp", "dashboard", "--port", str(address.port), "--token", TOKEN, "--data-dir",
               str(folder), "--quiet"]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{address.port}"
    try:
        _wait(lambda: _healthy(url))
        yield url
    finally:
        process.terminate()
        process.wait()


def _wait(look: Any) -> Any:
    for _ in range(3000):
        found = look()
        if found:
            return found
        time.sleep(0.02)
    sys.exit("it did not come")


def _healthy(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz").status_code == 200
    except httpx.TransportError:
        return False


def _events(url: str, seconds: float) -> Iterator[tuple[str, Any]]:
    until = time.monotonic() + seconds
    with httpx.stream("GET", f"{url}/api/v1/live", timeout=30) as response:
        name = ""
        for line in response.iter_lines():
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                yield name, line[6:]
                if time.monotonic() > until:
                    return


def latency(url: str) -> None:
    """From the newest tick of a message to the client that reads it."""
    waits = []
    for name, data in _events(url, SECONDS):
        if name == "state":
            waits.append((time.time() - json.loads(data)["now"]["at"]) * 1000)
    waits.sort()
    report(
        "tick to client, p95", waits[len(waits) * 95 // 100], 100, at_least=False, unit="ms",
        median=round(waits[len(waits) // 2], 1), messages_per_second=round(len(waits) / SECONDS, 1),
        ticks_per_second=RATE,
    )  # fmt: skip


def _tick(directory: RunDirectory) -> int:
    now = ask(directory, Status()).now
    assert now is not None
    return now.tick


def _pace(directory: RunDirectory, seconds: float) -> float:
    began, first = time.monotonic(), _tick(directory)
    time.sleep(seconds)
    return float((_tick(directory) - first) / (time.monotonic() - began))


CLIENT = """
import http.client, sys, time, json
host, port, seconds, rate = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
connection = http.client.HTTPConnection(host, port)
waits, start = [], time.monotonic()
until = start + seconds
while time.monotonic() < until:
    began = time.perf_counter()
    connection.request("GET", "/api/v1/status")
    answer = connection.getresponse(); answer.read()
    assert answer.status == 200, answer.status
    waits.append(time.perf_counter() - began)
    early = start + len(waits) / rate - time.monotonic() if rate else 0
    if early > 0:
        time.sleep(early)
print(json.dumps(waits))
"""


def _load(url: str, rate: float, during: Any, count: int = 2) -> list[float]:
    """Let clients ask for the status, *rate* times a second each or as often as they can; return the waits."""
    host, port = url.removeprefix("http://").split(":")
    command = [*LATER, sys.executable, "-c", CLIENT, host, port, str(SECONDS), str(rate)]
    clients = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    during()
    return sorted(wait for client in clients for wait in json.loads(client.communicate()[0]))


def one_client(url: str) -> None:
    """One client that keeps its connection and asks again when it has the answer: 40 ms each where packets wait."""
    waits = _load(url, 0, lambda: None, count=1)
    report("status for one client with keep-alive, median", median(waits) * 1000, 10, at_least=False, unit="ms",
           p99=round(waits[len(waits) * 99 // 100] * 1000, 2), per_second=round(len(waits) / SECONDS))  # fmt: skip


def requests(url: str, directory: RunDirectory) -> None:
    """Requests per second for the status, and what a thousand a second cost the live run."""
    waits = _load(url, 0, lambda: None)
    p99 = round(waits[len(waits) * 99 // 100] * 1000, 2)
    report("status requests", len(waits) / SECONDS, 1000, at_least=True, unit="per second", p99_ms=p99, clients=2)
    alone = _pace(directory, SECONDS / 2)
    paces: list[float] = []

    def measure() -> None:
        time.sleep(1)
        paces.append(_pace(directory, SECONDS / 2))

    waits = _load(url, 500, measure)
    report("pace lost beside 1,000 requests/s", max(0.0, 1 - paces[0] / alone) * 100, 5, at_least=False, unit="%",
           alone=round(alone, 1), beside=round(paces[0], 1), requests_per_second=len(waits) / SECONDS)  # fmt: skip


def streams(url: str, directory: RunDirectory, count: int = 200) -> None:
    """Event streams at once: how many messages the one with the fewest gets."""
    host, port = url.removeprefix("http://").split(":")
    counts = [0] * count
    sockets = []
    for _ in range(count):
        connection = socket.create_connection((host, int(port)))
        connection.sendall(f"GET /api/v1/live HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        connection.setblocking(False)
        sockets.append(connection)
    import selectors

    chosen = selectors.DefaultSelector()
    for index, connection in enumerate(sockets):
        chosen.register(connection, selectors.EVENT_READ, index)
    until, paces = time.monotonic() + SECONDS, []
    thread = threading.Thread(target=lambda: paces.append(_pace(directory, SECONDS - 1)))
    thread.start()
    while time.monotonic() < until:
        for key, _ in chosen.select(0.1):
            counts[key.data] += key.fileobj.recv(1 << 20).count(b"event: state")  # type: ignore[union-attr]
    thread.join()
    for connection in sockets:
        connection.close()
    fewest = min(counts) / SECONDS
    report("messages per second of the slowest of 200 streams", fewest, 1, at_least=True, unit="per second",
           fastest=max(counts) / SECONDS, ticks_per_second=round(paces[0], 1))  # fmt: skip


def watching_costs(folder: Path) -> None:
    """What one watcher costs a run at full speed."""
    with playing(folder, rate=0) as directory:
        time.sleep(2)
        figures: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(3):
            figures[False].append(_pace(directory, 3))
            command = [*LATER, sys.executable, "-m", "ptp", "watch", "--json", "--data-dir", str(folder)]
            watcher = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            time.sleep(1.5)
            figures[True].append(_pace(directory, 3))
            watcher.terminate()
            watcher.wait()
    alone, watched = max(figures[False]), max(figures[True])
    report("pace lost to one watcher at full speed", max(0.0, 1 - watched / alone) * 100, 5, at_least=False, unit="%",
           alone=round(alone, 1), watched=round(watched, 1))  # fmt: skip


def _record(folder: Path, ticks: int) -> RunDirectory:
    flags = {"--world": "FrozenLake-v1", "--max-ticks": ticks, "--tick-rate-base": 0, "--random-seed": 1,
             "--data-dir": str(folder), "--snapshot-disk": 0}  # fmt: skip
    return RunDirectory(Path(run(build({BY_FLAG[flag]: value for flag, value in flags.items()})).directory))


def many_runs(folder: Path, count: int = 10_000) -> None:
    """The list of many runs, any page and order."""
    template = _record(folder, 5)
    header = template.read_metadata()
    for index in range(count - 1):
        directory = RunDirectory(template.path.with_name(uuid7(1_700_000_000 + index)))
        directory.path.mkdir()
        directory.write_metadata(_named(header, directory.run_id, index))
    with serving(folder) as url, httpx.Client(base_url=url) as client:
        assert client.get("/api/v1/runs").json()["total_count"] == count
        waits = []
        for query in ("", "?page=100", "?sort=ticks", "?q=frozen", "?status=completed&page=40", "?page_size=500"):
            for pause in (0.0, 1.1):
                time.sleep(pause)
                began = time.perf_counter()
                assert client.get(f"/api/v1/runs{query}").status_code == 200
                waits.append((time.perf_counter() - began) * 1000)
    report(
        "list of 10,000 runs, slowest",
        max(waits),
        100,
        at_least=False,
        unit="ms",
        median=sorted(waits)[len(waits) // 2],
    )


def _named(header: Metadata, run_id: str, ticks: int) -> Metadata:
    return msgspec.structs.replace(header, run_id=run_id, ticks=ticks)


def many_actions(folder: Path, count: int = 1_000_000) -> None:
    """Any page of a run with many actions, each with a decision and a state of its own, in episodes of a hundred."""
    directory = _record(folder, 5)
    with closing(apsw.Connection(str(directory.database))) as connection, connection:
        for table in ("steps", "action_history", "episode_starts", "episodes"):
            connection.execute(f"DELETE FROM {table}")
        numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})"
        for rows in ROWS:
            connection.execute(rows.replace("SELECT", f"{numbers} SELECT", 1))
    with serving(folder) as url, httpx.Client(base_url=url, timeout=60) as client:
        # what is looked for the first time in a run is read once from all its lines
        first, action, text = (_wait_for_page(client, query) for query in ("", "action=2", "q=reason 9999"))
        waits = [(_wait_for_page(client, query), query) for _ in range(3) for query in PAGES]
    slowest, query = max(waits)
    report("a page among 1,000,000 actions, slowest", slowest, 100, at_least=False, unit="ms", slowest=query,
           median=round(median(wait for wait, _ in waits), 1), first_look_ms=round(first, 1),
           first_by_action_ms=round(action, 1), first_search_ms=round(text, 1))  # fmt: skip


ROWS = (
    """INSERT INTO steps (tick, episode, step, command, reward, terminated, truncated, elapsed, state_hash, state)
       SELECT i, (i - 1) / 100 + 1, (i - 1) % 100 + 1, i % 4, 1, i % 100 = 0, 0, i * 0.01, 'hash',
              '{"observation":' || i || '}' FROM n""",
    """INSERT INTO action_history (decision_id, run_id, timestamp, tick, decision_type, reasoning,
                                   decision_latency_ms, execution_status)
       SELECT printf('%012d', i - 1), 'run', '2026-01-01T00:00:00.000Z', i - 1, 'ACTION', 'reason ' || i, 1, 'success'
       FROM n""",
    """INSERT INTO events (event_id, run_id, timestamp, tick, kind, detail)
       SELECT printf('%012d', i), 'run', '2026-01-01T00:00:00.000Z', i, 'Encounter',
              '{"event":"Encounter","species":"X"}' FROM n WHERE i % 10 = 0""",
    """INSERT INTO episode_starts (episode, tick, state)
       SELECT i / 100, i - 100, '{"observation":0}' FROM n WHERE i % 100 = 0""",
    "INSERT INTO episodes SELECT i / 100, i, 100, 100, i * 0.01, 1 FROM n WHERE i % 100 = 0",
)
PAGES = ("page=1", "page=5000", "page=11000", "page=7777&order=desc", "kind=events&page=900", "kind=commands&page=9000",
         "action=encounter&page=500", "from_tick=400000&page=30", "action=2&page=2000", "page=1000&page_size=1000",
         "q=reason 9999&page=1")  # fmt: skip


def _wait_for_page(client: httpx.Client, query: str) -> float:
    began = time.perf_counter()
    answer = client.get(f"/api/v1/actions?{query}")
    wait = (time.perf_counter() - began) * 1000
    assert len(answer.json()["actions"]) >= 100, query
    return wait


def weight() -> None:
    """What the page weighs."""
    total = sum(path.stat().st_size for path in STATIC.iterdir())
    report("page weight", total / 1000, 300, at_least=False, unit="KB")


def main() -> None:
    """Measure everything."""
    weight()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with playing(folder) as directory, serving(folder) as url:
            time.sleep(3)
            latency(url)
            one_client(url)
            requests(url, directory)
            streams(url, directory)
        shutil.rmtree(folder / "records")
        watching_costs(folder)
        shutil.rmtree(folder / "records")
        many_actions(folder)
        shutil.rmtree(folder / "records")
        many_runs(folder)


if __name__ == "__main__":
    main()
