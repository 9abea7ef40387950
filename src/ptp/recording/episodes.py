"""The steps of a run as newline-delimited JSON, for whoever prefers files to SQL."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import msgspec

from ptp.recording.database import open_database
from ptp.recording.directory import RunDirectory

STEPS_PER_FILE = 100_000  # a new file begins with the first episode after so many steps

COLUMNS = ("episode", "step", "tick", "command", "reward", "terminated", "truncated", "elapsed", "state_hash", "state",
           "frame_ref")  # fmt: skip
_RAW = {"command", "state"}
_FLAGS = {"terminated", "truncated"}
_encode = msgspec.json.Encoder().encode


def export_episodes(directory: RunDirectory) -> list[Path]:
    """Write `episodes/*.jsonl`, each named by its first episode; episodes are never split over files."""
    folder = directory.path / "episodes"
    folder.mkdir(exist_ok=True)
    connection = open_database(directory.database)
    paths: list[Path] = []
    file: IO[bytes] | None = None
    written = previous = 0
    try:
        for row in connection.execute(f"SELECT {', '.join(COLUMNS)} FROM steps ORDER BY tick"):
            episode = row[0]
            if file is None or (episode != previous and written >= STEPS_PER_FILE):
                if file is not None:
                    file.close()
                paths.append(folder / f"episode_{episode:06d}.jsonl")
                file = open(paths[-1], "wb")  # noqa: SIM115 - closed when the next one begins
                written = 0
            file.write(_line(row))
            written += 1
            previous = episode
    finally:
        if file is not None:
            file.close()
        connection.close()
    return paths


def _line(row: tuple[object, ...]) -> bytes:
    fields: dict[str, object] = {}
    for name, value in zip(COLUMNS, row, strict=True):
        if name in _RAW and isinstance(value, str):
            fields[name] = msgspec.Raw(value.encode())
        else:
            fields[name] = bool(value) if name in _FLAGS else value
    return _encode(fields) + b"\n"
