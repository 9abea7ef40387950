"""What a person at the page sees: how long until it is there, and how old the picture is that it shows.

The page is a real Chromium, driven by Playwright. Both run on the machine of the run, so they share one clock.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.bench_dashboard import playing, serving
from benchmarks.common import report
from ptp.recording import RunDirectory
from ptp.recording.database import Database

SECONDS = 10.0
LOADS = 10
ENOUGH = 100  # samples

SAMPLE = """
() => {
  const canvas = document.querySelector("canvas");
  window.samples = [];
  const painted = new MessageChannel();
  painted.port1.onmessage = (event) => window.samples.push([event.data, Date.now()]);
  new MutationObserver(() => {
    const tick = Number(canvas.dataset.tick);
    requestAnimationFrame(() => painted.port2.postMessage(tick));
  }).observe(canvas, { attributes: true, attributeFilter: ["data-tick"] });
}
"""
PAINTS = """
() => Object.fromEntries(performance.getEntriesByType("paint").map(({ name, startTime }) => [name, startTime]))
"""


def first_paint(browser: Browser, url: str, view: str) -> None:
    """From asking for the page to the first thing that is drawn, with nothing in the cache."""
    paints: list[dict[str, float]] = []
    for _ in range(LOADS):
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        page = context.new_page()
        page.goto(f"{url}/{view}")
        paints.append(_wait(page, PAINTS, lambda found: len(found) >= 2))
        context.close()
    contents = sorted(paint["first-contentful-paint"] for paint in paints)
    firsts = sorted(paint["first-paint"] for paint in paints)
    where = "a live run" if view else "the list"
    report(f"first paint of {where}, slowest", firsts[-1], 1000, at_least=False, unit="ms", loads=LOADS,
           median=round(firsts[LOADS // 2], 1), with_content=round(contents[-1], 1))  # fmt: skip


def _wait(page: Page, script: str, enough: Callable[[Any], bool]) -> Any:
    """Return what a script sees in the page as soon as it is enough."""
    for _ in range(3000):
        seen = page.evaluate(script)
        if enough(seen):
            return seen
        time.sleep(0.01)
    sys.exit(f"the page did not come to it: {script.strip()}")


def to_pixels(browser: Browser, url: str, directory: RunDirectory) -> None:
    """From a tick in the run to its picture on the page, taken after the browser has drawn it."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{url}/#/run/{directory.run_id}/live")
    _wait(page, "() => Number(document.querySelector('canvas')?.dataset.tick)", lambda tick: (tick or 0) > 0)
    page.evaluate(SAMPLE)
    first, began = _tick(url), time.monotonic()
    time.sleep(SECONDS)
    pace = (_tick(url) - first) / (time.monotonic() - began)
    samples: list[tuple[int, float]] = page.evaluate("window.samples")
    anchor = _anchor(url)
    page.close()
    time.sleep(1)  # until the last ticks are in the database
    times = _times(directory, anchor)
    waits = sorted(at - times[tick] * 1000 for tick, at in samples if tick in times)
    if len(waits) < ENOUGH:
        sys.exit(f"only {len(waits)} of {len(samples)} pictures could be timed; {ENOUGH} are needed")
    report("tick to pixels, p95", waits[len(waits) * 95 // 100], 300, at_least=False, unit="ms",
           median=round(waits[len(waits) // 2], 1), slowest=round(waits[-1], 1), pictures=len(waits),
           pictures_per_second=round(len(waits) / SECONDS, 1), ticks_per_second=round(pace, 1))  # fmt: skip


def _now(url: str) -> dict[str, Any]:
    with httpx.stream("GET", f"{url}/api/v1/live?seconds=5", timeout=30) as response:
        state = False
        for line in response.iter_lines():
            if state:
                now: dict[str, Any] = json.loads(line.removeprefix("data: "))["now"]
                return now
            state = line == "event: state"
    sys.exit("the run tells nothing; does it still play?")


def _tick(url: str) -> int:
    return int(_now(url)["tick"])


def _anchor(url: str) -> tuple[int, float]:
    now = _now(url)
    return now["tick"], now["at"]


def _times(directory: RunDirectory, anchor: tuple[int, float]) -> dict[int, float]:
    """Return when each tick was played, in seconds since 1970: its seconds of play, set by one that is known."""
    with Database(directory.database) as database:
        elapsed = dict(database.rows("SELECT tick, elapsed FROM steps"))
    tick, at = anchor
    return {each: at + seconds - elapsed[tick] for each, seconds in elapsed.items()}


def main() -> None:
    """Measure everything."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("Chromium is not installed; on Debian: apt-get install chromium")
    with (
        tempfile.TemporaryDirectory() as name,
        playing(Path(name)) as directory,
        serving(Path(name)) as url,
        sync_playwright() as tools,
        tools.chromium.launch(executable_path=chromium, args=["--no-sandbox"]) as browser,
    ):
        first_paint(browser, url, "")
        first_paint(browser, url, f"#/run/{directory.run_id}/live")
        to_pixels(browser, url, directory)


if __name__ == "__main__":
    main()
