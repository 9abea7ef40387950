"""Run directories: where they are, who owns them, and the status of a run."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import IO

import msgspec

from ptp._util.files import UNFINISHED, check_regular, write_atomic
from ptp.errors import RecordingError, RunLocked, RunUnreadable, UsageError
from ptp.recording.trust import of_world, trusts
from ptp.records import Metadata, WorldSpec

MOST_TEXT = 16 << 20  # bytes of a header, settings or tags
KEPT_FILES = {"start_state", "save_file"}
NO_CHECKSUM = "0" * 32


class RunDirectory:
    """One run's folder; whoever writes to it holds its lock, so a dead writer is known by the lock being free."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: IO[bytes] | None = None

    @property
    def run_id(self) -> str:
        """The run's id, which is the folder's name."""
        return self.path.name

    @property
    def database(self) -> Path:
        """The run's SQLite database."""
        return self.path / "game_data.db"

    @classmethod
    def create(cls, data_dir: Path, run_id: str) -> RunDirectory:
        """Make a new run directory and own it."""
        directory = cls(data_dir / "records" / run_id)
        try:
            directory.path.mkdir(parents=True)
            directory.acquire()
        except OSError as problem:
            reason = problem.strerror or problem
            raise RecordingError(
                f"can't write to {data_dir}: {reason}; choose another folder with --data-dir"
            ) from None
        return directory

    def acquire(self) -> None:
        """Own the directory until `release` or the end of the process, however it ends."""
        lock = open(self.path / "run.lock", "ab")  # noqa: SIM115 - held open as long as the run lives
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            raise RunLocked(f"run {self.run_id} belongs to another process; wait for it or stop it first") from None
        self._lock = lock
        self._clean()

    def _clean(self) -> None:
        """Remove what an owner that was killed has left behind."""
        for pattern in (f".*{UNFINISHED}", f"snapshots/.*{UNFINISHED}", "video/.run_from_*", "control.sock"):
            for left in self.path.glob(pattern):
                left.unlink(missing_ok=True)

    def release(self) -> None:
        """Give the directory up."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @contextmanager
    def owned(self) -> Iterator[None]:
        """Own the directory for a while."""
        self.acquire()
        try:
            yield
        finally:
            self.release()

    @property
    def data_dir(self) -> Path:
        """The data directory that the run lies in."""
        return self.path.parent.parent

    def trusts_world(self, spec: WorldSpec) -> bool:
        """Whether a person ran the code of that world here."""
        return trusts(self.data_dir, of_world(spec))

    def keep_files(self, spec: WorldSpec) -> WorldSpec:
        """Copy the files that a world begins from into the directory, so that it replays when they are gone."""
        options = dict(spec.options)
        for option in sorted(KEPT_FILES & options.keys()):
            copy = f"./{option}{Path(options[option]).suffix}"
            (self.path / copy).write_bytes(Path(options[option]).read_bytes())
            options[option] = copy
        return WorldSpec(spec.name, spec.entry, options)

    def resolve(self, spec: WorldSpec) -> WorldSpec:
        """Return a recorded world with the paths of its kept files written out; none may lead out of the run."""
        kept = {}
        for option in KEPT_FILES & spec.options.keys():
            path = self.path / str(spec.options[option])
            if path.parent != self.path or path.is_symlink():
                raise RunUnreadable(f"{self.path} names {option} {spec.options[option]!r}, which is not its own file")
            kept[option] = str(path)
        return WorldSpec(spec.name, spec.entry, {**spec.options, **kept})

    def discard(self) -> None:
        """Remove a directory whose run could not begin."""
        import shutil

        shutil.rmtree(self.path, ignore_errors=True)
        self.release()

    def is_alive(self) -> bool:
        """Whether a process owns the directory."""
        if self._lock is not None:
            return True
        try:
            with open(self.path / "run.lock", "rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return False

    def read_metadata(self) -> Metadata:
        """Return the header, with the status that is true now: a run that says running but has no owner crashed."""
        try:
            check_regular(self.path / "metadata.json", MOST_TEXT)
            metadata = msgspec.json.decode((self.path / "metadata.json").read_bytes(), type=Metadata)
            for moment in filter(None, (metadata.started_at, metadata.completed_at)):
                datetime.fromisoformat(moment)
        except FileNotFoundError:
            raise RunUnreadable(f"{self.path} has no metadata.json; it is not a run, or remove the folder") from None
        except (OSError, ValueError, RecursionError, msgspec.DecodeError) as problem:
            raise RunUnreadable(f"{self.path}/metadata.json can't be read: {problem}; restore it from a copy") from None
        if metadata.status == "running" and not self.is_alive():
            metadata.status = "crashed"
        return metadata

    def write_metadata(self, metadata: Metadata) -> None:
        """Replace the header."""
        metadata.checksum = NO_CHECKSUM
        encoded = msgspec.json.format(msgspec.json.encode(metadata), indent=2) + b"\n"
        metadata.checksum = checksum_of(encoded, NO_CHECKSUM)
        encoded = encoded.replace(NO_CHECKSUM.encode(), metadata.checksum.encode())
        try:
            write_atomic(self.path / "metadata.json", encoded)
        except OSError as problem:
            raise RecordingError(f"{self.path}/metadata.json can't be written: {problem.strerror}") from None


def checksum_of(header: bytes, checksum: str) -> str:
    """Return the checksum that belongs into a header which names *checksum*."""
    bare = header.replace(checksum.encode(), NO_CHECKSUM.encode())
    return blake2b(bare, digest_size=16).hexdigest()


def header_digest(metadata: Metadata) -> str:
    """Return what stands for a header in the seal, without what the seal adds to it and what people call the run."""
    bare = msgspec.structs.replace(metadata, seal=None, tape_digest=None, checksum=None, name=None, tags=[], notes=None)
    read = msgspec.json.decode(msgspec.json.encode(bare), type=Metadata)  # as whoever reads it will have it
    return blake2b(msgspec.json.encode(read, order="sorted"), digest_size=16).hexdigest()


def run_paths(data_dir: Path) -> list[Path]:
    """Return every run's folder, oldest first."""
    records = data_dir / "records"
    try:
        with os.scandir(records) as entries:
            names = [entry.name for entry in entries if not entry.name.startswith(".") and entry.is_dir()]
    except FileNotFoundError:
        return []
    except OSError as problem:
        raise UsageError(f"{records}: {problem.strerror}; choose another folder with --data-dir") from None
    return [records / name for name in sorted(names)]
