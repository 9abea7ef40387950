"""Compare the coverage of each part with what it must have: `python tests/coverage_gates.py COVERAGE.json`."""

from __future__ import annotations

import json
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

ADAPTER = (
    "__init__", "adapter", "answers", "cache", "client", "diagnosis", "game", "inputs", "monitor", "recovery",
    "transport",
)  # fmt: skip
"""The files of emulators that play on other servers."""
GATES: dict[str, tuple[float, tuple[str, ...]]] = {
    "flags": (95, ("config/flags.py", "config/tree.py")),
    "config": (90, ("config/*",)),
    "snapshots": (90, ("snapshots/*",)),
    "ingest": (85, ("aggregation/*",)),
    "export": (80, ("runs/exports.py", "runs/tables.py")),
    "web": (85, ("web/*", "http/*")),
    "versions": (90, ("versioning/*",)),
    "adapter": (95, tuple(f"emulators/{name}.py" for name in ADAPTER)),
    "everything": (85, ("*",)),
}
"""Parts, the per cent of lines and branches that tests must reach, and their files in src/ptp."""


def covered(files: dict[str, Any], patterns: tuple[str, ...]) -> float:
    """Return the per cent of lines and branches of the files that tests reached."""
    chosen = [
        facts["summary"]
        for path, facts in files.items()
        if any(fnmatch(path, f"*src/ptp/{pattern}") for pattern in patterns)
    ]
    if not chosen:
        raise SystemExit(f"no file is measured for {', '.join(patterns)}; correct GATES")
    reached: int = sum(each["covered_lines"] + each.get("covered_branches", 0) for each in chosen)
    whole: int = sum(each["num_statements"] + each.get("num_branches", 0) for each in chosen)
    return 100 * reached / whole


def main(report: Path) -> int:
    """Print every gate, and return 1 when one is not reached."""
    files = json.loads(report.read_text())["files"]
    short = 0
    for part, (gate, patterns) in GATES.items():
        percent = covered(files, patterns)
        short += percent < gate
        verdict = "" if percent >= gate else "  too little"
        sys.stdout.write(f"{part:12}{percent:6.1f} %  at least {gate:g} %{verdict}\n")
    return int(short > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
