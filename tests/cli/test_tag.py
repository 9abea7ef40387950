"""A run can be given words to find and keep it by."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Ptp = Callable[..., tuple[int, str, str]]


def test_tags_are_given_told_and_taken_away(recorded: Callable[..., Path], ptp: Ptp, ptp_json: Any) -> None:
    path = recorded(ticks=20)
    assert ptp("tag", "latest")[1] == f"{path.name}: no tags\n"
    assert ptp_json("tag", "latest", "paper", "best")["tags"] == ["best", "paper"]
    assert ptp("tag", path.name[:13], "figure 3", "best", "--remove", "paper")[1] == f"{path.name}: best, figure 3\n"
    assert (path / "tags.txt").read_text() == "best\nfigure 3\n"
    assert ptp_json("tag", "latest", "--remove", "best", "--remove", "figure 3")["tags"] == []
    assert not (path / "tags.txt").exists()


def test_tags_are_shown_with_their_run(recorded: Callable[..., Path], ptp: Ptp, ptp_json: Any) -> None:
    plain, tagged = recorded(ticks=20), recorded(ticks=20)
    assert "tags" not in ptp("runs")[1]
    assert "  tags " not in ptp("show", tagged.name)[1]
    ptp_json("tag", tagged.name, "best", "paper")
    lines = ptp("runs")[1].splitlines()
    assert lines[0].endswith("tags")
    assert lines[1].endswith("best, paper")
    assert {run["run_id"]: run["tags"] for run in ptp_json("runs")} == {plain.name: [], tagged.name: ["best", "paper"]}
    assert "best, paper" in ptp("show", tagged.name)[1]
    assert ptp_json("show", tagged.name)["tags"] == ["best", "paper"]


def test_a_tag_keeps_its_run_until_it_is_taken_away(recorded: Callable[..., Path], ptp_json: Any) -> None:
    path = recorded(ticks=20)
    ptp_json("tag", "latest", "paper")
    done = ptp_json("prune", "--max-sessions", "0", "--keep-tag", "paper")
    assert [kept["why"] for kept in done["protected"]] == ["it has the tag 'paper'"]
    ptp_json("tag", "latest", "--remove", "paper")
    ptp_json("prune", "--max-sessions", "0", "--keep-tag", "paper")
    assert not path.exists()


def test_what_is_no_tag_is_refused_with_the_remedy(recorded: Callable[..., Path], ptp: Ptp) -> None:
    recorded(ticks=20)
    ptp("tag", "latest", "best")
    for word in ("", " ", "two\nlines", "x" * 61):
        code, _, error = ptp("tag", "latest", word)
        assert code == 2
        assert "a tag is a word" in error
    code, _, error = ptp("tag", "latest", "--remove", "bset")
    assert code == 2
    assert "has no tag 'bset'; it has: best" in error
    assert ptp("tag")[0] == 2
