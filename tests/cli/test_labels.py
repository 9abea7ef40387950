"""A run can have a name, tags and notes, from its start or given later; they are kept in its header."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptp.recording import RunDirectory
from ptp.runs import Run
from ptp.runs.verification import verify
from tests.web.parts import playing

Ptp = Callable[..., tuple[int, str, str]]
Recorded = Callable[..., Path]


def header(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((path / "metadata.json").read_text())
    return found


def labels(path: Path) -> tuple[Any, ...]:
    return tuple(header(path)[name] for name in ("name", "tags", "notes"))


def test_tags_are_added_listed_and_removed(recorded: Recorded, ptp: Ptp, ptp_json: Any) -> None:
    path = recorded(ticks=20)
    assert ptp("tag", "latest")[1] == f"{path.name}: no tags\n"
    assert ptp_json("tag", "latest", "paper", "best")["tags"] == ["best", "paper"]
    assert ptp("tag", path.name[:13], "figure 3", "best", "--remove", "paper")[1] == f"{path.name}: best, figure 3\n"
    assert header(path)["tags"] == ["best", "figure 3"]
    assert ptp_json("tag", "latest", "--remove", "best", "--remove", "figure 3")["tags"] == []


def test_a_run_can_be_labelled_from_its_start(recorded: Recorded, ptp: Ptp) -> None:
    path = recorded("FrozenLake-v1", "--name", "base line", "--tags", "paper, best", "--notes", "as in the paper")
    assert labels(path) == ("base line", ["best", "paper"], "as in the paper")
    out = ptp("show", "base line")[1]
    assert all(text in out for text in ("base line", "best, paper", "as in the paper"))
    assert verify(RunDirectory(path)).problems == []


def test_labels_can_be_changed_later_and_the_header_stays_sealed(recorded: Recorded, ptp: Ptp, ptp_json: Any) -> None:
    path = recorded(ticks=20)
    assert ptp("rename", "latest", "baseline") == (0, f"{path.name}: baseline\n", "")
    assert ptp("note", "baseline", "slow start")[1] == f"{path.name}: slow start\n"
    assert ptp("note", "baseline")[1] == f"{path.name}: slow start\n"
    ptp("tag", "baseline", "best")
    assert labels(path) == ("baseline", ["best"], "slow start")
    assert verify(RunDirectory(path)).good
    ptp_json("note", "baseline", "")
    assert ptp_json("rename", "baseline", "") == {"run_id": path.name, "name": None}
    assert labels(path) == (None, ["best"], None)


def test_a_header_that_somebody_changed_is_not_given_a_new_checksum(recorded: Recorded, ptp: Ptp) -> None:
    path = recorded(ticks=20)
    file = path / "metadata.json"
    file.write_text(file.read_text().replace('"random_seed": 7', '"random_seed": 8'))
    code, _, error = ptp("tag", "latest", "best")
    assert code == 1
    assert "metadata.json is not what was written; see `ptp verify" in error
    assert header(path)["tags"] == []


def test_a_live_run_is_labelled_while_it_plays_and_keeps_its_labels(tmp_path: Path, ptp: Ptp) -> None:
    with playing(tmp_path / "var", "--name", "walk") as directory:
        assert ptp("tag", "walk", "best")[0] == 0
        assert ptp("note", "walk", "went well")[0] == 0
        assert directory.read_metadata().status == "running"
        Run(directory).stop()
    assert labels(directory.path) == ("walk", ["best"], "went well")
    assert verify(directory).good


def test_a_fork_has_labels_of_its_own_and_a_resumed_run_keeps_them(recorded: Recorded, ptp_json: Any) -> None:
    path = recorded("FrozenLake-v1", "--name", "one", "--tags", "best", ticks=20)
    fork = Path(ptp_json("fork", "one", "--at-tick", "10", "--tags", "side")["directory"])
    assert labels(fork) == (None, ["side"], None)
    ptp_json("rename", "one", "two")
    ptp_json("resume", "two", "--max-ticks", "30", "--tags", "longer")
    assert labels(path) == ("two", ["best", "longer"], None)


def test_two_runs_of_one_name_are_told_apart_by_id(recorded: Recorded, ptp: Ptp) -> None:
    for _ in range(2):
        recorded("FrozenLake-v1", "--name", "twin", ticks=20)
    code, _, error = ptp("show", "twin")
    assert code == 2
    assert "2 runs are named 'twin'; give an id, such as 0" in error


def test_tags_are_shown_with_their_run(recorded: Recorded, ptp: Ptp, ptp_json: Any) -> None:
    plain, tagged = recorded(ticks=20), recorded(ticks=20)
    assert "tags" not in ptp("runs")[1]
    assert "  tags " not in ptp("show", tagged.name)[1]
    ptp_json("tag", tagged.name, "best", "paper")
    lines = ptp("runs")[1].splitlines()
    assert lines[0].endswith("tags")
    assert lines[1].endswith("best, paper")
    assert {run["run_id"]: run["tags"] for run in ptp_json("runs")} == {plain.name: [], tagged.name: ["best", "paper"]}
    assert "best, paper" in ptp("show", tagged.name)[1]
    assert ptp_json("show", tagged.name)["run"]["tags"] == ["best", "paper"]


def test_a_tag_keeps_its_run_until_it_is_removed(recorded: Recorded, ptp_json: Any) -> None:
    path = recorded(ticks=20)
    ptp_json("tag", "latest", "paper")
    done = ptp_json("prune", "--max-sessions", "0", "--keep-tag", "paper")
    assert [kept["why"] for kept in done["protected"]] == ["it has the tag 'paper'"]
    ptp_json("tag", "latest", "--remove", "paper")
    ptp_json("prune", "--max-sessions", "0", "--keep-tag", "paper")
    assert not path.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        *((["tag", "latest", word], "a tag is one line of 1 to 60 characters") for word in (" ", "a\nb", "x" * 61)),
        (["tag", "latest", "--remove", "bset"], "has no tag 'bset'; it has: best"),
        (["rename", "latest", "a/b"], "a name has no slash, and is not `latest`"),
        (["rename", "latest", "latest"], "'latest' can't be a name"),
        (["note", "latest", "x" * 2001], "the notes have 2,001 characters; at most 2,000 are allowed"),
        (["run", "--world", "FrozenLake-v1", "--max-ticks", "5", "--name", "a/b"], "a name has no slash"),
    ],
)
def test_what_is_not_a_label_is_refused_with_the_remedy(
    recorded: Recorded, ptp: Ptp, words: list[str], message: str
) -> None:
    path = recorded("FrozenLake-v1", "--tags", "best", ticks=20)
    code, _, error = ptp(*words)
    assert code == 2
    assert message in error
    assert labels(path) == (None, ["best"], None)
    assert len(list(path.parent.iterdir())) == 1


def test_runs_are_filtered_sorted_and_grouped(recorded: Recorded, ptp: Ptp, ptp_json: Any) -> None:
    lake = recorded("FrozenLake-v1", "--experiment-name", "ice", ticks=30)
    poles = [recorded("CartPole-v1", "--tags", "paper", ticks=ticks) for ticks in (50, 40)]

    def found(*words: str) -> list[str]:
        return [run["run_id"] for run in ptp_json("runs", *words)]

    assert found("--world", "CartPole-v1") == found("--tag", "paper") == [poles[1].name, poles[0].name]
    assert found("--sort", "reward") == [poles[0].name, poles[1].name, lake.name]
    assert found("--sort", "ticks", "--reverse", "--limit", "1") == found("--experiment", "ice") == [lake.name]
    assert found("--min-ticks", "35", "--max-ticks", "45") == [poles[1].name]
    assert found("--until", "1h") == found("--status", "crashed") == found("--search", "nowhere") == []
    assert ptp("runs", "--tag", "none")[1] == "no matching runs\n"
    groups = ptp_json("runs", "--group-by", "world", "--since", "1h", "--limit", "1")
    assert [(group["group"], group["runs"], group["ticks"]) for group in groups] == [
        ("CartPole-v1", 2, 90), ("FrozenLake-v1", 1, 30),
    ]  # fmt: skip
    out = ptp("runs", "--group-by", "tag")[1]
    assert out.splitlines()[1].split()[:2] == ["paper", "2"]


def test_a_list_has_the_figures_of_the_worlds_in_it(recorded: Recorded, ptp: Ptp) -> None:
    recorded("FrozenLake-v1", ticks=30)
    assert "badges" not in ptp("runs")[1]
    recorded("tallgrass", "--agent", "explorer", ticks=300)
    headings, game, lake = ptp("runs")[1].splitlines()
    assert {"duration", "badges", "caught", "level"} <= set(headings.split())
    badges = headings.index("badges") + len("badges") - 1
    assert (game[badges], lake[badges]) == ("0", "-")
