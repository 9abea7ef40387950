"""One changed byte anywhere in a run: no reader breaks, and none returns what was not recorded unnoticed."""

from __future__ import annotations

from pathlib import Path

from benchmarks.soak.flips import flip_many, specimen_of

from ptp.recording import RunDirectory
from ptp.runs.verification import verify


def test_no_changed_byte_breaks_a_reader_or_passes_for_the_record(
    originals: dict[str, RunDirectory], tmp_path: Path
) -> None:
    specimens = [specimen_of(directory.path) for directory in originals.values()]
    assert all(verify(directory).good for directory in originals.values())
    flips = list(flip_many(specimens, tmp_path, times=300, seed=2026, every=8))
    assert [f"{flip}: {fault}" for flip in flips for fault in flip.faults] == []
    assert sum(flip.is_known for flip in flips) > 200
