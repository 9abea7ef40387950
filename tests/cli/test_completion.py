"""`ptp completion`: a shell offers the verbs and flags that exist, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

from ptp.cli.completion import make_script, words_of
from ptp.cli.main import VERB_GROUPS, VERBS, main
from ptp.config.tree import SETTINGS


def offered(*words: str) -> list[str]:
    """Return what bash offers for the last of some words."""
    line = " ".join(f"'{word}'" for word in words)
    script = f"{make_script('bash')}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _ptp; echo ${{COMPREPLY[@]}}"
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.split()


def test_bash_completes_a_verb() -> None:
    assert offered("ptp", "re") == ["resume", "replay"]
    assert set(offered("ptp", "")) == {*VERBS, "help"}


def test_bash_completes_the_flags_of_a_verb() -> None:
    assert offered("ptp", "run", "--max-t") == ["--max-ticks", "--max-time"]
    assert offered("ptp", "replay", "--ver") == ["--verbose", "--verify"]


def test_bash_completes_the_words_and_flags_inside_a_verb() -> None:
    assert offered("ptp", "snapshot", "ex") == ["export"]
    assert offered("ptp", "snapshot", "create", "--na") == ["--name"]


def test_every_setting_is_offered_for_a_run() -> None:
    assert {item.flag for item in SETTINGS} <= set(words_of("run"))


def test_zsh_takes_the_script() -> None:
    if shutil.which("zsh") is None:
        (pytest.fail if os.environ.get("PTP_REQUIRE_ALL") == "1" else pytest.skip)("zsh is not installed")
    subprocess.run(["zsh", "-n"], input=make_script("zsh"), text=True, check=True)


def test_the_script_is_told_as_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "zsh", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["script"] == make_script("zsh")


def test_every_verb_stands_in_one_group() -> None:
    names = [name for verbs in VERB_GROUPS.values() for name in verbs]
    assert len(names) == len(set(names)) == len(VERBS)
