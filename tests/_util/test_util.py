"""Leaves."""

from __future__ import annotations

import os
import signal
import threading
import time
import uuid
from pathlib import Path

import pytest

from ptp._util.clock import Clock, iso
from ptp._util.files import write_atomic
from ptp._util.ids import derive_seed, numbered_id, uuid7


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_atomic(path, b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_uuid7_is_a_uuid_that_sorts_by_time() -> None:
    ids = [uuid7(1000 + n) for n in range(50)]
    assert ids == sorted(ids)
    for text in ids:
        assert uuid.UUID(text).version == 7
        assert uuid.UUID(text).variant == uuid.RFC_4122


def test_the_things_of_a_run_have_uuids_of_their_own() -> None:
    run = uuid7()
    ids = [numbered_id(run, number) for number in (0, 1, 2**40)]
    assert len(set(ids)) == 3
    assert all(uuid.UUID(text).version == 7 for text in ids)


def test_seeds_differ_by_what_they_are_for() -> None:
    seeds = {derive_seed(seed, *path) for seed in (1, 2) for path in (("agent",), ("episode", 1), ("episode", 2))}
    assert len(seeds) == 6
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert derive_seed(1, "agent") == derive_seed(1, "agent")


def test_a_sleep_can_be_ended() -> None:
    clock = Clock()
    threading.Timer(0.05, clock.wake).start()
    began = time.monotonic()
    clock.sleep(30)
    assert time.monotonic() - began < 10


def test_timestamps_are_utc_with_milliseconds() -> None:
    assert iso(0.5) == "1970-01-01T00:00:00.500Z"


def test_a_signal_may_wake_a_clock_at_any_moment_of_its_sleep() -> None:
    clock = Clock()
    old = signal.signal(signal.SIGALRM, lambda number, frame: clock.wake())
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0001, 0.0001)
        for _ in range(3000):  # a lock of the clock's own would be met within some hundreds
            clock.sleep(0.0002)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
