"""Old runs made small: steps as Parquet, the database packed, and an index that answers without it.

`metadata.json` stays as it is, so lists are as fast as before; `episodes/episode_index.json` has each episode's
figures. Who reads the run reads a copy; `unpack_run` brings the database back, bit for bit.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import apsw
import msgspec

from ptp._util.files import write_atomic
from ptp.errors import PtpError, RecordingError, RunUnreadable
from ptp.frames.profiles import RollUp, built_in_profiles
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.recording.episodes import COLUMNS
from ptp.recording.packed import CHUNK, forget, is_packed, packed_path, unpack
from ptp.recording.tally import tally
from ptp.retention.plan import measure_run

INDEX = "episode_index.json"
STEPS = "steps.parquet"
ROWS = 50_000  # steps that are held as rows at a time; as columns they take far less
TYPES = {
    "tick": "Int64", "episode": "Int64", "step": "Int64", "command": "String", "reward": "Float64",
    "terminated": "Boolean", "truncated": "Boolean", "elapsed": "Float64", "state_hash": "String", "state": "String",
    "frame_ref": "String",
}  # fmt: skip


class RolledUp(msgspec.Struct):
    """A run that was made small."""

    run_id: str
    before: int
    after: int


def roll_up_runs(paths: list[Path]) -> tuple[list[RolledUp], list[str]]:
    """Make runs small by the policy of their storage profiles; return what was done, and what was not and why.

    A run whose profile nobody knows is packed.
    """
    done: list[RolledUp] = []
    failed: list[str] = []
    for directory in map(RunDirectory, paths):
        try:
            if is_packed(directory.database):
                continue
            with directory.owned():
                profile = built_in_profiles().get(directory.read_metadata().facts.storage_profile)
                policy: RollUp = "compress" if profile is None else profile.episode_rollup_policy
                if policy != "none":
                    done.append(roll_up(directory, policy))
        except PtpError as problem:
            failed.append(f"{directory.run_id}: {problem}")
    return done, failed


def roll_up(directory: RunDirectory, policy: RollUp) -> RolledUp:
    """Make a finished run small; who calls it owns the run."""
    before = measure_run(directory).total
    metadata = directory.read_metadata()
    if metadata.ticks is None:  # of a crashed run: nobody shall need its database to list it
        figures = tally(directory, metadata)
        metadata.ticks, metadata.episodes = figures.ticks, figures.episodes
        metadata.total_reward, metadata.total_cost = figures.reward, figures.cost
    metadata.status = "crashed" if metadata.status == "running" else metadata.status
    directory.write_metadata(metadata)
    (directory.path / "episodes").mkdir(exist_ok=True)
    _write_index(directory)
    if policy == "parquet":
        _write_steps(directory)
    for path in (directory.path / "episodes").glob("*.jsonl"):
        path.unlink()  # the same steps are in the database
    pack_run(directory)
    return RolledUp(directory.run_id, before, measure_run(directory).total)


def _write_index(directory: RunDirectory) -> None:
    names = ("episode", "last_tick", "steps", "reward", "elapsed", "terminated")
    with Database(directory.database) as database:
        rows = database.rows(f"SELECT {', '.join(names)} FROM episodes ORDER BY episode")
        episodes = [dict(zip(names, row, strict=True)) for row in rows]
    for episode in episodes:
        episode["terminated"] = bool(episode["terminated"])
    data = msgspec.json.encode({"run_id": directory.run_id, "episodes": episodes})
    write_atomic(directory.path / "episodes" / INDEX, data + b"\n")


def _write_steps(directory: RunDirectory) -> None:
    try:
        import polars
    except ImportError:
        raise RecordingError("Parquet needs polars; install it with `pip install polars`") from None
    schema: Any = {name: getattr(polars, TYPES[name]) for name in COLUMNS}
    flags = [name for name, kind in TYPES.items() if kind == "Boolean"]
    loose: Any = {name: polars.Int64 if name in flags else kind for name, kind in schema.items()}
    with Database(directory.database) as database:
        rows = database.rows(f"SELECT {', '.join(COLUMNS)} FROM steps ORDER BY tick")
        parts = [polars.DataFrame([], schema=schema)]
        while part := list(islice(rows, ROWS)):
            parts.append(polars.DataFrame(part, schema=loose, orient="row").cast(schema))
    table = BytesIO()
    polars.concat(parts).write_parquet(table, compression="zstd")
    write_atomic(directory.path / "episodes" / STEPS, table.getvalue())


def pack_run(directory: RunDirectory) -> None:
    """Pack the database, and remove it only when the packed one gives the same bytes; who calls it owns the run."""
    try:  # everything has to be in the one file
        connection = apsw.Connection(str(directory.database), flags=apsw.SQLITE_OPEN_READWRITE)
        connection.pragma("journal_mode", "delete")
        connection.execute("VACUUM")
        connection.close()
    except apsw.Error as problem:
        raise RunUnreadable(f"{directory.database} is damaged ({problem}); restore it from a copy") from None
    packed = packed_path(directory.database)
    temporary = packed.with_name(f".{packed.name}")
    try:
        with open(directory.database, "rb") as source, gzip.open(temporary, "wb", compresslevel=6) as target:
            shutil.copyfileobj(source, target, CHUNK)
        if _digest(gzip.open(temporary)) != _digest(open(directory.database, "rb")):  # noqa: SIM115 - closed there
            raise RecordingError(f"{packed} can't be written faithfully; the database stays as it is")
        os.replace(temporary, packed)
    except OSError as problem:
        raise RecordingError(f"{packed} can't be written: {problem.strerror or problem}; free some space") from None
    finally:
        temporary.unlink(missing_ok=True)
    for name in ("game_data.db", "game_data.db-wal", "game_data.db-shm"):
        (directory.path / name).unlink(missing_ok=True)


def _digest(file: Any) -> bytes:
    with file:
        return hashlib.file_digest(file, "sha256").digest()


def unpack_run(directory: RunDirectory) -> None:
    """Bring back the database of a run that was rolled up; who calls it owns the run."""
    if not is_packed(directory.database):
        raise RunUnreadable(f"run {directory.run_id} is not rolled up; there is nothing to bring back")
    packed = packed_path(directory.database)
    unpack(packed, directory.database)
    packed.unlink()
    forget(directory.database)
