"""The package itself: what `import ptp` offers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import ptp
from ptp.errors import UnknownName

AGENT = """
import ptp


class Circles(ptp.Agent):
    def __init__(self, world, setup):
        super().__init__(world, setup)
        self._turn = 0

    def decide(self, observation):
        self._turn += 1
        return ptp.Decision((self._turn % 4,), reasoning="round and round")
"""


def test_a_run_is_played_and_returned(tmp_path: Path) -> None:
    run = ptp.run("CartPole-v1", max_ticks=50, data_dir=tmp_path)
    assert isinstance(run, ptp.Run)
    assert (run.status, run.last_tick, len(run.steps())) == ("completed", 50, 50)
    assert ptp.open("latest", tmp_path).id == run.id


def test_an_unknown_option_is_answered_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="no setting named 'max_tick'; did you mean 'max_ticks'"):
        ptp.run("CartPole-v1", max_tick=50, data_dir=tmp_path)


def test_an_agent_plays_the_same_from_a_file_as_an_entry_point_and_from_python(tmp_path: Path) -> None:
    site = tmp_path / "site"
    info = site / "circles-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: circles\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ptp.agents]\ncircles = circles:Circles\n")
    (site / "circles.py").write_text(AGENT)
    program = f"""
import sys
sys.path.insert(0, {str(site)!r})
import ptp
from circles import Circles

settings = {{"world": "CliffWalking-v1", "max_ticks": 80, "random_seed": 4, "data_dir": {str(tmp_path / "var")!r}}}
runs = [ptp.run(agent=agent, **settings) for agent in ({str(site / "circles.py")!r} + ":Circles", "circles", Circles)]
tapes = [[(step.command, step.state_hash) for step in run.steps()] for run in runs]
assert tapes[0] == tapes[1] == tapes[2]
assert len(tapes[0]) == 80
assert all(run.replay().equal for run in runs)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_importing_the_package_loads_nothing_of_it() -> None:
    program = "import sys, ptp; print(sorted(name for name in sys.modules if name.startswith('ptp.')))"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_what_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'ptp' has no attribute 'Recrod'"):
        ptp.Recrod  # noqa: B018
