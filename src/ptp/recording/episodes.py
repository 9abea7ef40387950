"""The steps of a run as newline-delimited JSON, for whoever prefers files to SQL."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from ptp.recording.database import Database
from ptp.recording.directory import RunDirectory

STEPS_PER_FILE = 100_000  # a new file begins with the first episode after so many steps

COLUMNS = ("episode", "step", "tick", "command", "reward", "terminated", "truncated", "elapsed", "state_hash", "state",
           "frame_ref")  # fmt: skip
_encode = msgspec.json.Encoder().encode


def export_episodes(directory: RunDirectory) -> list[Path]:
    """Write `episodes/*.jsonl`, each named by its first episode; episodes are never split over files."""
    folder = directory.path / "episodes"
    folder.mkdir(exist_ok=True)
    paths: list[Path] = []
    with Database(directory.database) as database:
        steps = database.rows(f"SELECT {', '.join(COLUMNS)} FROM steps ORDER BY tick")
        for first, rows in groupby(steps, key=_FirstEpisode()):
            paths.append(folder / f"episode_{first:06d}.jsonl")
            with open(paths[-1], "wb") as file:
                file.writelines(map(_line, rows))
    return paths


class _FirstEpisode:
    """Tells, row after row, the first episode of the file that the row belongs to."""

    def __init__(self) -> None:
        self._first = self._last = self._steps = 0

    def __call__(self, row: tuple[Any, ...]) -> int:
        episode: int = row[0]
        if episode != self._last and (not self._first or self._steps >= STEPS_PER_FILE):
            self._first, self._steps = episode, 0
        self._last = episode
        self._steps += 1
        return self._first


def _line(row: tuple[Any, ...]) -> bytes:
    fields = dict(zip(COLUMNS, row, strict=True))
    for flag in ("terminated", "truncated"):
        fields[flag] = bool(fields[flag])
    if fields["state"] is not None:
        fields["state"] = msgspec.Raw(fields["state"].encode())
    return _encode(fields) + b"\n"
