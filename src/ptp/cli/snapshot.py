"""`ptp snapshot`: take, list, check, restore and share snapshots."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptp.cli.common import RUN_HELP, data_dir, parse_common
from ptp.cli.parser import Parser, choose
from ptp.errors import SnapshotError

if TYPE_CHECKING:
    from ptp.recording import RunDirectory
    from ptp.snapshots import Snapshot, SnapshotHeader

DESCRIPTION = """Take, list, check, restore and share snapshots.

  ptp snapshot create [--run RUN] [--name NAME] [--message TEXT]   take one now, or at the end of a finished run
  ptp snapshot list [--run RUN]                                    list them, newest first
  ptp snapshot show SNAPSHOT [--run RUN]                           everything known about one
  ptp snapshot restore SNAPSHOT [--run RUN]                        go back to one; what came after is given up
  ptp snapshot delete SNAPSHOT [--run RUN]                         remove one
  ptp snapshot verify [--run RUN]                                  check every file
  ptp snapshot export SNAPSHOT FILE [--run RUN]                    write one with its tape to a file for others
  ptp snapshot import FILE [--rom FILE] [--world NAME]             check such a file and make a run of it
  ptp snapshot import URL [--token TOKEN]                          the same, fetched from a dashboard

A SNAPSHOT is a name, an id, the beginning of an id, or `latest`.
"""

WIDTH = 120  # columns from which on ids are whole
WORDS = {
    "snapshot": "A snapshot: its name, its id, the beginning of its id, or `latest`.",
    "file": "The file to write; it must not be there yet.",
}

IMPORT = """Make a run of a snapshot from elsewhere: it has the tape that led to it, so it can be resumed and forked.

examples:
  ptp snapshot import gym.ptpsnap
  ptp snapshot import red.ptpsnap --rom red.gb
  ptp snapshot import "http://lab:8642/api/v1/snapshot/export/before-gym?run=latest" --token "$PTP_TOKEN"
