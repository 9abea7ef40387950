"""Make the pictures in docs/pictures with headless Chromium; `make screenshots` calls it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Literal

from ptp.config.tree import BY_FLAG, build
from ptp.dashboard.server import bind
from ptp.recording import RunDirectory
from ptp.runner import run
from ptp.runner.control import ask

PICTURES = Path(__file__).parent / "pictures"
VIEWS: tuple[tuple[str, str, Literal["light", "dark"], int, int], ...] = (
    ("page.png", "live", "light", 1280, 860),
    ("timeline.png", "timeline/300", "dark", 1280, 860),
)
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


def take_dashboard(folder: Path) -> None:
    """Take pictures of the dashboard over a run that goes on."""
    from playwright.sync_api import sync_playwright

    listener, address = bind("127.0.0.1", 0, None)
    listener.close()
    program = [sys.executable, "-m", "ptp"]
    place = ["--data-dir", str(folder), "--quiet"]
    player = subprocess.Popen(
        [*program, "run", "--world", "tallgrass", "--agent", "explorer", "--tick-rate-base", "0", "--random-seed", "3",
         *place]
    )  # fmt: skip
    server = subprocess.Popen(
        [*program, "dashboard", "--port", str(address.port), "--token", address.token, *place],
        stdout=subprocess.DEVNULL,
    )
    try:
        directory = _play_until(folder, 560)
        with sync_playwright() as tools:
            browser = tools.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            for name, view, scheme, width, height in VIEWS:
                page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
                page.goto(address.url)
                page.goto(f"http://127.0.0.1:{address.port}/#/run/{directory.run_id}/{view}")
                page.wait_for_selector(".tabs")
                page.wait_for_timeout(5000)
                page.screenshot(path=PICTURES / name)
            browser.close()
    finally:
        player.terminate()
        server.terminate()
        player.wait()
        server.wait()


def _play_until(folder: Path, tick: int) -> RunDirectory:
    """Wait until the run has come to a tick, then let it go on at a pace for people."""
    while not list(folder.glob("records/*/control.sock")):
        time.sleep(0.1)
    directory = RunDirectory(next(folder.glob("records/*/control.sock")).parent)
    while ask(directory, "status")["tick"] < tick:
        time.sleep(0.05)
    ask(directory, "set", flags={"--tick-rate-base": "10", "--tick-rate-battle": "10"})
    return directory


def main() -> None:
    """Make every picture."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        take_dashboard(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        flags = {"--world": "CartPole-v1", "--max-ticks": 5000, "--tick-rate-base": 0, "--random-seed": 7,
                 "--data-dir": folder}  # fmt: skip
        result = run(build({BY_FLAG[flag]: value for flag, value in flags.items()}))
        take(f"file://{result.report}", "report.png", 1180, 790)


if __name__ == "__main__":
    main()
