"""Taking a shared snapshot in: it becomes a run of its own, which can be resumed, forked and replayed."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ptp import __version__
from ptp._util.clock import iso
from ptp._util.ids import numbered_id, uuid7
from ptp._util.lazy import lazy
from ptp.config import RunConfig
from ptp.config.tree import BY_FLAG, BY_PATH, Values, build
from ptp.engine.records import EpisodeEnded, Step
from ptp.errors import PtpError, SnapshotError, UnknownName
from ptp.recording import Recorder, RunDirectory
from ptp.recording.entries import Row
from ptp.records import Metadata, Parent, Stop
from ptp.replay.tape import TapeStep
from ptp.replay.travel import load_world, play_episode
from ptp.runs.offline import store_of
from ptp.runs.sharing import is_shared
from ptp.snapshots import SharedTape, Snapshot, SnapshotHeader
from ptp.snapshots.snapshot import check_world
from ptp.snapshots.tape import Decided
from ptp.versioning import SCHEMA_VERSION
from ptp.worlds import World, choose_world, make_world

if TYPE_CHECKING:
    from ptp.worlds.gameboy import cartridge, profiles
else:  # only a cartridge needs an emulator
    cartridge, profiles = lazy("ptp.worlds.gameboy.cartridge"), lazy("ptp.worlds.gameboy.profiles")

SUFFIXES = {"start_state": ".state", "save_file": ".sav"}


class Imported(msgspec.Struct):
    """The run that was made of a shared snapshot."""

    run_id: str
    directory: str
    tick: int
    snapshot: SnapshotHeader
    remarks: list[str]
    """Versions that are others here than where it was recorded."""


def import_snapshot(data_dir: Path, snapshot: Snapshot, world: str | None = None, rom: str | None = None) -> Imported:
    """Make a run of a shared snapshot; *world* and *rom* say what it is played in when its header can't."""
    header, tape = snapshot.header, snapshot.tape
    _check_words(header)
    if tape is None:
        raise SnapshotError(
            f"the snapshot of {header.world!r} carries no tape, so no run can be made of it; "
            "export it again, or begin a cartridge from it with --start-state"
        )
    values = {**_read_settings(tape.settings), **_world_of(header, world, rom)}
    with _start_files(tape) as files:
        played = _make(header, {**values, **files}, named=world is not None)
        try:
            state = _put_there(played, snapshot, tape)
            config = build({**values, BY_FLAG["--agent"]: header.agent, BY_FLAG["--data-dir"]: str(data_dir)})
            return _keep(config, played, snapshot, tape, state)
        finally:
            played.close()


# -- is it what it says, and can it be gone on from? ---------------------------------------------------------------


def _check_words(header: SnapshotHeader) -> None:
    """Refuse words that would do something to the terminal they are shown in."""
    words = (header.run_id, header.world, header.agent, header.reason, header.location, header.name or "",
             *(header.message or "").splitlines())  # fmt: skip
    if not all(word.isprintable() for word in words):
        raise SnapshotError("the snapshot's header has characters that can't be shown; get it from elsewhere")


def _read_settings(settings: dict[str, Any]) -> Values:
    values: Values = {}
    for path, value in settings.items():
        if path not in BY_PATH or not is_shared(path):
            raise SnapshotError(f"the snapshot has the setting {path!r}, which this ptp does not take; get a newer ptp")
        values[BY_PATH[path]] = BY_PATH[path].check(value, f"the snapshot's {path}")
    return values


def _world_of(header: SnapshotHeader, world: str | None, rom: str | None) -> Values:
    """Return the settings that name a snapshot's world; a file can't choose code to load or other files to read."""
    if rom is None and world is None:
        world = _built_in(header) if header.family == "gameboy" else header.world
        if ":" in world or world.endswith((".yaml", ".yml")):
            raise SnapshotError(f"the snapshot is of {world!r}, which is not a plain name; name its world with --world")
    return {BY_FLAG["--world"]: world, BY_FLAG["--rom"]: rom}


def _make(header: SnapshotHeader, values: Values, named: bool) -> World:
    try:
        return make_world(choose_world(build(values).world))
    except UnknownName:
        if named:
            raise
        message = (
            f"the snapshot is of {header.world!r}, which is not here; install it, or name its manifest with --world"
        )
        raise SnapshotError(message) from None


def _built_in(header: SnapshotHeader) -> str:
    """Return the built-in cartridge that a snapshot is of."""
    wanted = header.origin.get("rom_sha1")
    for name, path in profiles.BUILT_IN.items():
        if cartridge.read_cartridge(path).sha1 == wanted:
            return name
    raise SnapshotError(
        f"the snapshot is of the cartridge {header.world!r} with SHA-1 {wanted}; give its file with --rom"
    )


@contextmanager
def _start_files(tape: SharedTape) -> Iterator[Values]:
    """Lay out what a cartridge began from, until it is copied."""
    with tempfile.TemporaryDirectory() as folder:
        values: Values = {}
        for name, data in tape.files.items():
            path = Path(folder, name + SUFFIXES[name])
            path.write_bytes(data)
            values[BY_PATH[f"world.{name}"]] = str(path)
        yield values


