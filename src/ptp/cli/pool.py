"""`ptp pool`: emulators in the background that play scripts in parallel."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptp.cli.output import BOLD, GREEN, RED, YELLOW, answer, fact_lines, in_bytes, in_time, number, paint, show, table
from ptp.cli.parser import Options
from ptp.errors import PtpError, UsageError

if TYPE_CHECKING:
    from ptp.emulators.backends import Backend
    from ptp.emulators.results import ExecutionResult
    from ptp.emulators.service import Answer
    from ptp.emulators.status import MemberStatus

PATIENCE = 120.0  # seconds in which a pool has to be ready, or to have ended
COLORS = {"healthy": GREEN, "degraded": YELLOW, "failed": RED}


def start(options: Options) -> int:
    """Start a pool in the background, or here."""
    from ptp.emulators import service

    _ports(options.ports)
    if options.foreground:
        return _serve(options)
    if service.is_running(options.folder):
        raise UsageError(f"a pool runs already for {options.folder}; end it with `ptp pool stop`")
    folder = options.folder / service.FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / service.LOG
    with path.open("wb") as log:
        command = [sys.executable, "-m", "ptp", "pool", "start", *options.words, "--foreground"]
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, start_new_session=True
        )
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        ended = child.poll() is not None
        started = service.read_started(options.folder)
        if started is not None and started.pid == child.pid:
            found = service.ask(options.folder, service.Status())
            return answer(options, found, *_lines(found))
        if ended:
            said = path.read_text("utf-8", "replace").strip().splitlines()
            raise UsageError(said[-1].removeprefix("ptp: ") if said else "the pool ended before it began")
        time.sleep(0.05)
    child.terminate()
    raise PtpError(f"the pool was not ready within {PATIENCE:.0f} s; see {path}")


def _serve(options: Options) -> int:
    from ptp.emulators.pool import EmulatorPool
    from ptp.emulators.service import PoolServer, owned
    from ptp.snapshots import CheckpointManager

    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.WARNING)
    signal.signal(signal.SIGTERM, _interrupt)
    backend, checkpoints = _backend(options), CheckpointManager(options.folder / "checkpoints")
    with (
        owned(options.folder) as folder,
        EmulatorPool(
            options.size, _ports(options.ports), backend, choice=options.choice, checkpoints=checkpoints
        ) as pool,
    ):
        PoolServer(folder, pool, options.world or options.rom or "tallgrass", options.choice).serve()
    return 0


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt("the pool has ended")


def _backend(options: Options) -> Backend:
    from ptp.emulators.backends import Processes, Urls

    if options.url:
        if options.world or options.rom or options.record:
            raise UsageError("--url names servers that play what they play; leave out --world, --rom and --record")
        options.size = len(options.url) if options.size is None else options.size
        return Urls(options.url, os.environ.get("PTP_TOKEN"))
    options.size = 4 if options.size is None else options.size
    if options.backend == "containers":
        from ptp.emulators.backends.containers import Containers

        return Containers(options.world, options.rom, image=options.image)
    return Processes(options.world, options.rom, options.folder, options.record)


def _ports(text: str) -> list[int]:
    """Return the ports of a range such as 8081-8084, or of a list such as 8081,9000."""
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not (first.strip().isdecimal() and (last.strip().isdecimal() or not dash)):
            raise UsageError(f"--ports {text!r} is not allowed; write a range or a list, such as 8081-8084")
        found += range(int(first), int(last or first) + 1)
        if len(found) > 1000:
            raise UsageError(f"--ports {text!r} are more than 1000 ports; name those of the first emulators")
    if not found:
        raise UsageError(f"--ports {text!r} names no port; write a range or a list, such as 8081-8084")
    return found


def status(options: Options) -> int:
    """Show the pool."""
    from ptp.emulators.service import Status, ask

    found = ask(options.folder, Status(), patience=30)
    return show(options, found, *_lines(found))


def scale(options: Options) -> int:
    """Change how many emulators there are."""
    from ptp.emulators.service import Scale, ask

    if options.emulators < 1:
        raise UsageError(f"a pool of {options.emulators} is not possible; `ptp pool stop` ends it")
    found = ask(options.folder, Scale(options.emulators))
    return answer(options, found, *_lines(found))


def execute(options: Options) -> int:
    """Play scripts, and show how they went."""
    from ptp.emulators.results import Task
    from ptp.emulators.service import Exec, ask

    if options.seed < 0:
        raise UsageError(f"--seed {options.seed} is not allowed; give 0 or more")
    names = options.files or ["-"]
    tasks = [Task(_read(name), options.checkpoint, seed=options.seed) for name in names for _ in range(options.times)]
    results = ask(options.folder, Exec(tasks)).results
    labels = [name for name in names for _ in range(options.times)]
    lines = [line for name, it in zip(labels, results, strict=True) for line in _result_lines(name, it)]
    return answer(options, results, *lines, failed=not all(it.success for it in results))


def _read(name: str) -> str:
    if name == "-":
        return sys.stdin.read()
    from ptp.scripts import read_script

    return read_script(Path(name))


def _result_lines(name: str, result: ExecutionResult) -> Iterator[str]:
    how = paint("succeeded", GREEN) if result.success else paint("failed", RED)
    retried = f" after {result.metadata.attempts} attempts" if result.metadata.attempts > 1 else ""
    spent = f"{result.metadata.commands:,} commands in {result.timing.played:.2f} s"
    yield f"{name} {how} on {result.metadata.emulator or 'no emulator'}{retried}: {spent}"
    if result.error:
        yield from (f"  {line}" for line in result.error.splitlines())
    if result.checkpoints:
        yield f"  checkpoints: {', '.join(result.checkpoints)}"


def stop(options: Options) -> int:
    """End the pool, and wait until it has ended."""
    from ptp.emulators.service import NoPool, Stop, ask, is_running, read_started

    try:
        ask(options.folder, Stop(), patience=30)
    except NoPool:
        if not is_running(options.folder):
            raise
    started = read_started(options.folder)
    until = time.monotonic() + PATIENCE
    while is_running(options.folder):
        if time.monotonic() > until:
            pid = started.pid if started else "unknown"
            raise PtpError(f"the pool, process {pid}, has not ended within {PATIENCE:.0f} s; kill it to end it now")
        time.sleep(0.05)
    return answer(options, {"stopped": True}, "the pool has ended")


# -- showing it ------------------------------------------------------------------------------------------------


def _lines(found: Answer) -> Iterator[str]:
    status, started = found.status, found.started
    assert status is not None
    assert started is not None
    yield paint(f"pool of {status.size} emulator{'s' if status.size != 1 else ''}", BOLD)
    facts = {
        "world": started.world,
        "runs in": f"{started.backend}, chosen {started.choice}, process {started.pid}",
        "tasks": f"{status.executed:,} done, {status.unsuccessful:,} without success, {status.waiting} waiting",
        "times": f"median {_ms(status.median_ms)}, 95 % within {_ms(status.p95_ms)}",
        "replaced": f"{status.replaced:,} emulators, {status.retried:,} attempts were made again",
    }
    yield from fact_lines(facts)
    heads = ("emulator", "health", "address", "now", "done", "restarts", "speed", "cpu", "memory", "up")
    rows = [_row(member) for member in status.members]
    yield from table(heads, rows, right=("done", "restarts", "speed", "cpu", "memory", "up"), spare=("up", "cpu"))
    for member in status.members:
        yield from (paint(f"  {member.name}: {reason}", COLORS[member.level]) for reason in member.reasons)
    yield from (paint(f"  alert: {text}", RED) for text in status.alerts[-3:])


def _row(member: MemberStatus) -> tuple[Any, ...]:
    vitals = member.vitals
    cpu = "-" if vitals is None or vitals.cpu is None else f"{vitals.cpu:.0%}"
    memory = "-" if vitals is None or vitals.memory is None else in_bytes(vitals.memory)
    uptime = None if vitals is None else vitals.uptime
    now = "busy" if member.is_busy else "free" if member.level != "failed" else "-"
    speed = "-" if member.speed is None else f"{number(member.speed)}/s"
    return (member.name, member.level, member.url or "-", now, member.served, member.restarts, speed, cpu, memory,
            in_time(uptime))  # fmt: skip


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f} ms"
