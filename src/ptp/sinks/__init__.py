"""What hears a run: sinks get its records, and none of them can slow or stop it."""

from ptp.sinks.background import BackgroundSink
from ptp.sinks.context import RunContext
from ptp.sinks.contract import Sink
from ptp.sinks.fanout import Fanout
from ptp.sinks.registry import find_sink, sink_names

__all__ = ["BackgroundSink", "Fanout", "RunContext", "Sink", "find_sink", "sink_names"]
