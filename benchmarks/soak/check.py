"""What must be true of every run, whatever was done to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from benchmarks.soak.shell import Shell, Wrong

STATUSES = {"running", "completed", "crashed", "manual_stop"}
LOCK = ".lock"  # lies in a folder of pictures as long as there is one
SOCKET = "control.sock"


def check(shell: Shell, run_id: str, expected: set[str] = STATUSES) -> int:
    """Check a run that nobody plays, and return how many ticks it has."""
    story = json.loads(shell.must("show", run_id, "--json"))
    status, steps = story["run"]["status"], int(story["steps"])
    if status not in expected & STATUSES:
        raise Wrong(f"run {run_id} is {status!r}, not {' or '.join(sorted(expected))}")
    if steps:
        _replay(shell, run_id, steps)
    shell.must("schema", "verify", run_id)
    shell.must("snapshot", "verify", "--run", run_id)
    left = sorted(leftovers(shell.records / run_id))
    if left and status != "crashed":  # a killed process can't remove them; the next one has to
        raise Wrong(f"run {run_id} has left {', '.join(left)} behind")
    return steps


def _replay(shell: Shell, run_id: str, steps: int) -> None:
    """Play every tick again and compare."""
    told = json.loads(shell.must("replay", run_id, "--verify", "--json"))
    if not told["equal"] or told["from_tick"] != 1 or told["ticks"] != steps:
        raise Wrong(f"run {run_id} has {steps} ticks, and its replay says {told}")


def leftovers(folder: Path) -> Iterator[str]:
    """Return the temporary files in a run's folder."""
    for path in folder.rglob("*"):
        if path.name == SOCKET or (path.name.startswith(".") and path.name != LOCK):
            yield str(path.relative_to(folder))
