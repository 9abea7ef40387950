"""The command line as a person or a program meets it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptp import __version__
from ptp._util.yaml import parse_yaml
from ptp.cli import main
from ptp.cli.verbs import VERBS

Call = Callable[..., tuple[int, str, str]]


def run_flags(*more: str) -> list[str]:
    return [
        "run",
        "--world",
        "FrozenLake-v1",
        "--tick-rate-base",
        "0",
        "--max-ticks",
        "30",
        "--random-seed",
        "7",
        *more,
    ]


def test_a_run_tells_what_became_of_it_and_what_to_try_next(ptp: Call) -> None:
    code, out, err = ptp(*run_flags())
    assert code == 0
    assert "completed: --max-ticks reached" in out
    assert "ptp replay latest --verify" in out
    assert "recording in" in err
    code, out, _ = ptp("replay", "latest", "--verify")
    assert code == 0
    assert out.startswith("equal: 30 ticks of ")


def test_every_suggestion_of_a_run_works(ptp: Call, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = ptp(*run_flags())
    suggestions = [line.strip().split("  ")[0].split() for line in out.splitlines() if line.startswith("  ptp ")]
    assert len(suggestions) >= 3
    for _, *words in suggestions:
        if words[0] == "dashboard":
            continue  # it serves until it is stopped; tests/web opens it
        assert main(words) == 0
        capsys.readouterr()


def test_json_is_one_document_and_nothing_else(ptp: Call, ptp_json: Callable[..., Any]) -> None:
    result = ptp_json(*run_flags())
    assert (result["status"], result["ticks"]) == ("completed", 30)
    assert ptp_json("runs")[0]["run_id"] == result["run_id"]
    assert ptp_json("show", "latest")["steps"] == 30
    assert ptp_json("replay", "latest") == {
        "run_id": result["run_id"], "world": "FrozenLake-v1", "from_tick": 1, "ticks": 30, "equal": True,
        "difference": None,
    }  # fmt: skip
    assert {"explorer", "random", "script"} <= {agent["name"] for agent in ptp_json("agents")}
    assert "Taxi-v4" in {world["name"] for world in ptp_json("worlds")}
    assert ptp_json("config", "show")["version"] == "3.0"
    assert ptp_json("config", "schema")["title"]
    assert ptp_json("run", "--world", "Nowhere-v0")["error"]["type"] == "UnknownName"


def test_quiet_says_nothing(ptp: Call) -> None:
    assert ptp(*run_flags("-q")) == (0, "", "")
    assert ptp("replay", "latest", "-q") == (0, "", "")


def test_a_replay_prints_each_tick_unless_it_only_verifies(ptp: Call) -> None:
    ptp(*run_flags())
    _, out, _ = ptp("replay", "latest", "--from-tick", "29")
    assert [line.split()[1] for line in out.splitlines()[:-1]] == ["29", "30"]
    assert "2 ticks from tick 29" in out


def test_a_replay_that_differs_exits_with_1_and_names_the_tick(ptp: Call, recorded: Callable[..., Path]) -> None:
    import sqlite3

    directory = recorded(ticks=30)
    connection = sqlite3.connect(directory / "game_data.db")
    connection.execute("UPDATE steps SET state_hash = 'beef' WHERE tick = 12")
    connection.commit()
    connection.close()
    code, out, err = ptp("replay", "latest", "--verify")
    assert code == 1
    assert "state_hash at tick 12 is beef but replays as " in out
    assert "differs from the tape at tick 12" in err


def test_a_fork_and_a_resumed_run_have_one_pace_and_show_both_seeds(ptp: Call, recorded: Callable[..., Path]) -> None:
    recorded(ticks=30)
    _, out, _ = ptp("fork", "latest", "--at-tick", "20", "--random-seed", "8", "--max-ticks", "50")
    (ticks,) = [line for line in out.splitlines() if line.startswith("  ticks")]
    assert re.fullmatch(r"  ticks     30 in [\d.]+ s \([\d,.]+/s\), 50 in all", ticks)
    assert "7 until the fork, 8 after it" in ptp("show", "latest")[1]
    _, out, _ = ptp("resume", "latest", "--max-ticks", "60")
    assert re.search(r"  ticks     10 in [\d.]+ s \([\d,.]+/s\), 60 in all\n", out)


def test_status_leaves_out_what_a_world_does_not_have(ptp: Call, recorded: Callable[..., Path]) -> None:
    recorded("CartPole-v1", ticks=30)
    _, out, _ = ptp("status")
    assert "  decision " in out
    assert not {"where", "badges", "caught", "owned", "items"} & set(out.split())
    recorded("tallgrass", "--agent", "explorer", ticks=300)
    assert {"where", "badges", "caught"} <= set(ptp("status")[1].split())


def test_show_tells_the_story(ptp: Call, recorded: Callable[..., Path]) -> None:
    directory = recorded(ticks=100)
    code, out, _ = ptp("show", directory.name[:30])
    assert code == 0
    for word in ("random in FrozenLake-v1", "completed", directory.name, "seed      7", "episode return"):
        assert word in out


def test_show_tells_what_a_player_did(ptp: Call, recorded: Callable[..., Path], buttons: Path) -> None:
    recorded("tallgrass", "--agent", "script", "--script", str(buttons), ticks=600)
    _, out, _ = ptp("show", "latest")
    assert "joined the party" in out
    assert "FERNHOLLOW" in out
    assert "species owned" in out
    assert "episodes" not in out
    assert "$0" not in out
    _, status, _ = ptp("status", "latest")
    assert "owned" in status


def test_show_tells_the_best_and_the_last_episode(ptp: Call, recorded: Callable[..., Path]) -> None:
    recorded("CartPole-v1", ticks=300)
    _, out, _ = ptp("show", "latest")
    assert "in episode" in out
    assert "Best so far" in out


def test_show_of_a_crashed_run_shows_its_errors(ptp: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    from ptp.agents import registry

    monkeypatch.setitem(registry.AGENTS, "failing", "tests.runner.test_run:Failing")
    code, out, err = ptp(*run_flags("--agent", "failing"))
    assert code == 1
    assert "crashed" in out
    assert err.splitlines()[-1].startswith("ptp: the agent failed to decide at tick 4")
    _, out, _ = ptp("show")
    assert "error: AgentError: the agent failed" in out


def test_runs_lists_the_newest_first_and_names_what_it_cant_read(ptp: Call, recorded: Callable[..., Path]) -> None:
    first, second = recorded(ticks=5), recorded("Taxi-v4", ticks=5)
    code, out, err = ptp("runs")
    assert code == 0
    assert out.index(second.name) < out.index(first.name)
    assert ptp("runs", "--limit", "1")[1].count("completed") == 1
    (first / "metadata.json").write_text("{")
    _, out, err = ptp("runs")
    assert second.name in out
    assert "metadata.json can't be read" in err


def test_runs_with_none_says_how_to_make_one(ptp: Call) -> None:
    assert "make one with `ptp run" in ptp("runs")[1]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["rn"], 2, "no verb named 'rn'; did you mean 'run'?"),
        (["run", "--tick-rate-bse", "3"], 2, "did you mean '--tick-rate-base'?"),
        (["run", "--tick", "3"], 2, "no option named '--tick'; did you mean --max-ticks or --tick-rate-base"),
        (["run", "--world", "FrozenLke-v1"], 2, "did you mean 'FrozenLake-v1'?"),
        (["run", "--world", "tallgras"], 2, "did you mean 'tallgrass'?"),
        (["run", "--max-ticks", "0"], 2, "--max-ticks: 0 is not allowed; allowed: a whole number, 1 or more"),
        (["run", "--config-file", "/nowhere.yaml"], 2, "/nowhere.yaml: No such file or directory"),
        (["run", "--world", "Blackjack-v1", "--render-mode", "ansi"], 1, "can't render 'ansi'"),
        (["replay", "abc"], 2, "no runs in"),
        (["replay", "./nowhere"], 1, "is not a run directory"),
        (["config", "shw"], 2, "did you mean 'show'?"),
        (["config", "validate", "/nowhere.yaml"], 2, "No such file"),
        (["runs", "extra"], 2, "unexpected argument 'extra'"),
        (["run", "tallgrass"], 2, "a world is named with --world tallgrass"),
        (["replay", "--from-tick", "x"], 2, "invalid int value"),
    ],
)
def test_bad_input_is_one_line_with_the_remedy(ptp: Call, words: list[str], code: int, message: str) -> None:
    actual, out, err = ptp(*words)
    assert actual == code
    assert message in err
    assert err.count("\n") == 1
    assert err.startswith("ptp: ")
    assert out == ""


def test_an_unwritable_data_directory_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(run_flags("--data-dir", "/proc/nowhere")) == 1
    assert "can't write to /proc/nowhere" in capsys.readouterr().err


def test_config_show_merges_every_source(ptp: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c.yaml"
    path.write_text('version: "3.0"\ntick_rate:\n  normal: 15\n')
    monkeypatch.setenv("PTP_MAX_TICKS", "77")
    _, out, _ = ptp("config", "show", "--config-file", str(path), "--max-time", "9")
    shown = parse_yaml(out, "shown")
    assert (shown["tick_rate"]["normal"], shown["limits"]["max_ticks"], shown["limits"]["max_time"]) == (15, 77, 9)


def test_what_config_show_prints_is_valid(ptp: Call, tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(ptp("config", "show")[1])
    assert ptp("config", "validate", str(path))[:2] == (0, f"{path} is valid\n")
    assert ptp(*run_flags("--config-file", str(path)))[0] == 0


def test_help_names_every_verb_and_each_verb_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["--help"], ["help"]):
        assert main(words) == 0
        out = capsys.readouterr().out
        assert all(f"  {verb.name} " in out for verb in VERBS)
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"ptp {__version__}\n"
    for verb in VERBS:
        assert main(["help", verb.name]) == 0
        assert "ptp" in capsys.readouterr().out
    assert main(["config"]) == 0


def test_an_internal_error_is_one_line_and_verbose_shows_the_trace(ptp: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: list[str]) -> int:
        raise RuntimeError("a bug")

    monkeypatch.setattr("ptp.cli.runs.main", broken)
    code, _, err = ptp("runs")
    assert code == 1
    assert err == "ptp: internal error: RuntimeError('a bug'); run it again with -v for the trace\n"
    with pytest.raises(RuntimeError):
        ptp("runs", "-v")


def test_ctrl_c_in_a_verb_ends_it_quietly(ptp: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("ptp.cli.runs.main", interrupted)
    code, out, err = ptp("runs")
    assert (code, out) == (130, "")
    assert err == "ptp: interrupted; nothing is left half done, and the same command can be run again\n"


def test_a_reader_that_goes_away_causes_no_trace(recorded: Callable[..., Path]) -> None:
    directory = recorded(ticks=3000)
    command = f"{sys.executable} -m ptp replay {directory} | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.startswith("tick 1 ")
    assert done.stderr == ""


def test_a_terminal_gets_a_progress_bar_and_color(tmp_path: Path) -> None:
    import pty

    words = [*run_flags("--data-dir", str(tmp_path)), "--max-ticks", "300", "--tick-rate-base", "600"]
    seen = bytearray()

    def read(descriptor: int) -> bytes:
        import os

        data = os.read(descriptor, 4096)
        seen.extend(data)
        return b"."

    pid_status = pty.spawn([sys.executable, "-m", "ptp", *words], read, lambda _: b"")
    assert pid_status == 0
    text = seen.decode(errors="replace")
    assert "random in FrozenLake-v1" in text
    assert "tick 300 of 300" in text
    assert "\033[32mcompleted\033[0m" in text


def test_notices_are_shown_and_info_only_when_verbose(ptp: Call, tmp_path: Path) -> None:
    slow = ["--tick-rate-base", "50", "--max-time", "1", "--max-ticks", "100000"]
    _, _, err = ptp(*run_flags(*slow, "-v"))
    assert "info at tick" in err
    _, _, err = ptp(*run_flags(*slow))
    assert "info at tick" not in err


def test_the_module_can_be_run(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ptp", "config", "show", "--json"], capture_output=True, check=True, cwd=tmp_path
    )
    assert json.loads(done.stdout)["version"] == "3.0"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--max-tics", "5"), "no option named '--max-tics'; did you mean '--max-ticks'?"),
        (("--max-ticks", "0"), "--max-ticks: 0 is not allowed; allowed: a whole number, 1 or more"),
        (("max-ticks=",), "max-ticks needs a value; write it as max-ticks=500"),
        ((), "nothing to set; name a setting, for example max-ticks=500"),
        (("max-ticks",), "'max-ticks' is not a setting; write it as max-ticks=500"),
    ],
)
def test_a_setting_that_cant_be_read_is_reported_before_any_run_is_asked(
    ptp: Callable[..., tuple[int, str, str]], words: tuple[str, ...], told: str
) -> None:
    code, _, error = ptp("set", *words)
    assert (code, error) == (2, f"ptp: {told}\n")
