"""Random bytes of run directories are changed: every reader has to say so in one line, or return what was recorded."""

from __future__ import annotations

import io
import random
import shutil
import traceback
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from ptp.cli import main
from ptp.config.tree import as_tree
from ptp.errors import PtpError
from ptp.recording import RunDirectory
from ptp.runs import Run
from ptp.runs.exports import TABLES
from ptp.runs.tables import Rows
from ptp.runs.ticks import read_tick
from ptp.runs.verification import verify

FILES = ("game_data.db", "game_data.db", "game_data.db", "metadata.json", "config.yaml", "snapshots/*", "frames/**/*")
VERBS = (
    ("runs",), ("show",), ("status", "--run"), ("actions", "--run"), ("export", "--what", "steps", "--format", "csv"),
    ("export", "--what", "decisions", "--format", "json"), ("replay", "--verify"), ("resume", "--max-ticks"),
)  # fmt: skip
MORE = 5  # ticks that a run which is resumed has to play
REFUSED = "refused"


class Specimen(msgspec.Struct):
    """A run as it was recorded, and what its readers return."""

    path: Path
    ticks: int
    values: dict[str, Any]


class Flip(msgspec.Struct):
    """A byte that was changed, and what was wrong then."""

    file: str
    place: int
    before: int
    after: int
    faults: list[str] = []
    is_known: bool = False
    """Whether verification saw it."""

    def __str__(self) -> str:
        return f"{self.file} at {self.place}: {self.before:#04x} became {self.after:#04x}"


def specimen_of(path: Path) -> Specimen:
    """Return a run with what its readers return now."""
    run = Run(RunDirectory(path))
    return Specimen(path, run.last_tick, dict(read_all(run)))


def read_all(run: Run, draws: bool = True) -> Iterator[tuple[str, Any]]:
    """Return everything that readers return of a run, by the name of the reader; a picture may have to be drawn."""
    last = run.last_tick if attempt(lambda: run.last_tick) != REFUSED else 0
    readers: dict[str, Callable[[], Any]] = {name: partial(_table, run, record) for name, record in TABLES.items()}
    readers |= {
        "metadata": lambda: msgspec.to_builtins(run.metadata),
        "config": lambda: as_tree(run.config),
        "snapshots": lambda: sorted(map(repr, run.snapshots())),
        "state": lambda: [run.state(tick) for tick in (0, last // 3, last)],
        "tick": lambda: msgspec.to_builtins(read_tick(run.directory, last // 2)),
    }
    if draws:
        readers["picture"] = lambda: run.picture(last).data
    for name, reader in readers.items():
        yield name, attempt(reader)


def _table(run: Run, record: Any) -> list[Any]:
    return [repr(row) for row in Rows(run.directory, record)]


def attempt(reader: Callable[[], Any]) -> Any:
    """Return what a reader returns, that it refused, or what else it raised."""
    try:
        return reader()
    except PtpError:
        return REFUSED
    except Exception as problem:  # noqa: BLE001 - whatever it is, it is what was looked for
        return problem


def flip_once(specimen: Specimen, folder: Path, luck: random.Random, verbs: int = 1) -> Flip:
    """Change one byte of a copy of a run, and look at it with every reader and some verbs."""
    path = folder / "records" / specimen.path.name
    shutil.copytree(specimen.path, path)
    try:
        flip = _change(path, luck)
        run = Run(RunDirectory(path))
        told = dict(read_all(run, draws=verbs > 0))
        verdict = attempt(lambda: verify(run.directory))
        if isinstance(verdict, Exception) or verdict == REFUSED:
            flip.faults.append(f"verification: {_located(verdict)}")
        flip.is_known = not getattr(verdict, "good", False)
        for name, value in told.items():
            if isinstance(value, Exception):
                flip.faults.append(f"{name} raised {_located(value)}")
            elif not flip.is_known and value != specimen.values[name]:
                flip.faults.append(f"{name} is not what was recorded, and verification calls the run good")
        for verb in luck.sample(VERBS, verbs):
            flip.faults += _run_verb(verb, specimen, folder)
        return flip
    finally:
        shutil.rmtree(folder)


def _change(path: Path, luck: random.Random) -> Flip:
    files = sorted(
        file
        for file in path.glob(luck.choice(FILES))
        if file.is_file() and file.stat().st_size and file.name != ".lock"
    )
    file = luck.choice(files or [path / "game_data.db"])
    data = bytearray(file.read_bytes())
    places = [luck.randrange(len(data)) for _ in range(20)]  # much of a database is zeros that mean nothing
    place = next((place for place in places if data[place]), places[0])
    before = data[place]
    data[place] = before ^ (1 << luck.randrange(8)) if luck.random() < 0.5 else luck.randrange(256)
    file.write_bytes(data)
    return Flip(str(file.relative_to(path)), place, before, data[place], [])


def _run_verb(verb: tuple[str, ...], specimen: Specimen, folder: Path) -> Iterator[str]:
    name = specimen.path.name
    words = {
        "runs": ["runs"],
        "resume": ["resume", name, "--max-ticks", str(specimen.ticks + MORE), "--quiet"],
        "export": [*verb, name],
    }.get(verb[0], [*verb, name] if verb[-1] == "--run" else [verb[0], name, *verb[1:]])
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        problem = attempt(lambda: main([*words, "--verbose", "--data-dir", str(folder)]))
    if isinstance(problem, Exception):
        yield f"`ptp {' '.join(words)}` raised {_located(problem)}"
    if "internal error" in err.getvalue() or "Traceback" in err.getvalue():
        yield f"`ptp {' '.join(words)}` says {err.getvalue().strip()}"


def _located(problem: Any) -> str:
    trace = traceback.extract_tb(getattr(problem, "__traceback__", None))
    return f"{problem!r:.300} in " + " < ".join(f"{Path(it.filename).name}:{it.lineno}" for it in reversed(trace[-6:]))


def flip_many(specimens: list[Specimen], folder: Path, times: int, seed: int, every: int = 1) -> Iterator[Flip]:
    """Change so many bytes, one after the other, each in a fresh copy; of so many, one is also shown to a verb."""
    luck = random.Random(seed)
    for number in range(times):
        yield flip_once(luck.choice(specimens), folder / str(number), luck, int(number % every == 0))
