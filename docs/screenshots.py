"""Make the pictures in docs/pictures with headless Chromium and tmux; `make screenshots` calls it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from terminal import terminal

from ptp.config.tree import BY_FLAG, build
from ptp.recording import RunDirectory
from ptp.runner import run
from ptp.runner.control import ask
from ptp.runner.protocol import Change, Status
from ptp.web.app import bind

PICTURES = Path(__file__).parent / "pictures"
# file, view, what it has to show, colors, width, height
VIEWS: tuple[tuple[str, str, str, Literal["light", "dark"], int, int], ...] = (
    ("page.png", "live", "battle, turn", "light", 1280, 930),
    ("timeline.png", "timeline/300", "In this tick", "dark", 1280, 930),
    ("compare.png", "timeline/452?compare=450", "of the picture changed", "light", 1280, 930),
)
RUN = "ptp run --world tallgrass --agent explorer --tick-rate-base 0 --max-ticks 2500 --max-badges 1"  # as `make run`


@contextmanager
def chromium() -> Iterator[Any]:
    """Open a browser for a while."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium")
    if program is None:
        sys.exit("make screenshots needs Chromium; on Debian: apt-get install chromium")
    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


def take_window(html: str, name: str) -> None:
    """Take a picture of a window."""
    with chromium() as browser:
        page = browser.new_page()
        page.set_content(html)
        page.locator("body").screenshot(path=PICTURES / name)


def take_report(path: str) -> None:
    """Take a picture of a report."""
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1180, "height": 740})
        page.goto(f"file://{path}")
        page.screenshot(path=PICTURES / "report.png")


def take_terminal(folder: Path) -> None:
    """Take a picture of a run in the terminal, from its command to its replay."""
    with terminal("ptp-picture-of-a-run", folder, 100, 30) as screen:
        screen.type(RUN)
        screen.type("ptp replay latest --verify")
        html = screen.page("ptp run", "16px/19px")
    take_window(html, "terminal.png")


@contextmanager
def watching(folder: Path) -> Iterator[None]:
    """Watch a live run in the terminal, and take a picture of it in the first battle after everything else."""
    with terminal("ptp-picture-of-a-live-run", folder, 120, 36) as screen:
        screen.type(f"ptp watch --data-dir {folder}", until=lambda shown: "commands and rewards" in shown)
        yield
        screen.wait(lambda shown: "hardest" in shown)  # the explorer chooses a move
        html = screen.page("ptp watch", "14px/16px")
    take_window(html, "watch.png")


def take_dashboard(folder: Path) -> None:
    """Take pictures of the dashboard over a run that goes on."""
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
        with watching(folder), chromium() as browser:
            for name, view, text, scheme, width, height in VIEWS:
                page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
                page.goto(address.url)
                page.goto(f"http://127.0.0.1:{address.port}/#/run/{directory.run_id}/{view}")
                page.wait_for_selector(".tabs")
                page.wait_for_selector(f"text={text}", timeout=120_000)
                page.wait_for_timeout(1700)
                page.screenshot(path=PICTURES / name)
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
    while (now := ask(directory, Status()).now) is None or now.tick < tick:
        time.sleep(0.05)
    ask(directory, Change({"--tick-rate-base": "10", "--tick-rate-battle": "2"}))
    return directory


def main() -> None:
    """Make every picture."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        take_terminal(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        take_dashboard(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        flags = {"--world": "CartPole-v1", "--max-ticks": 5000, "--tick-rate-base": 0, "--random-seed": 7,
                 "--data-dir": folder}  # fmt: skip
        result = run(build({BY_FLAG[flag]: value for flag, value in flags.items()}))
        take_report(str(result.report))


if __name__ == "__main__":
    main()
