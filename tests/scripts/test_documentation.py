"""docs/scripts.md works: its scripts, its commands, its table of statements and its Python."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptp.errors import ScriptError
from ptp.scripts import format_script
from ptp.scripts.statements import FORMS
from tests.scripts.worlds import compiled
from tests.test_tutorial import Terminal

PAGE = (Path(__file__).parents[2] / "docs" / "scripts.md").read_text()
SCRIPTS = re.findall(r"```ptp\n(.*?)```", PAGE, re.DOTALL)


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)


def test_the_worked_examples_do_what_the_page_says(tmp_path: Path) -> None:
    for name, text in zip(("stairs.ptp", "balance.ptp"), SCRIPTS, strict=True):
        (tmp_path / name).write_text(text)
        assert format_script(text) == text
    terminal = Terminal(tmp_path)
    said = {line: terminal.type(line) for block in blocks("sh") for line in block.splitlines()}
    assert "no errors" in said["ptp script check stairs.ptp"]
    assert "EXPECT x == 6 AND NOT in_battle" in said["ptp script compile stairs.ptp"]
    assert "completed: the agent has finished" in said["ptp resume latest"]
    balance = said["ptp script run balance.ptp --world CartPole-v1 --tick-rate-base 0 --random-seed 1"]
    assert re.search(r"reward +200\b", balance)


def test_the_python_on_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = blocks("python")
    names: dict[str, object] = {}
    exec(example, names)
    names["world"].close()  # type: ignore[attr-defined]
    assert capsys.readouterr().out.splitlines() == ["132", "True ()"]


def test_the_mistakes_on_the_page_look_like_that() -> None:
    (shown,) = blocks("text")
    with pytest.raises(ScriptError) as caught:
        compiled("# walk\nPRESS STRAT\n\n\nUNTIL map == 12 { MOVE UP }\n")
    assert str(caught.value).replace("script", "walk.ptp") == shown.split("ptp: ", 1)[1].rstrip("\n")


def test_every_statement_is_in_the_table() -> None:
    table = "\n".join(line for line in PAGE.splitlines() if line.startswith("| `"))
    assert [word for word in FORMS if word not in table] == []
