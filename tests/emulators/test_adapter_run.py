"""Whole runs on game servers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.emulators.foreign import Foreign

Call = Callable[..., tuple[int, str, str]]
FAST = ("--tick-rate-base", "0", "--random-seed", "7")


def test_a_run_on_a_foreign_server_is_recorded_and_replays(ptp: Call, foreign: Foreign) -> None:
    code, out, err = ptp("run", "--world", foreign.url, "--agent", "random", "--max-ticks", "30", *FAST, "--json")
    assert code == 0, err
    result = json.loads(out)
    assert result["ticks"] == 30
    assert result["signals"]["score"] > 1
    header = json.loads(Path(result["directory"], "metadata.json").read_text())
    assert header["world"] == {
        "name": foreign.url, "entry": "ptp.emulators.adapter:PokemonGymAdapter", "options": {"id": foreign.url},
    }  # fmt: skip
    assert header["facts"]["snapshot"] == "tape"
    assert header["facts"]["commands"][:2] == ["wait", "a"]
    assert ptp("replay", result["run_id"], "--verify")[0] == 0
