"""`ptp completion`: a shell offers the verbs and flags that exist, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

from ptp.cli.completion import make_script
from ptp.cli.main import main
from ptp.cli.verb import walk
from ptp.cli.verbs import VERBS
from ptp.config.tree import SETTINGS


def offers(*words: str) -> list[str]:
    """Return what bash offers for the last of some words."""
    line = " ".join(f"'{word}'" for word in words)
    script = f"{make_script('bash')}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _ptp; echo ${{COMPREPLY[@]}}"
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.split()


def test_bash_completes_a_verb() -> None:
    assert offers("ptp", "re") == ["resume", "replay", "rewind", "rename"]
    assert set(offers("ptp", "")) == {*(verb.name for verb in VERBS), "help"}


def test_bash_completes_the_options_and_arguments_of_a_verb() -> None:
    assert offers("ptp", "run", "--max-t") == ["--max-ticks", "--max-time"]
    assert offers("ptp", "replay", "--ver") == ["--verbose", "--verify"]
    assert offers("ptp", "show", "la") == ["latest"]
    assert offers("ptp", "completion", "")[:2] == ["bash", "zsh"]
    assert offers("ptp", "set", "--max-b") == ["--max-badges"]


def test_bash_completes_verbs_within_a_verb_and_the_options_of_each() -> None:
    assert offers("ptp", "snapshot", "") == [
        "create",
        "list",
        "show",
        "restore",
        "tag",
        "delete",
        "verify",
        "export",
        "import",
    ]
    assert offers("ptp", "snapshot", "create", "--na") == ["--name"]
    assert offers("ptp", "snapshot", "list", "--na") == [], "another verb's option"


def test_every_setting_is_offered_for_a_run() -> None:
    assert {item.flag for item in SETTINGS} <= set(offers("ptp", "run", "--"))


def test_zsh_takes_the_script() -> None:
    if shutil.which("zsh") is None:
        (pytest.fail if os.environ.get("PTP_REQUIRE_ALL") == "1" else pytest.skip)("zsh is not installed")
    subprocess.run(["zsh", "-n"], input=make_script("zsh"), text=True, check=True)


def test_zsh_is_offered_what_bash_is() -> None:
    cases = [line.partition("=")[2] for line in make_script("bash").splitlines() if line.endswith(";;")]
    assert cases == [line.partition("=")[2] for line in make_script("zsh").splitlines() if line.endswith(";;")]
    assert len(cases) == len(list(walk(VERBS))) + 1


def test_the_script_is_printed_as_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "zsh", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["script"] == make_script("zsh")
