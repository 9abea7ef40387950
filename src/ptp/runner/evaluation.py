"""What a run's agent has learnt, as a file that other runs can begin with."""

from __future__ import annotations

from contextlib import closing
from hashlib import sha256

import msgspec

from ptp._util.clock import Clock
from ptp._util.files import write_atomic
from ptp.config.files import read_values
from ptp.config.tree import build
from ptp.errors import UsageError
from ptp.recording import RunDirectory
from ptp.records import Parent
from ptp.replay import Tape
from ptp.replay.travel import travel
from ptp.runner.run import engine_of


class Learnt(msgspec.Struct, frozen=True):
    """A file with what an agent has learnt, and the run and tick that it is from."""

    path: str
    of: Parent


def keep_learnt(directory: RunDirectory, *, trusted: bool = False) -> Learnt:
    """Write what the agent of a run has learnt up to its last tick; the same mind is the same file."""
    config = build(read_values(directory.path / "config.yaml", tell=lambda _: None))
    engine = engine_of(directory, directory.read_metadata(), config, Clock(), trusted=trusted)
    if "learnt" not in engine.agent.Options.__struct_fields__:
        engine.world.close()
        raise UsageError(
            f"agent {config.agent.name!r} of run {directory.run_id} does not learn; train one with `ptp train`"
        )
    with closing(engine.world), closing(Tape(directory)) as tape:
        travel(engine, tape, directory.path / "snapshots", tape.length)
        mind = msgspec.json.encode(engine.agent.save())
    path = directory.path / "learnt" / f"{sha256(mind).hexdigest()[:16]}.json"
    path.parent.mkdir(exist_ok=True)
    write_atomic(path, mind)
    return Learnt(str(path.absolute()), Parent(directory.run_id, engine.progress.ticks))
