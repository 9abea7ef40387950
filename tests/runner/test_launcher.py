"""Where a run is played: its id is known before it begins, and how it ended comes back."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ptp._util.ids import uuid7
from ptp.config import RunConfig
from ptp.config.tree import BY_FLAG, build
from ptp.errors import PtpError, UsageError
from ptp.runner.launcher import Child, Launcher, in_child, in_process
from ptp.runs import open_run


def config(tmp_path: Path, **flags: Any) -> RunConfig:
    given = {"world": "Taxi-v4", "tick_rate_base": 0, "data_dir": str(tmp_path), "random_seed": 3, **flags}
    return build({BY_FLAG["--" + name.replace("_", "-")]: value for name, value in given.items()})


@pytest.mark.parametrize("launcher", [in_process, in_child], ids=["in this process", "in a child"])
def test_a_launcher_plays_the_run_of_the_id_that_it_was_given(launcher: Launcher, tmp_path: Path) -> None:
    run_id = uuid7()
    result = launcher(run_id, config(tmp_path, max_ticks=40))
    assert (result.run_id, result.status, result.ticks) == (run_id, "completed", 40)
    assert open_run(run_id, tmp_path).replay().equal


def test_runs_of_one_config_have_one_tape_wherever_they_are_played(tmp_path: Path) -> None:
    ids = [uuid7(), uuid7()]
    in_process(ids[0], config(tmp_path, max_ticks=60))
    in_child(ids[1], config(tmp_path, max_ticks=60))
    here, there = ([step.state_hash for step in open_run(run_id, tmp_path).steps()] for run_id in ids)
    assert here == there


def test_a_run_that_cant_begin_says_why(tmp_path: Path) -> None:
    child = Child(uuid7(), str(tmp_path), ["run", "--world", "Taxy-v4"])
    with closing(child), pytest.raises(UsageError, match="no world named 'Taxy-v4'; did you mean 'Taxi-v4'"):
        child.wait_until_begun()
    with pytest.raises(PtpError, match="no world named 'Taxy-v4'"):
        in_child(uuid7(), config(tmp_path, world="Taxy-v4"))
    assert not list((tmp_path / "tmp").iterdir())