"""


def main(argv: list[str]) -> int:
    """Run the verb."""
    actions = {
        "create": _create, "list": _list, "show": _show, "restore": _restore, "delete": _delete, "verify": _verify,
        "export": _export, "import": _import,
    }  # fmt: skip
    return choose("snapshot", DESCRIPTION, actions, argv)


def _parse(verb: str, about: str, argv: list[str], *positional: str, **flags: str) -> tuple[Any, RunDirectory]:
    parser = Parser(f"ptp snapshot {verb}", about)
    for name in positional:
        parser.add_argument(name, metavar=name.upper(), help=WORDS[name])
    parser.add_argument("--run", default="latest", metavar="RUN", help=RUN_HELP)
    for flag, text in flags.items():
        parser.add_argument(f"--{flag}", metavar=flag.upper(), help=text)
    options, system = parse_common(parser, argv)

    from ptp.runs.library import find_run

    return options, find_run(data_dir(system), options.run)


def _print(options: Any, value: Any, sentence: str) -> int:
    from ptp.cli.output import print_json, say

    if options.json:
        print_json(value)
    elif not getattr(options, "--quiet", False):
        say(sentence)
    return 0


def _create(argv: list[str]) -> int:
    options, directory = _parse(
        "create", "Take a snapshot.", argv, name="Name to find it by.", message="What it is for."
    )
    if directory.is_alive():
        from ptp.runner.control import ask

        header = ask(directory, "snapshot", name=options.name, message=options.message)["snapshot"]
    else:
        import msgspec

        from ptp.runs.offline import create_snapshot

        header = msgspec.to_builtins(create_snapshot(directory, options.name, options.message))
    return _print(options, header, f"took {header['name'] or header['snapshot_id']} at tick {header['tick']}")


def _headers(directory: RunDirectory) -> list[SnapshotHeader]:
    if directory.is_alive():
        import msgspec

        from ptp.runner.control import ask
        from ptp.snapshots import SnapshotHeader

        return msgspec.convert(ask(directory, "snapshots")["snapshots"], list[SnapshotHeader])
    from ptp.runs.offline import store_of

    return store_of(directory).headers()


def _list(argv: list[str]) -> int:
    options, directory = _parse("list", "List snapshots, newest first.", argv)

    from ptp.cli.output import local_time, print_json, print_table, say, short_ids

    headers = _headers(directory)
    if options.json:
        print_json(headers)
    elif not headers:
        say(f"run {directory.run_id} has no snapshots")
    else:
        ids = short_ids([h.snapshot_id for h in headers], WIDTH)
        rows = [
            (snapshot_id, h.tick, local_time(h.created_at), h.reason, h.name or "", h.location,
             f"{h.payload_bytes / 1000:,.1f} kB" if h.payload_bytes else "memory")
            for h, snapshot_id in zip(headers, ids, strict=True)
        ]  # fmt: skip
        names = ("snapshot", "tick", "taken", "for", "name", "where", "size")
        print_table(names, rows, right=("tick", "size"), spare=("where", "size", "taken"))
    return 0


def _show(argv: list[str]) -> int:
    options, directory = _parse("show", "Show everything known about a snapshot.", argv, "snapshot")

    import msgspec

    from ptp.cli.output import print_json, say
    from ptp.runs.offline import store_of

    header = store_of(directory).find(options.snapshot)
    if options.json:
        print_json(header)
    else:
        for name, value in msgspec.to_builtins(header).items():
            say(f"{name:<14} {value}")
    return 0


def _restore(argv: list[str]) -> int:
    options, directory = _parse("restore", "Go back to a snapshot; what came after it is given up.", argv, "snapshot")
    if directory.is_alive():
        from ptp.runner.control import ask

        tick = ask(directory, "restore", snapshot=options.snapshot)["tick"]
        return _print(options, {"tick": tick}, f"run {directory.run_id} went back to tick {tick}")
    from ptp.cli.output import program
    from ptp.runs.offline import restore_snapshot

    tick = restore_snapshot(directory, options.snapshot).tick
    sentence = f"went back to tick {tick}; go on from there with `{program()} resume {directory.run_id}`"
    return _print(options, {"tick": tick}, sentence)


def _delete(argv: list[str]) -> int:
    options, directory = _parse("delete", "Remove a snapshot.", argv, "snapshot")

    from ptp.runs.offline import store_of

    store = store_of(directory)
    header = store.find(options.snapshot)
    size = store.delete(header)
    return _print(
        options, {"deleted": header.snapshot_id, "bytes": size}, f"deleted {options.snapshot}, {size:,} bytes"
    )


def _verify(argv: list[str]) -> int:
    options, directory = _parse("verify", "Check every snapshot file of a run.", argv)

    from ptp.cli.output import print_json, say
    from ptp.runs.offline import store_of

    store = store_of(directory)
    headers, problems = store.readable()
    good = []
    for header in headers:
        try:
            store.load(header)
            good.append(header.snapshot_id)
        except SnapshotError as problem:
            problems.append(str(problem))
    if options.json:
        print_json({"good": good, "problems": problems})
    elif not getattr(options, "--quiet", False):
        say(f"{len(good)} snapshots are whole" + (f", {len(problems)} are not:" if problems else ""))
        for line in problems:
            say(f"  {line}")
    return 1 if problems else 0


def _export(argv: list[str]) -> int:
    about = "Write a snapshot with its tape to a file that another machine can go on from."
    options, directory = _parse("export", about, argv, "snapshot", "file")

    from ptp.runs.sharing import export_snapshot

    header = export_snapshot(directory, options.snapshot, Path(options.file))
    return _print(options, header, f"wrote tick {header.tick} of {header.world} to {options.file}")


def _import(argv: list[str]) -> int:
    parser = Parser("ptp snapshot import", IMPORT)
    parser.add_argument("source", metavar="FILE", help="A file of `ptp snapshot export`, or an http address of one.")
    parser.add_argument("--rom", metavar="FILE", help="The cartridge that it is of.")
    parser.add_argument("--world", metavar="NAME", help="The world that it is of, where its name is not enough.")
    parser.add_argument(
        "--token",
        metavar="TOKEN",
        help="The token of the dashboard; PTP_TOKEN, or #token= in the address, give it too.",
    )
    options, system = parse_common(parser, argv)

    from ptp.cli.output import program
    from ptp.runs.adoption import import_snapshot

    made = import_snapshot(data_dir(system), _read(options.source, options.token), options.world, options.rom)
    folder = "" if system.data_dir == "var" else f" --data-dir {system.data_dir}"
    source = options.source.partition("#")[0]
    lines = [
        f"{source} is whole: tick {made.tick} of {made.snapshot.world}, now run {made.run_id}",
        *(f"  {remark}" for remark in made.remarks),
        f"  go on from it:     {program()} resume {made.run_id}{folder}",
        f"  take another way:  {program()} fork {made.run_id} --at-tick {made.tick} --random-seed 8{folder}",
    ]
    return _print(options, made, "\n".join(lines))


def _read(source: str, token: str | None) -> Snapshot:
    """Return the snapshot in a file, or at an address."""
    from ptp.snapshots.snapshot import read_file, unpack

    if "://" not in source:
        return read_file(Path(source))
    import os

    from ptp.snapshots.fetch import fetch

    return unpack(fetch(source, token or os.environ.get("PTP_TOKEN")), source.partition("#")[0])
