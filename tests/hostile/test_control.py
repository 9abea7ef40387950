"""Whatever is said on the control socket of a live run, it answers and goes on."""

from __future__ import annotations

from pathlib import Path

from benchmarks.soak.messages import talk

from tests.web.parts import playing, status_of, wait_for


def test_a_run_answers_every_message_and_goes_on(tmp_path: Path) -> None:
    with playing(tmp_path) as directory:
        tick = talk(directory, 150)
        wait_for(lambda: (status_of(directory) or {"tick": tick})["tick"] > tick)
