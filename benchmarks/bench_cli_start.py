"""How long the command line takes to start, and to list runs, against importing argparse alone."""

from __future__ import annotations

import tempfile

from benchmarks.common import process_seconds, report
from ptp.cli import main as ptp

FLAGS = [
    "--world", "FrozenLake-v1", "--agent", "random", "--max-ticks", "1000", "--max-time", "60", "--max-cost", "1.5",
    "--tick-rate-base", "10", "--tick-rate-battle", "2", "--tick-rate-timeout", "30", "--tick-rate-adaptive",
    "--tick-rate-budget", "hourly", "--tick-rate-budget-limit", "5", "--command-buffer-size", "5",
    "--command-timeout", "5", "--command-validate", "--command-stale-threshold", "1", "--on-limit", "save-only",
    "--limit-grace-period", "10", "--experiment-name", "x", "--random-seed", "7", "--quiet",
]  # fmt: skip
PARSE = f"""
from ptp.cli.main import find_verb
from ptp.cli.parser import make_parser
name, verb, rest = find_verb(["run", *{FLAGS!r}])
make_parser(name, verb).parse(rest).config
"""
RUN = ["run", "--world", "FrozenLake-v1", "--tick-rate-base", "0", "--max-ticks", "100", "--quiet"]


def main() -> None:
    assert sum(word.startswith("--") for word in FLAGS) == 20
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(3):
            assert ptp([*RUN, "--data-dir", folder]) == 0
        bare, *measured = process_seconds(
            ["-c", "import argparse"], ["-c", PARSE], ["-m", "ptp", "--version"],
            ["-m", "ptp", "runs", "--data-dir", folder],
        )  # fmt: skip
    goals = {"cli_start": 3.0, "cli_version": 2.0, "cli_runs": 5.0}
    for (name, goal), seconds in zip(goals.items(), measured, strict=True):
        report(name, seconds / bare, goal, at_least=False, unit="times `import argparse`",
               ms=round(seconds * 1000, 1), bare_ms=round(bare * 1000, 1))  # fmt: skip


if __name__ == "__main__":
    main()
