"""`ptp pause`, `step`, `set`, `stop`, `rollback` and `snapshot`."""

from __future__ import annotations

import os
import time
from pathlib import Path

import msgspec
from msgspec import structs

from ptp.cli.common import named_run, when_stopped
from ptp.cli.output import answer, fact_lines, in_bytes, local_time, program, short_ids, show, table
from ptp.cli.parser import Options
from ptp.config.flags import given_values
from ptp.config.load import CHANGEABLE
from ptp.config.tree import BY_FLAG, values_of
from ptp.errors import PtpError, UsageError
from ptp.runner.protocol import Status
from ptp.runs import Run
from ptp.runs.sharing import import_snapshot
from ptp.runs.steering import Restored, Steered, steer, store_of
from ptp.runs.verification import verify_snapshots as verify_snapshot_files
from ptp.snapshots.fetch import fetch
from ptp.snapshots.snapshot import read_file, unpack

WIDTH = 120  # columns from which on ids are whole
LOOK = 0.05  # seconds between two looks at a run that steps


def _answer(options: Options, done: str, steered: Steered, **more: object) -> int:
    line = f"{done}: run {steered.run_id} is at tick {steered.tick}{', paused' if steered.paused else ''}"
    return answer(options, {**structs.asdict(steered), **more}, line)


def pause(options: Options) -> int:
    """Pause a live run."""
    return _answer(options, "pause", named_run(options).pause())


def stop(options: Options) -> int:
    """Stop a live run."""
    return _answer(options, "stop", named_run(options).stop())


def step(options: Options) -> int:
    """Play a few ticks, and say where the run stands then: paused again, ended, or resumed by somebody else."""
    run = named_run(options)
    with when_stopped(f"no longer waiting; run {run.id} pauses after {options.ticks} ticks"):
        now = run.step(options.ticks)
        last = now.tick + options.ticks
        while not now.paused and now.tick <= last:
            time.sleep(LOOK)
            try:
                now = steer(run.directory, Status())
            except PtpError:
                if run.is_live:
                    raise
                now = Steered(run.id, run.last_tick, None)
                break
        return _answer(options, "step", now)


def rollback(options: Options) -> int:
    """Go back by a few snapshots."""
    return _answer(options, "rollback", named_run(options).rollback(options.count))


def change(options: Options) -> int:
    """Change settings of a live run."""
    texts = list(options.settings)
    if len(texts) > 1 and "=" not in texts[0]:
        options.run = texts.pop(0)
    changes = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"{text!r} is not a setting; write it as max-ticks=500")
        if not value:
            raise UsageError(f"{name} needs a value; write it as {name}=500")
        changes[name.removeprefix("--")] = value
    for item, given in given_values(options).items():
        if item.section in CHANGEABLE:
            changes[item.flag.removeprefix("--")] = str(given)
    if not changes:
        raise UsageError("nothing to set; name a setting, for example max-ticks=500")
    run = named_run(options)
    steered, config = run.set(**changes), values_of(run.config)
    now = {name: config[BY_FLAG[f"--{name.replace('_', '-')}"]] for name in changes}
    done = ", ".join(f"{name}={value}" for name, value in now.items())
    return _answer(options, f"set {done}", steered, settings=now)


def create_snapshot(options: Options) -> int:
    """Take a snapshot."""
    header = named_run(options).snapshot(options.name, options.message)
    return answer(options, header, f"took snapshot {header.name or header.snapshot_id} at tick {header.tick}")


def list_snapshots(options: Options) -> int:
    """List snapshots."""
    run = named_run(options)
    headers = [header for header in run.snapshots() if set(options.tag) <= set(header.tags)]
    rows = [
        (snapshot_id, h.tick, local_time(h.created_at), h.reason, h.name or "", h.location,
         ", ".join(h.tags), in_bytes(h.payload_bytes) if h.payload_bytes else "memory")
        for h, snapshot_id in zip(headers, short_ids([h.snapshot_id for h in headers], WIDTH), strict=True)
    ]  # fmt: skip
    names = ("snapshot", "tick", "taken", "for", "name", "where", "tags", "size")
    lines = table(names, rows, right=("tick", "size"), spare=("tags", "where", "size", "taken"))
    tagged = f" tagged {' and '.join(options.tag)}" if options.tag else ""
    return show(options, headers, *(lines if headers else [f"run {run.id} has no snapshots{tagged}"]))


