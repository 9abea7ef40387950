"""How a run that has ended is played on."""

from __future__ import annotations

from ptp.config import RunConfig
from ptp.records import Metadata


def play_on(metadata: Metadata, config: RunConfig, reached: str | None = None) -> str:
    """Return the command that plays on from where a run ended: past the limit that it *reached*, if it did."""
    run_id, stop = metadata.run_id, metadata.stop
    if metadata.status == "completed" and stop is not None:
        if stop.kind == "finished":
            return f"ptp fork {run_id} --at-tick {metadata.ticks} --agent random"
        name = reached or stop.name
        if stop.kind == "limit":
            return f"ptp resume {run_id} --{name} {2 * getattr(config.limits, name.replace('-', '_'))}"
    return f"ptp resume {run_id}"
