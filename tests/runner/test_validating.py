"""--snapshot-validate: what was written is read, restored in a second world, compared, and written again if need be."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from ptp._util.files import write_atomic
from ptp.errors import SnapshotError, WorldError
from ptp.recording import RunDirectory
from ptp.records import RunResult, WorldSpec
from ptp.runner import run
from ptp.runs import Run
from ptp.runs.steering import create_snapshot, store_of
from ptp.runs.verification import verify_snapshots
from ptp.snapshots import store
from ptp.worlds.toy_text import ToyTextWorld
from tests.runner.test_going_back import config, rows

WORLDS = ["tallgrass", "FrozenLake-v1", "CartPole-v1"]
DAMAGED = "is damaged: its payload does not match its hash; use an older snapshot"


def play(tmp_path: Path, world: str = "FrozenLake-v1", **flags: Any) -> RunResult:
    return run(config(tmp_path, world=world, max_ticks=250, snapshot_validate=True, **flags))


def notices(result: RunResult) -> list[str]:
    query = "SELECT message FROM notices WHERE kind = 'snapshot_failed' ORDER BY notice_id"
    return [message for (message,) in rows(Path(result.directory), query)]


def taken(result: RunResult) -> list[int]:
    return sorted(header.tick for header in store_of(RunDirectory(Path(result.directory))).headers())


@pytest.fixture
def damage(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Let so many snapshots be written with a byte changed."""

    def begin(times: int) -> None:
        left = [times]

        def write(path: Path, data: bytes) -> None:
            if left[0]:
                left[0] -= 1
                data = data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]
            write_atomic(path, data)

        monkeypatch.setattr(store, "write_atomic", write)

    return begin


@pytest.mark.parametrize("world", WORLDS)
def test_a_good_snapshot_passes(tmp_path: Path, world: str) -> None:
    result = play(tmp_path, world, snapshot_compress=True)
    assert (result.status, notices(result), taken(result)) == ("completed", [], [100, 200, 250])


@pytest.mark.parametrize("world", WORLDS)
def test_one_that_was_damaged_on_its_way_is_written_again_and_reported(
    tmp_path: Path, damage: Callable[[int], None], world: str
) -> None:
    damage(1)
    result = play(tmp_path, world)
    assert (result.status, taken(result)) == ("completed", [100, 200, 250])
    (message,) = notices(result)
    assert message.startswith("the snapshot of tick 100 is written again: ")
    assert message.endswith(f".ptpsnap {DAMAGED}")
    log = [json.loads(line) for line in (Path(result.directory) / "run.log").read_text().splitlines()]
    assert message in [line["message"] for line in log]
    assert Run(RunDirectory(Path(result.directory))).verify().good


def test_one_that_is_damaged_each_time_is_given_up_and_the_run_continues(
    tmp_path: Path, damage: Callable[[int], None]
) -> None:
    damage(99)
    result = play(tmp_path)
    assert (result.status, result.ticks, taken(result)) == ("completed", 250, [])
    told = notices(result)
    assert [message.partition(", it was")[0].partition(" is written")[0] for message in told] == [
        f"{words} of tick {tick}" for tick in (100, 200, 250) for words in ("the snapshot", "no snapshot")
    ]
    assert all(message.endswith(DAMAGED) for message in told)


def test_without_the_flag_nobody_looks_and_verification_says_it_in_the_same_words(
    tmp_path: Path, damage: Callable[[int], None], capsys: pytest.CaptureFixture[str]
) -> None:
    from ptp.cli import main

    damage(1)
    result = run(config(tmp_path, max_ticks=250))
    assert (notices(result), taken(result)) == ([], [100, 200, 250])
    assert main(["snapshot", "verify", "--run", result.run_id, "--data-dir", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert "2 snapshots are intact and restore to what was saved, 1 are not:" in said
    assert DAMAGED in said


def test_a_snapshot_of_an_ended_run_is_written_again_too(tmp_path: Path, damage: Callable[[int], None]) -> None:
    result = play(tmp_path)
    directory = RunDirectory(Path(result.directory))
    damage(1)
    with pytest.warns(UserWarning, match=f"the snapshot of tick 250 is written again: .*{DAMAGED}"):
        assert create_snapshot(directory, "end", None).name == "end"
    damage(2)
    with (
        pytest.warns(UserWarning, match="is written again"),
        pytest.raises(SnapshotError, match="no snapshot of tick 250, it was written twice: "),
    ):
        create_snapshot(directory, "again", None)
    assert [header.name for header in store_of(directory).headers() if header.name] == ["end"]


class Forgetful(ToyTextWorld):
    """Forgets its random numbers when it loads, so that it would play on differently."""

    environment = "FrozenLake-v1"

    def load(self, data: bytes) -> None:
        super().load(data)
        self.env.unwrapped.np_random.random()


class Stubborn(Forgetful):
    """Refuses every state."""

    def load(self, data: bytes) -> None:
        raise RuntimeError("not today")


class Single(Forgetful):
    """Can be made once."""

    made: ClassVar[int] = 0

    def __init__(self, spec: WorldSpec, render_mode: str | None = None) -> None:
        Single.made += 1
        if Single.made > 1:
            raise WorldError("the arcade has one machine")
        super().__init__(spec, render_mode)


@pytest.mark.parametrize(
    ("world", "said"),
    [
        ("Forgetful", "is damaged: it restores to another state than was saved; use an older snapshot"),
        ("Stubborn", "is damaged: it can't be restored: RuntimeError('not today'); use an older snapshot"),
    ],
)
def test_a_world_that_does_not_become_what_was_saved_is_found_and_the_run_is_not_harmed(
    tmp_path: Path, world: str, said: str
) -> None:
    result = play(tmp_path, f"tests.runner.test_validating:{world}", rewind_memory=0)
    assert (result.status, result.ticks, taken(result)) == ("completed", 250, [])
    assert len(notices(result)) == 6
    assert all(message.endswith(said) for message in notices(result))


def test_where_no_second_world_can_be_made_snapshots_are_read_back_and_the_run_says_so(tmp_path: Path) -> None:
    Single.made = 0
    result = play(tmp_path, "tests.runner.test_validating:Single", rewind_memory=0)
    assert (result.status, taken(result)) == ("completed", [100, 200, 250])
    assert notices(result) == ["snapshots are read back, but not restored: the arcade has one machine"]


def test_a_state_that_is_not_the_one_on_the_tape_is_refused(tmp_path: Path) -> None:
    result = play(tmp_path, "tallgrass", agent="explorer")
    directory = RunDirectory(Path(result.directory))
    found = store_of(directory)
    old, new = (next(it for it in found.headers() if it.tick == tick) for tick in (100, 200))
    earlier = found.read(old)
    earlier.header = new
    found.delete(new.snapshot_id)
    found.save(earlier)
    verdict = verify_snapshots(directory)
    assert len(verdict.good) == 2
    assert "when it was saved; use an older snapshot" in verdict.problems[0]
