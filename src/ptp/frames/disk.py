"""How much a run has written, and how much space is left."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from ptp.records import Notice

NEARLY = 0.8  # of the quota: the point at which a person is warned
RESERVE = 32_000_000  # bytes of the disk that are left to the database, the log and the snapshots


class DiskUse(msgspec.Struct, frozen=True):
    """Bytes of a run, and those that are free on its disk."""

    used: int
    free: int


def tree_bytes(path: Path, without: str | None = None) -> int:
    """Return the bytes of every file below a folder, those *without* aside; what vanishes meanwhile counts nothing."""
    total = 0
    folders = [str(path)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.name == without:
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
        except (FileNotFoundError, NotADirectoryError):
            continue
    return total


def free_bytes(path: Path) -> int:
    """Return the bytes that this user may still write on the disk of *path*."""
    facts = os.statvfs(path)
    return facts.f_bavail * facts.f_frsize


class DiskWatch:
    """Watches a run grow; `full` says that it must go on without new pictures."""

    def __init__(self, run: Path, quota: int, reserve: int = RESERVE) -> None:
        self._run = run
        self._quota = quota
        self._reserve = reserve
        self._told: set[str] = set()
        self.full = False

    def measure(self, pictures: int) -> DiskUse:
        """Return the use now; *pictures* is what the run's pictures take, which is known already."""
        use = DiskUse(pictures + tree_bytes(self._run, without="frames"), free_bytes(self._run))
        self.full = use.used >= self._quota or use.free < self._reserve
        return use

    def judge(self, use: DiskUse, at: float, tick: int) -> list[Notice]:
        """Return what a person should know, each thing once until it is over."""
        share = use.used / self._quota
        said = {
            "disk_full": (use.free < self._reserve, f"only {use.free:,} bytes are free; no new pictures are kept"),
            "run_full": (share >= 1, f"the run takes {use.used:,} bytes, its whole quota; no new pictures are kept"),
            "run_nearly_full": (NEARLY <= share < 1, f"the run takes {share:.0%} of its {self._quota:,} bytes"),
        }
        notices: list[Notice] = []
        for kind, (holds, message) in said.items():
            if holds and kind not in self._told:
                notices.append(Notice(at, tick, "warning", kind, message))
            (self._told.add if holds else self._told.discard)(kind)
        return notices