def _put_there(world: World, snapshot: Snapshot, tape: SharedTape) -> Any:
    """Bring a world to the snapshot's tick and return the state there; None when an episode has just ended."""
    header = snapshot.header
    check_world(header, world.facts)
    if snapshot.engine.get("ticks") != header.tick:
        raise SnapshotError(f"the snapshot is damaged: its engine is not at tick {header.tick}; get it again")
    try:
        if world.facts.snapshot == "state":
            observation = load_world(world, snapshot)
        else:
            observation = play_episode(world, tape.random_seed, header.episode, _last_episode(header, tape))
    except (ValueError, TypeError, KeyError) as problem:
        raise SnapshotError(f"{header.world!r} can't go on from the snapshot: {problem!r}; get it again") from None
    if not tape.steps or tape.steps[-1].terminated or tape.steps[-1].truncated:
        return None
    return world.state(observation)


def _last_episode(header: SnapshotHeader, tape: SharedTape) -> Iterator[TapeStep]:
    for tick, step in enumerate(tape.steps, 1):
        if step.episode == header.episode:
            yield TapeStep(tick, step.episode, step.command, step.reward, step.state_hash, decided=False)


# -- the run directory -----------------------------------------------------------------------------------------


def _keep(config: RunConfig, world: World, snapshot: Snapshot, tape: SharedTape, state: Any) -> Imported:
    now = time.time()
    directory = RunDirectory.create(Path(config.system.data_dir), uuid7(now))
    run_id = directory.run_id
    try:
        recorder = Recorder(directory, _introduce(config, world, directory, snapshot.header, tape, iso(now)), config)
        recorder.add([*_steps(tape, state), *_episodes(tape), *_decisions(tape.decisions, run_id)])
        recorder.finish()
        header = msgspec.structs.replace(snapshot.header, snapshot_id=uuid7(now), run_id=run_id, rewinds=0)
        kept = store_of(directory).save(msgspec.structs.replace(snapshot, header=header, tape=None), compress=True)
    except (PtpError, KeyboardInterrupt):
        directory.discard()
        raise
    directory.release()
    return Imported(run_id, str(directory.path), header.tick, kept, _changes(tape.origin, world.facts.origin))


def _introduce(
    config: RunConfig, world: World, directory: RunDirectory, header: SnapshotHeader, tape: SharedTape, now: str
) -> Metadata:
    return Metadata(
        run_id=directory.run_id,
        status="manual_stop",
        ptp_version=__version__,
        schema_version=SCHEMA_VERSION,
        experiment_name=config.experiment.name,
        world=directory.keep_files(world.spec),
        facts=msgspec.structs.replace(world.facts, origin=tape.origin),
        agent=header.agent,
        random_seed=tape.random_seed,
        agent_seed=tape.agent_seed,
        started_at=now,
        completed_at=now,
        ticks=header.tick,
        episodes=header.episode - 1,
        total_reward=sum(_reward(step.reward) for step in tape.steps),
        total_cost=sum(decision.api_cost or 0.0 for decision in tape.decisions),
        elapsed_seconds=tape.steps[-1].elapsed if tape.steps else 0.0,
        stop=Stop("manual", "import", f"imported at tick {header.tick} of run {header.run_id}"),
        parent=Parent(header.run_id, header.tick),
    )


def _steps(tape: SharedTape, state: Any) -> Iterator[Step]:
    """Return the tape as records; states stay with the other run, but the last one is known here."""
    for tick, played in enumerate(tape.steps, 1):
        yield Step(
            tick, played.episode, played.step, played.command, _reward(played.reward), played.terminated,
            played.truncated, played.elapsed, played.state_hash, state if tick == len(tape.steps) else None,
        )  # fmt: skip


def _episodes(tape: SharedTape) -> Iterator[EpisodeEnded]:
    reward = 0.0
    for tick, step in enumerate(tape.steps, 1):
        reward += _reward(step.reward)
        if step.terminated or step.truncated:
            yield EpisodeEnded(step.episode, tick, step.step, reward, step.elapsed, step.terminated)
            reward = 0.0


def _decisions(decisions: Sequence[Decided], run_id: str) -> Iterator[Row]:
    columns = ("decision_id", "run_id", *Decided.__struct_fields__[1:])
    sql = f"INSERT INTO action_history ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    for decision in decisions:
        number, *rest = msgspec.structs.astuple(decision)
        yield Row(sql, (numbered_id(run_id, number), run_id, *rest))


def _reward(reward: float | None) -> float:
    return nan if reward is None else reward  # the database keeps what is no number as NULL


def _changes(then: dict[str, str], now: dict[str, str]) -> list[str]:
    names = sorted(then.keys() | now.keys())
    return [
        f"{name} was {then.get(name, 'absent')}, is {now.get(name, 'absent')}"
        for name in names
        if then.get(name) != now.get(name)
    ]