def show_snapshot(options: Options) -> int:
    """Show the details of a snapshot."""
    header = store_of(named_run(options).directory).find(options.snapshot)
    facts = {name: str(value) for name, value in msgspec.to_builtins(header).items()}
    return show(options, header, *fact_lines(facts, name_width=14))


def restore_snapshot(options: Options) -> int:
    """Go back to a snapshot."""
    run = named_run(options)
    return _went_back(options, run, run.restore(options.snapshot, tick=options.tick))


def rewind(options: Options) -> int:
    """Go back some ticks."""
    if options.ticks < 1:
        raise UsageError(f"can't go back {options.ticks} ticks; give 1 or more")
    run = named_run(options)
    return _went_back(options, run, run.rewind(options.ticks))


def _went_back(options: Options, run: Run, restored: Restored) -> int:
    line = f"run {run.id} went back to tick {restored.tick}"
    if not restored.live:
        line = f"went back to tick {restored.tick}; continue from there with `{program()} resume {run.id}`"
    return answer(options, restored, line)


def tag_snapshot(options: Options) -> int:
    """Change or list the tags of a snapshot."""
    store = store_of(named_run(options).directory)
    header = store.find(options.snapshot)
    changes = options.tags or options.remove
    if changes:
        header = store.tag(header.snapshot_id, options.tags, options.remove)
    reply, tags = answer if changes else show, ", ".join(header.tags) or "no tags"
    return reply(options, {"snapshot_id": header.snapshot_id, "tags": header.tags}, f"{options.snapshot}: {tags}")


def delete_snapshot(options: Options) -> int:
    """Delete a snapshot."""
    store = store_of(named_run(options).directory)
    header = store.find(options.snapshot)
    size = store.delete(header.snapshot_id)
    deleted = {"deleted": header.snapshot_id, "bytes": size}
    return answer(options, deleted, f"deleted {options.snapshot}, {size:,} bytes")


def verify_snapshots(options: Options) -> int:
    """Read every snapshot of a run, and restore each in a second world."""
    found = verify_snapshot_files(named_run(options).directory)
    good, problems = len(found.good), found.problems
    line = f"{good} snapshots are intact" + (" and restore to what was saved" if found.restored else "")
    line += f", {len(problems)} are not:" if problems else ""
    remark = [f"  none was restored: {found.remark}"] if found.remark else []
    return answer(options, found, line, *(f"  {problem}" for problem in problems), *remark, failed=bool(problems))


def export_snapshot(options: Options) -> int:
    """Write a snapshot with its tape to a file."""
    header = named_run(options).share(options.snapshot, options.file)
    return answer(options, header, f"wrote tick {header.tick} of {header.world} to {options.file}")


def import_file(options: Options) -> int:
    """Make a run of an exported snapshot."""
    place = options.source.partition("#")[0]
    if "://" in options.source:
        snapshot = unpack(fetch(options.source, options.token or os.environ.get("PTP_TOKEN")), place)
    else:
        snapshot = read_file(Path(options.source))
    made = import_snapshot(options.folder, snapshot, options.world, options.rom)
    folder = "" if str(options.folder) == "var" else f" --data-dir {options.folder}"
    return answer(
        options, made,
        f"{place} is intact: tick {made.tick} of {made.snapshot.world}, "
        f"now run {made.run_id}",
        *(f"  {remark}" for remark in made.remarks),
        f"  continue it:  {program()} resume {made.run_id}{folder}",
        f"  diverge:      {program()} fork {made.run_id} --at-tick {made.tick} --random-seed 8{folder}",
    )  # fmt: skip
