"""Which sinks there are: plug-ins of the entry-point group `ptp.sinks`."""

from __future__ import annotations

import importlib.metadata

from ptp.errors import PtpError, UnknownName
from ptp.sinks.contract import Sink

GROUP = "ptp.sinks"


def sink_names() -> list[str]:
    """Return the names of every installed sink."""
    return sorted(plugin.name for plugin in importlib.metadata.entry_points(group=GROUP))


def find_sink(name: str) -> Sink:
    """Make the sink of that name."""
    for plugin in importlib.metadata.entry_points(group=GROUP, name=name):
        try:
            sink: Sink = plugin.load()()
        except (ImportError, AttributeError) as problem:
            raise PtpError(f"sink {name!r} can't be made: {problem}") from None
        return sink
    raise UnknownName("sink", name, sink_names(), f"install a package with an entry point of the group {GROUP}")
