"""`ptp checkpoint` is `ptp snapshot`, and both tag."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptp.cli.main import find_verb
from tests.web.parts import playing

Ptp = Callable[..., tuple[int, str, str]]
Recorded = Callable[..., Path]


def test_both_names_have_the_same_verbs() -> None:
    _, one, _ = find_verb(["snapshot"])
    _, other, _ = find_verb(["checkpoint"])
    assert one is not None
    assert other is not None
    assert one.verbs is other.verbs


@pytest.mark.parametrize("world", ["tallgrass", "CartPole-v1"])
def test_a_checkpoint_is_made_tagged_found_restored_and_deleted(
    recorded: Recorded, ptp: Ptp, ptp_json: Any, world: str
) -> None:
    recorded(world, ticks=30)
    made = ptp_json("checkpoint", "create", "--name", "here")
    assert ptp("checkpoint", "tag", "here", "best", "keep")[1] == "here: best, keep\n"
    assert ptp("snapshot", "tag", "here", "--remove", "best")[1] == "here: keep\n"
    assert ptp("checkpoint", "tag", "here")[1] == "here: keep\n"
    (found,) = ptp_json("checkpoint", "list", "--tag", "keep")
    assert (found["snapshot_id"], found["tags"]) == (made["snapshot_id"], ["keep"])
    code, out, _ = ptp("checkpoint", "list", "--tag", "lost", "--tag", "keep")
    assert (code, out.endswith("has no snapshots tagged lost and keep\n")) == (0, True)
    assert ptp_json("checkpoint", "verify")["problems"] == []
    assert ptp_json("checkpoint", "restore", "here")["tick"] == 30
    assert ptp_json("checkpoint", "delete", "here")["deleted"] == made["snapshot_id"]
    assert ptp_json("checkpoint", "list", "--tag", "keep") == []


def test_a_tag_that_cant_be_typed_is_refused_in_one_line(recorded: Recorded, ptp: Ptp) -> None:
    recorded(ticks=5)
    code, _, err = ptp("checkpoint", "tag", "latest", "a/b")
    assert code == 1
    assert err == "ptp: 'a/b' can't tag a snapshot; use letters, digits, spaces, and - _ + . between them\n"


def test_a_snapshot_of_a_live_run_is_tagged_while_it_plays(tmp_path: Path, ptp_json: Any) -> None:
    with playing(tmp_path / "var"):
        ptp_json("snapshot", "create", "--name", "here")
        ptp_json("checkpoint", "tag", "here", "keep")
        (found,) = ptp_json("checkpoint", "list", "--tag", "keep")
        assert found["name"] == "here"
