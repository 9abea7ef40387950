"""A page in a real browser, over a real server and a run."""

from __future__ import annotations

import os
import shutil
from typing import Any

import httpx
import pytest

from ptp.recording import RunDirectory
from tests.web.parts import TOKEN

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def require_browser() -> None:
    """Skip what needs a browser where there is none."""
    try:
        import playwright.sync_api  # noqa: F401

        reason = None if CHROMIUM else "Chromium is not installed"
    except ImportError:
        reason = "playwright is not installed"
    if reason and os.environ.get("PTP_REQUIRE_ALL") == "1":
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)


class Stage:
    """A run, a server over it, and a page that shows it."""

    def __init__(self, page: Any, client: httpx.Client, run: RunDirectory) -> None:
        self.page, self.client, self.run = page, client, run
        self.problems: list[str] = []
        page.on("pageerror", lambda problem: self.problems.append(str(problem)))
        page.on("console", self._hear)

    def _hear(self, message: Any) -> None:
        if "Content Security Policy" in message.text:
            self.problems.append(message.text)

    def open(self, view: str = "live", token: str = TOKEN) -> None:
        """Open a view of the run."""
        self.page.goto(f"{self.client.base_url}/#token={token}")
        self.page.goto(f"{self.client.base_url}/#/run/{self.run.run_id}/{view}")

    def shown_tick(self) -> int:
        """Return the tick whose picture is shown."""
        return int(self.page.locator("canvas").last.get_attribute("data-tick") or -1)

    def pixels(self) -> str:
        """Return the picture that is shown."""
        return str(self.page.evaluate("document.querySelector('canvas').toDataURL()"))
