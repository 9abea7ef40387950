"""Whether a run is what was recorded: its seal, schema, snapshots, header and settings, without playing it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec

from ptp.config.tree import as_tree
from ptp.errors import PtpError, SnapshotError
from ptp.frames.kept import read_kept
from ptp.frames.pictures import content_digest
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.recording.directory import checksum_of, header_digest
from ptp.recording.packed import readable
from ptp.recording.seal import MAINTENANCE
from ptp.recording.unseal import Checked, Fault, check_seal
from ptp.records import Metadata
from ptp.replay import Tape
from ptp.replay.proof import Prover
from ptp.runs.settings import read_config
from ptp.runs.steering import store_of
from ptp.runs.tables import decode_text
from ptp.versioning import SCHEMA_VERSION
from ptp.versioning.database import verify_file


class Verdict(msgspec.Struct):
    """What was found of one run."""

    run_id: str
    good: bool
    sealed: bool
    """Runs that were recorded before there was a seal have none, and are accepted."""
    head: str | None
    """The newest link of the seal, which stands for everything that was recorded."""
    tape_digest: str | None
    links: int
    snapshots: int
    faults: list[Fault]
    """What is not as it was recorded: the first of each table."""
    problems: list[str]
    """What else is wrong."""


def verify(directory: RunDirectory) -> Verdict:
    """Hold everything that is kept of a run against what was recorded."""
    problems: list[str] = []
    checked, tape_digest = Checked(sealed=False), None
    try:
        with Database(directory.database) as database:
            checked = check_seal(database)
            problems += [f"damaged: {text}; restore it from a copy" for text in database.damage()]
            if not checked.sealed and database.version == SCHEMA_VERSION and not database.is_migrated():
                problems.append(f"{directory.database} has no seal, which every run of its schema has")
            problems += _check_tape(database)
            tape_digest = database.tape_digest() if database.has_tape else None
            problems += _check_config(directory, database)
            problems += _check_pictures(directory, database)
        problems += verify_file(readable(directory.database)).problems
        metadata = directory.read_metadata()
        problems += _check_header(directory, metadata, checked, tape_digest)
    except PtpError as problem:
        problems.append(str(problem))
    headers, damaged = store_of(directory).readable()
    problems += damaged
    problems += _check_snapshots(directory, checked)
    return Verdict(
        directory.run_id, not checked.faults and not problems, checked.sealed, checked.head, tape_digest,
        len(checked.links), len(headers), checked.faults, list(dict.fromkeys(problems)),
    )  # fmt: skip


class SnapshotVerdict(msgspec.Struct):
    """What was found of the snapshots of one run."""

    good: list[str]
    """The ids of those that are intact."""
    problems: list[str]
    """What is wrong with the others."""
    restored: bool
    """Whether they were restored in a world, too; one that can't save its state is led there by the tape."""
    remark: str | None
    """Why they were not, where they could be."""


def verify_snapshots(directory: RunDirectory) -> SnapshotVerdict:
    """Read every snapshot of a run, and restore each in a world of its own."""
    store, good = store_of(directory), []
    headers, problems = store.readable()
    with closing(Tape(directory)) as tape:
        facts = tape.metadata.facts
        with closing(Prover(tape.world, facts.render_mode, trusted=tape.is_trusted)) as prover:
            for header in headers:
                try:
                    prover.prove(store.read(header), tape, store.path(header.snapshot_id).name)
                    good.append(header.snapshot_id)
                except SnapshotError as problem:
                    problems.append(str(problem))
    restored = facts.snapshot == "state" and prover.problem is None and bool(good)
    return SnapshotVerdict(good, problems, restored, prover.problem)


def _check_tape(database: Database) -> Iterator[str]:
    gap = (
        "SELECT min(tick) FROM (SELECT tick, row_number() OVER (ORDER BY tick) AS place FROM steps) WHERE tick != place"
    )
    for (tick,) in database.rows(gap) if database.has_tape else ():
        if tick is not None:
            yield f"the tape is not continuous: tick {tick} does not follow on the one before"


def _check_config(directory: RunDirectory, database: Database) -> Iterator[str]:
    """Compare `config.yaml` with the settings that the database holds."""
    for (text,) in database.rows("SELECT config_snapshot FROM sessions WHERE config_snapshot IS NOT NULL"):
        kept = decode_text(text)
        there = msgspec.json.decode(msgspec.json.encode(as_tree(read_config(directory))))
        if there != kept:
            yield f"{directory.path}/config.yaml is not what was recorded; sessions.config_snapshot has the settings"


def _check_pictures(directory: RunDirectory, database: Database) -> Iterator[str]:
    """Compare the kept pictures with the digests that were recorded of them; older runs have none."""
    query = """SELECT DISTINCT file_path, metadata ->> 'content' FROM screenshots
               WHERE file_path IS NOT NULL AND metadata ->> 'content' IS NOT NULL"""
    for name, content in database.rows(query):
        try:
            if content_digest(read_kept(directory.path, name).data) != content:
                yield f"{directory.path}/{name} is not the picture that was kept"
        except PtpError as problem:
            yield str(problem)


def _check_header(
    directory: RunDirectory, metadata: Metadata, checked: Checked, tape_digest: str | None
) -> Iterator[str]:
    name = directory.path / "metadata.json"
    if metadata.checksum is not None:
        if checksum_of(name.read_bytes(), metadata.checksum) != metadata.checksum:
            yield f"{name} is not what was written: its checksum does not match"
    elif checked.sealed:
        yield f"{name} has no checksum; it is not what was written"
    if metadata.tape_digest is not None and metadata.completed_at is not None and metadata.tape_digest != tape_digest:
        yield f"the tape is not the one that {name} names: its digest is {tape_digest}"
    yield from _check_ending(name, metadata, checked)
    if metadata.seal is not None:
        heads = [link.digest for link in checked.links]
        if metadata.seal not in heads:
            yield f"the seal does not lead to the head that {name} names"
        elif directory.is_alive() or metadata.completed_at is None:
            return
        elif any(link.reason not in MAINTENANCE for link in checked.links[heads.index(metadata.seal) + 1 :]):
            yield f"the run was recorded further than {name} says"


def _check_ending(name: Path, metadata: Metadata, checked: Checked) -> Iterator[str]:
    """Compare the header with the one that was sealed when the run ended, or was last taken back."""
    played = [link for link in checked.links if link.reason not in MAINTENANCE][-1:]
    for link in played if metadata.completed_at is not None else ():
        noted = {} if link.note is None else decode_text(link.note)
        if isinstance(noted, dict) and noted.get("header") not in (None, header_digest(metadata)):
            yield f"{name} is not the header that was sealed in batch {link.batch}"


def _check_snapshots(directory: RunDirectory, checked: Checked) -> Iterator[str]:
    """Unpack every snapshot, and look whether the chain holds the head that it names."""
    store, heads = store_of(directory), {link.digest for link in checked.links}
    from_start = bool(checked.links) and checked.links[0].reason == "started"  # else older snapshots name other links
    for header in store.headers():
        try:
            store.load(header)
        except PtpError as problem:
            yield str(problem)
            continue
        if header.seal and from_start and header.seal not in heads and header.run_id == directory.run_id:
            yield f"{store.path(header.snapshot_id).name} names a head that the seal does not lead to"
