"""Sinks: everything reaches every sink, in order, and what a sink tells reaches the others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from ptp.config.tree import BY_FLAG, build
from ptp.errors import UnknownName
from ptp.records import Notice, Record, RunResult, Step
from ptp.runner import run as play
from ptp.sinks import Fanout, RunContext, Sink, find_sink
from ptp.testing import fake_run


class Heard(Sink):
    """Remembers everything, in order."""

    inline = True

    def __init__(self) -> None:
        self.all: list[object] = []

    def began(self, run: RunContext) -> None:
        self.all.append("began")

    def took(self, records: Sequence[Record]) -> None:
        self.all += records

    def rewound(self, tick: int) -> None:
        self.all.append(tick)

    def ended(self, result: RunResult) -> None:
        self.all.append("ended")


def step(tick: int) -> Step:
    return Step(tick, 1, tick, "0", 0.0, False, False, 0.0, "h")


def test_a_sink_hears_everything_in_order(tmp_path: Path) -> None:
    heard = Heard()
    fanout = Fanout(fake_run(tmp_path), [heard])
    fanout.began()
    fanout.take([step(1)], now=0.0)
    fanout.take([step(2)], now=0.001)
    fanout.rewound(1)
    fanout.take([step(2)], now=0.002)
    fanout.ended(None)  # type: ignore[arg-type] # this sink does not look at it
    assert heard.all == ["began", step(1), step(2), 1, step(2), "ended"]


def test_records_are_handed_on_many_at_a_time_but_never_late(tmp_path: Path) -> None:
    heard = Heard()
    fanout = Fanout(fake_run(tmp_path), [heard])
    fanout.take([step(1)], now=10.0)
    fanout.take([step(2)], now=10.001)
    assert heard.all == [step(1)]
    fanout.take([step(3)], now=10.03)
    assert heard.all == [step(1), step(2), step(3)]


def test_what_a_sink_tells_reaches_the_others_too(tmp_path: Path) -> None:
    class Talker(Sink):
        inline = True
        each_tick = True

        def took(self, records: Sequence[Record]) -> None:
            if any(isinstance(record, Step) for record in records):
                run.notice("info", "seen", "a step")

    heard, run = Heard(), fake_run(tmp_path)
    fanout = Fanout(run, [Talker(), heard])
    fanout.take([step(1)], now=0.0)
    assert [type(record) for record in heard.all] == [Step, Notice]


def test_a_sink_that_is_not_installed_is_refused_by_name() -> None:
    with pytest.raises(UnknownName, match="no sink named 'tensorbord'"):
        find_sink("tensorbord")


def test_a_run_that_names_a_sink_that_is_not_there_does_not_begin(tmp_path: Path) -> None:
    config = build(
        {BY_FLAG["--world"]: "CartPole-v1", BY_FLAG["--sink"]: "nobody", BY_FLAG["--data-dir"]: str(tmp_path)}
    )
    with pytest.raises(UnknownName, match="no sink named 'nobody'"):
        play(config)
    assert not (tmp_path / "records").exists()


def test_an_installed_sink_is_switched_on_by_its_name(tmp_path: Path) -> None:
    site = tmp_path / "site"
    info = site / "noisy-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: noisy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ptp.sinks]\nnoisy = noisy:Noisy\n")
    (site / "noisy.py").write_text(
        "import ptp\n\n\nclass Noisy(ptp.Sink):\n    def ended(self, result):\n        print('heard', result.ticks)\n"
    )
    words = ["run", "--world", "CartPole-v1", "--max-ticks", "7", "--sink", "noisy", "--tick-rate-base", "0", "-q"]
    command = [sys.executable, "-m", "ptp", *words, "--data-dir", str(tmp_path / "var")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), *sys.path])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "heard 7\n"
