"""Measure every figure and print one table: `python -m benchmarks [NAME ...]`, or `make bench`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HEAD = ("figure", "measured", "goal", "verdict")


def main(names: list[str]) -> int:
    known = sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))
    unknown = set(names) - set(known)
    if unknown:
        print(f"no benchmark named {', '.join(sorted(unknown))}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    rows = [HEAD, *(_row(figure) for name in names or known for figure in _measure(name))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return int(any(row[3] == "short" for row in rows))


def _measure(name: str) -> Iterator[dict[str, Any]]:
    """Run one script in a process of its own, and return its figures; a script that fails is a figure too."""
    print(f"measuring {name} ...", file=sys.stderr, flush=True)
    done = subprocess.run([sys.executable, "-m", f"benchmarks.bench_{name}"], capture_output=True, text=True)
    for line in done.stdout.splitlines():
        print(line, file=sys.stderr, flush=True)
        yield json.loads(line)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no word"])[-1]
        yield {"benchmark": name, "measured": last, "goal": "to be measured", "passed": False}


def _row(figure: dict[str, Any]) -> tuple[str, str, str, str]:
    measured = figure["measured"]
    text = measured if isinstance(measured, str) else f"{measured:,.4g}"
    return figure["benchmark"], text, figure["goal"], "met" if figure["passed"] else "short"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
