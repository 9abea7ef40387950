"""Beginning from a snapshot file: what is the world's in it becomes a start state."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ptp.errors import ConfigError
from ptp.records import WorldSpec
from ptp.snapshots.snapshot import MAGIC, check_world, read_file
from ptp.worlds import make_world


@contextmanager
def start_file(spec: WorldSpec) -> Iterator[WorldSpec]:
    """Return a world whose start state is one that it can load: a ptp snapshot is unpacked for as long as needed."""
    path = spec.options.get("start_state")
    if path is None or not _is_snapshot(Path(path)):
        yield spec
        return
    snapshot = read_file(Path(path))
    world = make_world(
        WorldSpec(spec.name, spec.entry, {k: v for k, v in spec.options.items() if k != "start_state"}), trusted=True
    )
    check_world(snapshot.header, world.facts)
    world.close()
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder, "start.state")
        state.write_bytes(snapshot.world)
        yield WorldSpec(spec.name, spec.entry, {**spec.options, "start_state": str(state)})


def _is_snapshot(path: Path) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(7) == MAGIC[:7]
    except OSError as problem:
        raise ConfigError(f"--start-state {path}: {problem.strerror}; name a file that can be read") from None
