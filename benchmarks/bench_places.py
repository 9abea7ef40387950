"""States at one frame per tick against a second reader of memory: how many name a place where the player is not."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.contract.runs import commands_of
from tests.contract.witness import follow_run, slowed
from tests.web.parts import record

from benchmarks.common import report

TICKS = 200_000
FRAMES = 24


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        played = record(Path(folder), world="tallgrass", agent="explorer", max_ticks=-(-TICKS // FRAMES))
        script = Path(folder, "script.txt")
        script.write_text("\n".join(slowed(commands_of(played.path), 1)[:TICKS]))
        # every picture and snapshot less leaves more time for ticks
        run = record(Path(folder), world="tallgrass", agent="script", script=str(script), frames_per_tick=1,
                     screenshot_interval=TICKS, snapshot_disk=0, snapshot_memory=0, tick_rate_timeout=0)  # fmt: skip
        followed = follow_run(run.path)
    for line in followed.wrong[:20]:
        print(line, file=sys.stderr)
    report("false_places", len(followed.wrong), 0, at_least=False, unit=f"in {followed.ticks:,} ticks of one frame",
           places=followed.places, map_changes=followed.changing, fights=followed.fights)  # fmt: skip


if __name__ == "__main__":
    main()
