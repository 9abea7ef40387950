"""Runs that are complete, agents from files, and what goes wrong in an agent or a world."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptp.cli import main
from ptp.recording.database import Database
from ptp.runs import open_run
from ptp.runs.status import RunDetail, read_detail

Call = Callable[..., tuple[int, str, str]]

BOT = """
import warnings
import numpy
from ptp import Agent, Decision


class Bot(Agent):
    def decide(self, observation):
        if observation.tick == 2:
            warnings.warn("an odd \\x1b[33mpicture")
        if observation.tick == WRONG:
            numpy.zeros((2, 2)) @ numpy.zeros(3)
        return Decision((self.world.parse("0" if "CartPole" in self.world.facts.name else "a"),))
"""


def detail_of(path: Path) -> RunDetail:
    run = open_run(path)
    return read_detail(run.directory, run.metadata, run.summary())


def write_bot(folder: Path, wrong: int = 10**9) -> Path:
    path = folder / "bot.py"
    path.write_text(BOT.replace("WRONG", str(wrong)))
    return path


@pytest.mark.parametrize(
    ("world", "flag", "value"),
    [("CartPole-v1", "--max-ticks", 20), ("CartPole-v1", "--episodes", 1), ("tallgrass", "--max-ticks", 20)],
)
def test_resuming_a_complete_run_names_the_limit_to_raise(
    ptp: Call, recorded: Callable[..., Path], world: str, flag: str, value: int
) -> None:
    directory = recorded(world, flag, str(value))
    header, ticks = (directory / "metadata.json").read_bytes(), open_run(directory).last_tick
    command = f"ptp resume {directory.name} {flag} {2 * value}"
    code, out, err = ptp("resume", "latest")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"is complete: {flag} was reached; raise it, for example with `{command}" in err
    assert (directory / "metadata.json").read_bytes() == header
    assert detail_of(directory).resume_with == command
    assert ptp(*shlex.split(command)[1:])[0] == 0
    assert open_run(directory).last_tick > ticks


def test_a_run_whose_agent_has_finished_is_played_on_by_another(
    ptp: Call, recorded: Callable[..., Path], tmp_path: Path
) -> None:
    script = tmp_path / "moves.txt"
    script.write_text("0\n1\n1\n")
    directory = recorded("CartPole-v1", "--agent", "script", "--script", str(script))
    code, _, err = ptp("resume", "latest")
    assert code == 2
    assert "is complete: the agent has finished; let another agent play on with `ptp fork " in err
    command = detail_of(directory).resume_with
    assert ptp(*shlex.split(command)[1:], "--max-ticks", "9")[0] == 0


@pytest.mark.parametrize("world", ["CartPole-v1", "tallgrass"])
def test_an_agent_from_a_file_is_found_from_another_folder(
    world: str, ptp: Call, ptp_json: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_bot(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("warnings.filters", [])
    flags = ("--tick-rate-base", "0", "--max-ticks", "9")
    first = ptp_json("run", "--world", world, "--agent", "bot.py:Bot", *flags)
    assert first["agent"] == "bot.py:Bot"
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert ptp_json("resume", first["run_id"], "--max-ticks", "12")["ticks"] == 12
    assert ptp_json("fork", first["run_id"], "--at-tick", "5")["ticks"] == 12
    assert ptp("replay", first["run_id"], "--verify")[0] == 0


@pytest.mark.parametrize("world", ["CartPole-v1", "tallgrass"])
def test_an_error_of_an_agent_is_one_line_with_file_and_line(
    world: str, ptp: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warnings.filters", [])
    bot = write_bot(tmp_path, wrong=5)
    flags = ("run", "--world", world, "--agent", f"{bot}:Bot", "--tick-rate-base", "0", "--max-ticks", "9")
    code, _, err = ptp(*flags)
    assert code == 1
    *_, last = err.splitlines()
    assert last.startswith(f"ptp: the agent failed to decide at tick 5: {bot}:12: ValueError: matmul")
    assert "Traceback" not in err
    assert "Traceback" in ptp(*flags, "-v")[2]
    run = open_run(next((tmp_path / "var/records").iterdir()))
    with Database(run.directory.database) as database:
        assert "bot.py" in database.row("SELECT stack_trace FROM errors")[0]
    assert "Traceback" in (run.path / "run.log").read_text()


@pytest.mark.parametrize("world", ["CartPole-v1", "tallgrass"])
def test_a_warning_is_a_notice_of_the_run(
    world: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("warnings.filters", [])
    bot, var = write_bot(tmp_path), tmp_path / "var"
    flags = ("--tick-rate-base", "0", "--max-ticks", "9", "--data-dir", str(var), "--json")
    assert main(["run", "--world", world, "--agent", f"{bot}:Bot", *flags]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    with Database(Path(json.loads(out)["directory"], "game_data.db")) as database:
        notices = list(database.rows("SELECT tick, level, message FROM notices WHERE kind = 'warned'"))
    assert notices == [(2, "warning", "an odd picture (UserWarning in bot.py:10)")]
