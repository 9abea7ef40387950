"""What every test may use."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptp.cli import main

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a job that a shell runs in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("PTP_") and name not in ("PTP_REQUIRE_ALL", "PTP_NATIVE"):
            monkeypatch.delenv(name)


@pytest.fixture
def ptp(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a command line with a data directory of its own; return exit code, standard output and error."""

    def call(*words: str) -> tuple[int, str, str]:
        code = main([*words, "--data-dir", str(tmp_path / "var")])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def ptp_json(ptp: Callable[..., tuple[int, str, str]]) -> Callable[..., Any]:
    """Run a command line with --json and return the document."""

    def call(*words: str) -> Any:
        return json.loads(ptp(*words, "--json")[1])

    return call


@pytest.fixture
def recorded(ptp_json: Callable[..., Any]) -> Callable[..., Path]:
    """Record a run and return its directory."""

    def call(world: str = "FrozenLake-v1", *flags: str, ticks: int = 200) -> Path:
        result = ptp_json(
            "run", "--world", world, "--tick-rate-base", "0", "--max-ticks", str(ticks), "--random-seed", "7", *flags
        )
        return Path(result["directory"])

    return call


@pytest.fixture(scope="session")
def buttons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The walkthrough's buttons, as a script of one tick each."""
    from tests.cartridge import walkthrough
    from tests.cartridge.player import Player

    player = Player()
    walkthrough.play(player, lambda _: None)
    path = tmp_path_factory.mktemp("walkthrough") / "buttons.txt"
    lines = []
    for button, hold, frames in player.tape:
        lines += ["none" if button is None else f"{button}:{hold}"] + ["none"] * (frames // 24 - 1)
    path.write_text("\n".join(lines))
    player.close()
    return path
