"""`ptp script`: check, compile, run and fmt."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Ptp = Callable[..., tuple[int, str, str]]


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], str]:
    def write(text: str) -> str:
        path = tmp_path / "walk.ptp"
        path.write_text(text)
        return str(path)

    return write


def test_check_names_every_mistake_for_people_and_as_data(script: Callable[[str], str], ptp: Ptp) -> None:
    file = script("PRESS STRAT\nWAIT 5\nMOVE A\n")
    code, out, error = ptp("script", "check", file)
    assert (code, out) == (2, "")
    assert error.splitlines()[0] == f"ptp: {file} has 2 errors"
    assert error.splitlines()[1] == f"{file}:1:7: no button named 'STRAT'; did you mean START?"
    code, out, _ = ptp("script", "check", file, "--json")
    found = json.loads(out)
    assert (code, found["valid"]) == (2, False)
    assert [(it["line"], it["column"]) for it in found["problems"]] == [(1, 7), (3, 6)]


def test_check_finds_nothing_in_a_right_script_but_warns(script: Callable[[str], str], ptp: Ptp) -> None:
    code, out, _ = ptp("script", "check", script("DEFINE spare() { WAIT 1 }\nPRESS A\nWAIT 6\n"))
    assert code == 0
    assert "warning: nobody calls 'spare'" in out
    assert "no errors, 30 frames in 2 ticks" in out


def test_check_is_for_the_world_that_is_named(script: Callable[[str], str], ptp: Ptp) -> None:
    file = script("PRESS left 3\n")
    assert ptp("script", "check", file)[0] == 0
    code, out, _ = ptp("script", "check", file, "--world", "CartPole-v1")
    assert (code, "3 ticks" in out) == (0, True)
    assert ptp("script", "check", file, "--world", "Taxi-v4")[0] == 2


def test_compile_shows_what_a_script_becomes(script: Callable[[str], str], ptp: Ptp, ptp_json: Any) -> None:
    file = script('REPEAT 2 { PRESS A 3; WAIT 5 }\nCHECKPOINT "here"\nEXPECT map == 3\n')
    code, out, _ = ptp("script", "compile", file)
    assert code == 0
    assert "48 frames in 4 ticks" in out
    assert "line 3 (EXPECT map == 3)" in out
    found = ptp_json("script", "compile", file)
    assert found["frames"] == {"low": 48, "high": 48}
    assert found["checkpoints"] == ["here"]
    assert (found["success_rate"], found["alternatives"]) == (None, None)
    assert [it["op"] for it in found["instructions"]] == [
        "enter", "count", "press", "wait", "jump", "checkpoint", "expect", "end",
    ]  # fmt: skip


def test_run_records_a_run_and_fails_when_the_script_does(script: Callable[[str], str], ptp: Ptp) -> None:
    code, out, _ = ptp("script", "run", script("PRESS A\na:10/130\n"), "--tick-rate-base", "0", "--json")
    result = json.loads(out)
    assert (code, result["agent"], result["ticks"]) == (0, "script", 2)
    code, out, _ = ptp("script", "run", script("PRESS A\nEXPECT badges == 8\n"), "--tick-rate-base", "0")
    assert code == 1
    assert "the script failed in line 2: EXPECT badges == 8 failed" in out
    assert ptp("replay", "latest", "--verify")[0] == 0


def test_run_chooses_agent_and_script_itself(script: Callable[[str], str], ptp: Ptp) -> None:
    code, _, error = ptp("script", "run", script("PRESS A"), "--agent", "random")
    assert (code, "--agent is chosen by" in error) == (2, True)


def test_fmt_rewrites_a_file_once(script: Callable[[str], str], ptp: Ptp) -> None:
    file = script("press A   # go\nrepeat 2 {\nwait 5\n}\n")
    assert ptp("script", "fmt", file, "--check")[0] == 1
    assert Path(file).read_text().startswith("press A")
    assert ptp("script", "fmt", file)[0] == 0
    assert Path(file).read_text() == "PRESS A # go\nREPEAT 2 {\n    WAIT 5\n}\n"
    code, out, _ = ptp("script", "fmt", file, "--check")
    assert (code, "is formatted already" in out) == (0, True)
    code, _, error = ptp("script", "fmt", script("PRES A\n"))
    assert (code, "did you mean PRESS?" in error) == (2, True)
    assert Path(file).read_text() == "PRES A\n"
