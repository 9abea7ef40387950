"""The pool of emulators of the data directory, if there is one."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from prometheus_client import CollectorRegistry, Gauge

from ptp.emulators.service import NoPool, Started, Status, ask
from ptp.emulators.status import PoolStatus
from ptp.http.endpoints import Endpoint
from ptp.web.parameters import API
from ptp.web.services import Services

PATIENCE = 5.0  # seconds


class Pool(Struct, frozen=True):
    """The pool, if one runs."""

    started: Started | None
    status: PoolStatus | None


def pool(services: Services) -> Pool:
    """Show the pool of emulators; both fields are null when none runs."""
    return read_pool(services.data_dir)


def read_pool(data_dir: Path) -> Pool:
    """Return the pool of a data directory."""
    with suppress(NoPool):
        answer = ask(data_dir, Status(), PATIENCE)
        return Pool(answer.started, answer.status)
    return Pool(None, None)


def measure_pool(data_dir: Path, registry: CollectorRegistry) -> None:
    """Add the figures of the pool for Prometheus, if one runs."""
    status = read_pool(data_dir).status
    if status is None:
        return
    for name, help_, value in (
        ("size", "Emulators of the pool.", status.size),
        ("busy", "Emulators that work now.", status.busy),
        ("waiting", "Tasks that wait for an emulator.", status.waiting),
        ("tasks_executed", "Tasks that were done.", status.executed),
        ("tasks_unsuccessful", "Tasks that did not succeed.", status.unsuccessful),
        ("attempts_retried", "Attempts that were made again because an emulator failed.", status.retried),
        ("emulators_replaced", "Emulators that were replaced.", status.replaced),
        ("commands_per_second", "What the emulators play together at their latest speed.", status.commands_per_second),
    ):
        Gauge(f"ptp_pool_{name}", help_, registry=registry).set(value)
    levels = Gauge("ptp_pool_emulators", "Emulators of the pool by health.", ("health",), registry=registry)
    for level in ("healthy", "degraded", "failed"):
        levels.labels(level).set(sum(member.level == level for member in status.members))
    restarts = Gauge("ptp_pool_restarts", "How often an emulator was replaced.", ("emulator",), registry=registry)
    answers = Gauge("ptp_pool_answer_ms", "How long the last check took.", ("emulator",), registry=registry)
    memory = Gauge("ptp_pool_memory_bytes", "Memory that an emulator takes.", ("emulator",), registry=registry)
    for member in status.members:
        restarts.labels(member.name).set(member.restarts)
        if member.answer_ms is not None:
            answers.labels(member.name).set(member.answer_ms)
        if member.vitals is not None and member.vitals.memory is not None:
            memory.labels(member.name).set(member.vitals.memory)


ENDPOINTS = (Endpoint("GET", f"{API}/pool", pool),)
