"""The files of a pokemon-gym session: what was done as CSV, a picture for each step, and saved states."""

from __future__ import annotations

import csv
import re
import time
from datetime import datetime
from pathlib import Path

import msgspec

from ptp._util.files import check_regular, write_atomic
from ptp.emulators.gamestate import GymState
from ptp.errors import UsageError

SESSIONS = "sessions"
COLUMNS = ("timestamp", "step_number", "action_type", "action_details", "badges", "inventory", "location", "money",
           "coordinates", "pokemons", "dialog", "execution_time", "score")  # fmt: skip
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
STATE = ".state"
AUTOSAVE, FINAL = f"autosave{STATE}", f"final_state{STATE}"
MOST_STATE = 8 << 20  # bytes


class NameNotAllowed(UsageError):
    """A name that could lead out of the folder, or to nothing."""


def checked_name(name: str, what: str) -> str:
    """Return a name that is safe as a file name; any other is refused."""
    if not NAME.fullmatch(name):
        raise NameNotAllowed(f"{what} {name[:80]!r} is not allowed; use up to 64 letters, digits, - and _")
    return name


class SessionFiles:
    """The folder of one session."""

    def __init__(self, root: Path, session_id: str | None) -> None:
        self.path = _folder(root, session_id)
        self._images = self.path / "images"
        self._images.mkdir(parents=True, exist_ok=True)
        table = self.path / "gameplay_data.csv"
        is_new = not table.exists()
        self._file = table.open("a", newline="", encoding="utf-8")
        self._writer = csv.writer(self._file)
        if is_new:
            self._writer.writerow(COLUMNS)

    @property
    def last_step(self) -> int:
        """The step that a session which is continued had reached."""
        steps = [int(path.name.partition("_")[0]) for path in self._images.glob("[0-9]*_*.png")]
        return max(steps, default=0)

    def note(self, state: GymState, kind: str, details: object, picture: bytes | None, name: str) -> None:
        """Keep what a step did."""
        encode = msgspec.json.encode
        self._writer.writerow(
            (datetime.now().isoformat(), state.step_number, kind, encode(details).decode(),
             encode(state.badges).decode(), encode(state.inventory).decode(), state.location, state.money,
             encode(state.coordinates).decode(), encode(state.pokemons).decode(), state.dialog or "",
             f"{state.execution_time:.6f}", state.score)
        )  # fmt: skip
        self._file.flush()
        if picture is not None:
            (self._images / f"{state.step_number:06d}_{name}.png").write_bytes(picture)

    def save(self, name: str, state: bytes) -> Path:
        """Keep a state."""
        path = self.path / name
        write_atomic(path, state)
        return path

    def close(self) -> None:
        """Close what is open."""
        self._file.close()


def _folder(root: Path, session_id: str | None) -> Path:
    if session_id is not None:
        return root / f"session_{checked_name(session_id.removeprefix('session_'), 'session_id')}"
    stem = root / time.strftime("session_%Y%m%d_%H%M%S")
    taken = 1
    path = stem
    while True:
        try:
            path.mkdir(parents=True)
            return path
        except FileExistsError:
            taken += 1
            path = stem.with_name(f"{stem.name}_{taken}")


def read_state_file(root: Path, folder: Path | None, name: str) -> bytes:
    """Return a state that a session saved: by the path that /save_state gave, or by its name."""
    named = name if name.endswith(STATE) else name + STATE
    for place in (Path(), root, folder or root):
        try:
            found = (place / named).resolve()
            if found.is_relative_to(root.resolve()) and found.is_file():
                check_regular(found, MOST_STATE)
                return found.read_bytes()
        except (OSError, ValueError) as problem:
            raise NameNotAllowed(f"load_state_file {name[:80]!r} can't be read: {problem}") from None
    raise NameNotAllowed(f"load_state_file {name[:80]!r} is no state that a session here saved; see /save_state")


def read_autosave(root: Path, session_id: str | None) -> bytes:
    """Return the newest autosave, of one session or of all."""
    pattern = "session_*" if session_id is None else _folder(root, session_id).name
    found = sorted(root.glob(f"{pattern}/{AUTOSAVE}"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise NameNotAllowed("there is no autosave yet; a session makes one every 50 steps")
    return found[-1].read_bytes()
