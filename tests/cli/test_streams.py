"""Whatever standard output, standard error and the terminal are, a verb does its work and says at most one line."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ptp.cli.output import fact_lines, print_json, say, short_ids, table

Call = Callable[..., tuple[int, str, str]]


def in_shell(command: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in which `ptp` is ours."""
    script = f'ptp() {{ "{sys.executable}" -m ptp "$@"; }}\n{command}'
    environment = {**os.environ, "PTP_DATA_DIR": str(folder / "var"), **more}
    return subprocess.run(["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True,
                          timeout=60, check=False)  # fmt: skip


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", ["worlds", "worlds --json"])
def test_a_full_output_is_one_line(words: str, unbuffered: str, tmp_path: Path) -> None:
    done = in_shell(f"ptp {words} > /dev/full", tmp_path, PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 1
    assert done.stderr == "ptp: the output can't be written: No space left on device; free some space\n"


def test_closed_streams_do_not_keep_a_run_from_being_recorded(tmp_path: Path) -> None:
    flags = "--world FrozenLake-v1 --tick-rate-base 0 --max-ticks 20"
    done = in_shell(f"ptp run {flags} <&- >&- 2>&-; echo $?; ptp runs --json", tmp_path)
    code, _, runs = done.stdout.partition("\n")
    assert code == "0"
    assert json.loads(runs)[0]["status"] == "completed"


def test_a_run_goes_on_when_nobody_reads_what_it_says(ptp: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Gone())
    code, out, _ = ptp("run", "--world", "FrozenLake-v1", "--tick-rate-base", "0", "--max-ticks", "20")
    assert (code, out.splitlines()[0]) == (0, "completed: --max-ticks reached")


def test_an_encoding_without_a_character_gets_another(monkeypatch: pytest.MonkeyPatch) -> None:
    from ptp.cli.show import hp_bar

    narrow = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="replace")
    monkeypatch.setattr(sys, "stdout", narrow)
    assert hp_bar(5, 10, 4) == "##--"
    print_json({"name": "Pokémon"})
    narrow.flush()
    assert json.loads(narrow.buffer.getvalue()) == {"name": "Pokémon"}


def test_a_plain_locale_is_no_error(tmp_path: Path) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = in_shell("ptp show Pokémon", tmp_path, **plain)
    assert done.returncode == 2
    assert done.stderr.startswith("ptp: no runs in ")


def pretend_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what captures the output be a terminal of 60 columns without colors."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")


def test_tables_and_facts_fit_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend_narrow_terminal(monkeypatch)
    sentence = "version TALLGRASS, snapshots by state, and every other thing that can be told about a world"
    say(*table(("run", "about", "ticks"), [("01a1e290-911c", sentence, 300)], right=("ticks",)))
    say(*fact_lines({"world": sentence}))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 60
    assert "\033" not in "".join(lines)
    facts = lines[next(at for at, line in enumerate(lines) if line.startswith("  world ")) :]
    assert " ".join(" ".join(facts).split()) == f"world {sentence}"


def test_ids_are_cut_where_they_still_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_narrow_terminal(monkeypatch)
    ids = ["01a1e290-911c-727e-acbb-6a917dad70c8", "01a1e290-911c-727e-b000-6a917dad70c8"]
    assert short_ids(ids, 60) == ids
    assert short_ids(ids, 120) == ["01a1e290-911c-727e-a", "01a1e290-911c-727e-b"]
    assert short_ids(ids[:1], 120) == ["01a1e290-911c"]


def test_a_pipe_gets_whole_ids_and_long_lines(capsys: pytest.CaptureFixture[str]) -> None:
    sentence = "a sentence that is longer than most terminals " * 5
    say(*table(("run", "about"), [("01a1e290", sentence)], spare=("run",)))
    assert sentence.strip() in capsys.readouterr().out
    assert short_ids(["01a1e290-911c-727e-acbb-6a917dad70c8"], 1000)[0].endswith("70c8")


