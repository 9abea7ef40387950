"""Every way to begin a run that the options were made for works as it is written."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from ptp.cli import main

EXAMPLES = """
run --tick-rate-base 10
run --tick-rate-base 2
run --tick-rate-budget hourly --tick-rate-budget-limit 5.00
run --tick-rate-base 10 --tick-rate-adaptive
run --tick-rate-base 15 --tick-rate-battle 1
run --screenshot-interval 500 --screenshot-quality 70
run --screenshot-interval 10 --screenshot-on-change --screenshot-quality 95
run --screenshot-battle-turn 1 --screenshot-interval 1000
run --screenshot-max-storage 10.0 --screenshot-compress
run --screenshot-interval 100 --screenshot-async
run --command-buffer-size 10 --command-timeout 5
run --command-buffer-size 50 --command-timeout 30 --command-rollback-history 200
run --command-validate --command-stale-threshold 1
run --command-interrupt-battle False
run --max-time 3600
run --max-ticks 100000
run --max-cost 10.00 --on-limit save-and-exit
run --max-badges 8 --max-level 100
run --max-pokemon-caught 150 --on-limit save-and-exit
run --max-time 3600 --limit-grace-period 0
run --snapshot-memory 10 --snapshot-disk 5000
run --snapshot-memory 50 --snapshot-disk 500 --snapshot-on-event catch,battle,badge
run --snapshot-disk 10000 --snapshot-compress --snapshot-max-disk 50.0
run --snapshot-memory 20 --rollback-on-error --rollback-grace 5
run --experiment-name "test-run-001"
run --experiment-config config/experiment-001.yaml
run --verbose --experiment-name "debug-catch-bug" --max-time 1800 --tick-rate-base 5 --screenshot-interval 10 \
--screenshot-on-change --screenshot-quality 95 --command-validate --snapshot-on-event catch,battle \
--rollback-on-error --snapshot-name "debug-session"
run --experiment-name "budget-test" --max-cost 5.00 --on-limit save-and-exit --limit-grace-period 60 \
--tick-rate-budget hourly --tick-rate-budget-limit 5.00 --screenshot-interval 1000 --screenshot-quality 70 \
--snapshot-disk 10000
"""


@pytest.mark.parametrize("example", EXAMPLES.strip().splitlines())
def test_a_run_that_names_no_world_plays_tallgrass_with_any_options(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("config").mkdir()
    Path("config/experiment-001.yaml").write_text("version: '3.0'\nexperiment:\n  name: test-run-002\n")
    words = shlex.split(example)
    short = ["--max-time", "1"] if "--max-ticks" in words else ["--max-ticks", "3"]
    fast = [] if "--tick-rate-base" in words else ["--tick-rate-base", "0"]
    assert main([*words, *short, *fast, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["world"], result["status"]) == ("tallgrass", "completed")
    assert result["stop"]["name"] == short[0].removeprefix("--")
