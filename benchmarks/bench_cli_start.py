"""How long the command line takes to start, against importing argparse alone."""

from __future__ import annotations

from benchmarks.common import process_seconds, report

FLAGS = [
    "--world", "FrozenLake-v1", "--agent", "random", "--max-ticks", "1000", "--max-time", "60", "--max-cost", "1.5",
    "--tick-rate-base", "10", "--tick-rate-battle", "2", "--tick-rate-timeout", "30", "--tick-rate-adaptive",
    "--tick-rate-budget", "hourly", "--tick-rate-budget-limit", "5", "--command-buffer-size", "5",
    "--command-timeout", "5", "--command-validate", "--command-stale-threshold", "1", "--on-limit", "save-only",
    "--limit-grace-period", "10", "--experiment-name", "x", "--random-seed", "7", "--quiet",
]  # fmt: skip
PARSE = f"from ptp.cli.run import parse; parse({FLAGS!r})"


def main() -> None:
    assert sum(word.startswith("--") for word in FLAGS) == 20
    bare, parsed, version = process_seconds(["-c", "import argparse"], ["-c", PARSE], ["-m", "ptp", "--version"])
    facts = {"bare_ms": round(bare * 1000, 1)}
    report("cli_start", parsed / bare, 3.5, at_least=False, unit="times `import argparse`",
           ms=round(parsed * 1000, 1), **facts)  # fmt: skip
    report("cli_version", version / bare, 2.0, at_least=False, unit="times `import argparse`",
           ms=round(version * 1000, 1), **facts)  # fmt: skip


if __name__ == "__main__":
    main()
