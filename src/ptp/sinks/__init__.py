"""What hears a run: sinks get its records, and none of them can slow or stop it."""

from ptp.sinks.contract import RunContext, Sink, find_sink, sink_names
from ptp.sinks.fanout import BackgroundSink, Fanout

__all__ = ["BackgroundSink", "Fanout", "RunContext", "Sink", "find_sink", "sink_names"]
