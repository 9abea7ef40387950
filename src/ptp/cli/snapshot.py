"""`ptp snapshot`."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from ptp.cli import output
from ptp.cli.common import named_run
from ptp.cli.output import answer, fact_lines, in_bytes, local_time, program, short_ids, table
from ptp.cli.parser import Options
from ptp.errors import SnapshotError
from ptp.runs.sharing import import_snapshot
from ptp.runs.steering import store_of
from ptp.snapshots import Snapshot
from ptp.snapshots.fetch import fetch
from ptp.snapshots.snapshot import read_file, unpack

WIDTH = 120  # columns from which on ids are whole


def create(options: Options) -> int:
    """Take a snapshot."""
    header = named_run(options).snapshot(options.name, options.message)
    return answer(options, header, f"took snapshot {header.name or header.snapshot_id} at tick {header.tick}")


def list_all(options: Options) -> int:
    """List snapshots."""
    run = named_run(options)
    headers = run.snapshots()
    rows = [
        (snapshot_id, h.tick, local_time(h.created_at), h.reason, h.name or "", h.location,
         in_bytes(h.payload_bytes) if h.payload_bytes else "memory")
        for h, snapshot_id in zip(headers, short_ids([h.snapshot_id for h in headers], WIDTH), strict=True)
    ]  # fmt: skip
    names = ("snapshot", "tick", "taken", "for", "name", "where", "size")
    lines = table(names, rows, right=("tick", "size"), spare=("where", "size", "taken"))
    return output.show(options, headers, *(lines if headers else [f"run {run.id} has no snapshots"]))


def show(options: Options) -> int:
    """Show the details of a snapshot."""
    header = store_of(named_run(options).directory).find(options.snapshot)
    facts = {name: str(value) for name, value in msgspec.to_builtins(header).items()}
    return output.show(options, header, *fact_lines(facts, name_width=14))


def restore(options: Options) -> int:
    """Go back to a snapshot."""
    run = named_run(options)
    restored = run.restore(options.snapshot)
    line = f"run {run.id} went back to tick {restored.tick}"
    if not restored.live:
        line = f"went back to tick {restored.tick}; continue from there with `{program()} resume {run.id}`"
    return answer(options, restored, line)


def delete(options: Options) -> int:
    """Delete a snapshot."""
    store = store_of(named_run(options).directory)
    header = store.find(options.snapshot)
    size = store.delete(header)
    deleted = {"deleted": header.snapshot_id, "bytes": size}
    return answer(options, deleted, f"deleted {options.snapshot}, {size:,} bytes")


def verify(options: Options) -> int:
    """Check every snapshot file of a run."""
    store = store_of(named_run(options).directory)
    headers, problems = store.readable()
    good = []
    for header in headers:
        try:
            store.load(header)
            good.append(header.snapshot_id)
        except SnapshotError as problem:
            problems.append(str(problem))
    line = f"{len(good)} snapshots are intact" + (f", {len(problems)} are not:" if problems else "")
    found = {"good": good, "problems": problems}
    return answer(options, found, line, *(f"  {problem}" for problem in problems), failed=bool(problems))


def export(options: Options) -> int:
    """Write a snapshot with its tape to a file."""
    header = named_run(options).share(options.snapshot, options.file)
    return answer(options, header, f"wrote tick {header.tick} of {header.world} to {options.file}")


def import_file(options: Options) -> int:
    """Make a run of an exported snapshot."""
    made = import_snapshot(options.folder, _read(options.source, options.token), options.world, options.rom)
    folder = "" if str(options.folder) == "var" else f" --data-dir {options.folder}"
    return answer(
        options, made,
        f"{options.source.partition('#')[0]} is intact: tick {made.tick} of {made.snapshot.world}, "
        f"now run {made.run_id}",
        *(f"  {remark}" for remark in made.remarks),
        f"  continue it:  {program()} resume {made.run_id}{folder}",
        f"  diverge:      {program()} fork {made.run_id} --at-tick {made.tick} --random-seed 8{folder}",
    )  # fmt: skip


def _read(source: str, token: str | None) -> Snapshot:
    """Return the snapshot in a file, or at a URL."""
    if "://" not in source:
        return read_file(Path(source))
    return unpack(fetch(source, token or os.environ.get("PTP_TOKEN")), source.partition("#")[0])
