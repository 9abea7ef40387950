"""Make the pictures in docs/pictures with headless Chromium; `make screenshots` calls it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ptp.config.tree import BY_FLAG, build
from ptp.runner import run

PICTURES = Path(__file__).parent / "pictures"
QUIET = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync")  # fmt: skip


def take(address: str, name: str, width: int, height: int) -> None:
    """Take a picture of a page."""
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("make screenshots needs Chromium; on Debian: apt-get install chromium")
    with tempfile.TemporaryDirectory() as profile:
        command = [chromium, *QUIET, f"--user-data-dir={profile}", f"--window-size={width},{height}",
                   f"--screenshot={PICTURES / name}", address]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True, timeout=120)


def main() -> None:
    """Make every picture."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        flags = {"--world": "CartPole-v1", "--max-ticks": 5000, "--tick-rate-base": 0, "--random-seed": 7,
                 "--data-dir": folder}  # fmt: skip
        result = run(build({BY_FLAG[flag]: value for flag, value in flags.items()}))
        take(f"file://{result.report}", "report.png", 1180, 790)


if __name__ == "__main__":
    main()
