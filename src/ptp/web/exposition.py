"""The figures of live runs for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from msgspec.structs import asdict
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

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
    registry.register(_Runs(library))
    return generate_latest(registry)


class _Runs(Collector):
    """Reads the figures when they are asked for."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def describe(self) -> list[GaugeMetricFamily]:
        return []  # which figures there are is known when they are read

    def collect(self) -> Iterator[GaugeMetricFamily]:
        counts = GaugeMetricFamily("ptp_runs", "Runs by status.", labels=("status",))
        for status, count in sorted(self._library.page(Query(page_size=1)).statuses.items()):
            counts.add_metric((status,), count)
        yield counts
        yield from self._figures().values()

    def _figures(self) -> dict[str, GaugeMetricFamily]:
        families: dict[str, GaugeMetricFamily] = {}
        for line in self._library.live():
            for name, help_, value in _figures_of(self._library.find(line.run_id)):
                family = families.setdefault(name, GaugeMetricFamily(f"ptp_{name}", help_, labels=LABELS))
                family.add_metric((line.run_id, line.world, line.agent), value)
        return families


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
