"""Real ptp processes: what they are told, and what they say."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

PATIENCE = 600.0  # seconds that any verb may take


class Wrong(Exception):
    """Something happened that must never happen."""


class Shell:
    """Runs ptp on one data directory and remembers what it was told, so that it can be told again by hand."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.records = folder / "records"
        self.told: list[str] = []
        self._errors = folder / "stderr.txt"

    def begin(self, *words: str) -> subprocess.Popen[bytes]:
        """Start a verb and return its process; `complaint` tells what it said of itself."""
        command = self._command(words)
        with open(self._errors, "wb") as errors:
            return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)

    def complaint(self) -> str:
        """Return what the process that was started last has to say."""
        return _checked(self._errors.read_text(errors="replace"))

    def may(self, *words: str) -> bool:
        """Run a verb that may be refused, and return whether it was not."""
        done = self._run(words)
        _checked(done.stderr)
        return done.returncode == 0

    def must(self, *words: str) -> str:
        """Run a verb that has to work, and return what it prints."""
        done = self._run(words)
        if done.returncode:
            said = (done.stderr or done.stdout).strip()
            raise Wrong(f"`ptp {shlex.join(words)}` ends with {done.returncode}: {said}")
        return done.stdout

    def note(self, text: str) -> None:
        """Remember something that was done by other means."""
        self.told.append(text)

    def _run(self, words: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self._command(words), capture_output=True, text=True, timeout=PATIENCE)

    def _command(self, words: tuple[str, ...]) -> list[str]:
        self.told.append(f"ptp {shlex.join(words)}")
        return [sys.executable, "-m", "ptp", *words, "--data-dir", str(self.folder)]


def _checked(text: str) -> str:
    if "Traceback" in text:
        raise Wrong(text.strip())
    return text
