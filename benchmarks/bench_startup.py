"""How long a whole recorded run of one tick takes, from process start to process end."""

from __future__ import annotations

import tempfile

from benchmarks.common import process_seconds, report


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        words = ["-m", "ptp", "run", "--world", "FrozenLake-v1", "--max-ticks", "1", "-q", "--data-dir", folder]
        (fastest,) = process_seconds(words, times=7)
        report("startup", fastest, 2.0, at_least=False, unit="seconds")


if __name__ == "__main__":
    main()