def test_a_picture_has_colors_only_on_a_terminal_that_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    from ptp.cli.screenshot import as_text

    pixels = np.array([[[255, 255, 255]], [[255, 255, 255]]], dtype=np.uint8)
    assert as_text(pixels) == "█"
    pretend_narrow_terminal(monkeypatch)
    assert as_text(pixels) == "█"
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "xterm")
    assert as_text(pixels) == "\033[38;2;255;255;255;48;2;255;255;255m▀\033[0m"


def test_a_data_directory_that_is_a_file_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from ptp.cli import main

    (tmp_path / "file").write_text("")
    for verb in ("runs", "du", "dashboard", "show"):
        assert main([verb, "--data-dir", str(tmp_path / "file")]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.endswith("Not a directory; choose another folder with --data-dir\n")


def test_a_file_that_can_not_be_used_is_named_with_the_remedy(ptp: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(_: list[str]) -> int:
        raise PermissionError(13, "Permission denied", "/somebody/elses/run.lock")

    monkeypatch.setattr("ptp.cli.runs.main", forbidden)
    code, _, err = ptp("runs")
    assert (code, err) == (
        1,
        "ptp: /somebody/elses/run.lock: Permission denied; check who owns it, or choose another place\n",
    )


def test_an_internal_error_is_never_longer_than_a_few_lines(ptp: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: list[str]) -> int:
        raise RuntimeError("a\nbug " * 1000)

    monkeypatch.setattr("ptp.cli.runs.main", broken)
    err = ptp("runs")[2]
    assert err.count("\n") == 1
    assert len(err) < 400


QUIET = [
    "run --world FrozenLake-v1 --tick-rate-base 0 --max-ticks 5",
    "resume --max-ticks 40",
    "fork --at-tick 5 --max-ticks 8",
    "replay --verify",
    "snapshot create --name kept",
    "snapshot verify",
    "tag latest good",
    "prune --max-sessions 100",
    "cleanup screenshots",
    "schema migrate",
    "schema verify",
    "drift schema",
    "version --check",
]
ANSWERS = ["runs", "show", "status", "metrics", "actions", "du", "worlds", "agents", "version", "config show", "logs",
           "status latest", "metrics latest", "actions latest", "logs latest", "export latest", "snapshot list latest",
           "tag latest", "snapshot list", "schema history", "completion bash", "export"]  # fmt: skip


@pytest.fixture
def ended(recorded: Callable[..., Path]) -> Path:
    return recorded(ticks=20)


@pytest.mark.usefixtures("ended")
@pytest.mark.parametrize("line", QUIET)
def test_a_verb_that_does_something_is_silent_when_asked(line: str, ptp: Call) -> None:
    assert ptp(*line.split(), "-q") == (0, "", "")


@pytest.mark.usefixtures("ended")
@pytest.mark.parametrize("line", ANSWERS)
def test_a_verb_that_is_asked_answers_also_when_quiet(line: str, ptp: Call) -> None:
    code, out, err = ptp(*line.split(), "-q")
    assert (code, err) == (0, "")
    assert out


@pytest.mark.usefixtures("ended")
@pytest.mark.parametrize("line", QUIET + ANSWERS)
def test_verbose_says_more_and_only_on_standard_error(line: str, ptp: Call) -> None:
    code, _, err = ptp(*line.split(), "-v")
    assert code == 0
    assert err.splitlines()[-1].startswith("ptp ")
    assert " took " in err


@pytest.mark.usefixtures("ended")
@pytest.mark.parametrize("line", QUIET + ANSWERS)
def test_json_is_one_document(line: str, ptp: Call) -> None:
    code, out, err = ptp(*line.split(), "--json")
    assert (code, err) == (0, "")
    json.loads(out)


@pytest.mark.usefixtures("ended")
def test_show_tells_versions_only_when_asked_for_more(ptp: Call) -> None:
    assert "made with" not in ptp("show")[1]
    (versions,) = [line for line in ptp("show", "-v")[1].splitlines() if "made with" in line]
    assert "gymnasium 1." in versions
