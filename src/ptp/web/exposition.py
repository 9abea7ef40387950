"""The figures of live runs for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from msgspec.structs import asdict
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, generate_latest

from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.runs.library import Library, Query
from ptp.runs.metrics import Game, Performance, read_metrics
from ptp.runs.status import newest_metric
from ptp.web.openapi import field_words

__all__ = ["CONTENT_TYPE_LATEST", "exposition"]
LABELS = ("run", "world", "agent")


def exposition(library: Library) -> bytes:
    """Return how many runs there are and the figures of the live ones, as Prometheus reads them."""
    registry = CollectorRegistry()
    runs = Gauge("ptp_runs", "Runs by status.", ("status",), registry=registry)
    for status, count in sorted(library.page(Query(page_size=1)).statuses.items()):
        runs.labels(status).set(count)
    gauges: dict[str, Gauge] = {}
    for line in library.live():
        for name, help_, value in _figures_of(library.find(line.run_id)):
            if name not in gauges:
                gauges[name] = Gauge(f"ptp_{name}", help_, LABELS, registry=registry)
            gauges[name].labels(line.run_id, line.world, line.agent).set(value)
    return generate_latest(registry)


def _figures_of(directory: RunDirectory) -> Iterator[tuple[str, str, float]]:
    """Return the figures of every run under the names of the API, then those that the run's world measures."""
    metrics = read_metrics(directory)
    known = {"tick": metrics.tick} | asdict(metrics.performance) | asdict(metrics.game)
    helps = _helps()
    yield from (
        (name, helps.get(name, name.replace("_", " ")), value) for name, value in known.items() if value is not None
    )
    with Database(directory.database) as database:
        for gauge in directory.read_metadata().facts.gauges:
            value = newest_metric(database, gauge.name)
            if value is not None and gauge.name not in known:
                yield gauge.name, gauge.help or gauge.title, value


@cache
def _helps() -> dict[str, str]:
    return {"tick": "The newest tick."} | field_words(Performance) | field_words(Game)
