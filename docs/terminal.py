"""A real terminal: commands are typed into it, and what it then shows is drawn as a window."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

PROMPT = "$ "
PATIENCE = 120.0  # seconds for what a command prints
THEME = TerminalTheme(
    (22, 28, 24), (222, 231, 223),
    [(22, 28, 24), (244, 133, 122), (111, 212, 154), (234, 176, 79), (125, 180, 240), (195, 155, 242), (110, 205, 205),
     (200, 210, 202)],
    [(110, 124, 114), (255, 160, 150), (145, 235, 180), (255, 205, 120), (160, 205, 255), (215, 185, 255),
     (150, 230, 230), (240, 246, 241)],
)  # fmt: skip
WINDOW = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; padding: 28px 32px 36px; background: #e9ede6; display: inline-block; }}
.window {{ background: {background}; color: {foreground}; border-radius: 12px; overflow: hidden;
  box-shadow: 0 2px 4px #1a241d30, 0 14px 40px #1a241d38; }}
.bar {{ height: 36px; background: #262f29; display: flex; gap: 8px; align-items: center; padding: 0 14px;
  font: 13px "DejaVu Sans", sans-serif; color: #93a298; }}
.bar i {{ width: 12px; height: 12px; border-radius: 50%; background: #4a554d; }}
.bar span {{ flex: 1; text-align: center; margin-right: 52px; }}
pre {{ margin: 0; padding: 14px 20px 18px; font: {size} "DejaVu Sans Mono", monospace; }}
</style><div class="window"><div class="bar"><i></i><i></i><i></i><span>{title}</span></div><pre>{code}</pre></div>"""


class Terminal:
    """A terminal of a fixed size in which a shell waits for commands."""

    def __init__(self, name: str, folder: Path, columns: int, lines: int) -> None:
        self._tmux = ["tmux", "-u", "-L", name, "-f", os.devnull]
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        settings = {"PS1": PROMPT, "PATH": path, "COLORTERM": "truecolor", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
        shell = shlex.join(["env", *(f"{name}={value}" for name, value in settings.items()), "bash", "--norc"])
        self._do("new-session", "-d", "-x", str(columns), "-y", str(lines), "-c", str(folder), shell)
        self.wait(lambda shown: shown.startswith(PROMPT.strip()))

    def type(self, command: str, until: Callable[[str], bool] | None = None) -> None:
        """Type a command and wait until it has ended, or until what the terminal shows is enough."""
        before = _prompts(self._text())
        self._do("send-keys", "-l", command)
        self._do("send-keys", "Enter")
        self.wait(until or (lambda shown: _prompts(shown) > before))

    def wait(self, until: Callable[[str], bool]) -> None:
        """Wait until what the terminal shows is enough."""
        end = time.monotonic() + PATIENCE
        while not until(self._text()):
            if time.monotonic() > end:
                sys.exit(f"the terminal does not come to what is waited for; it shows:\n{self._text()}")
            time.sleep(0.1)

    def page(self, title: str, size: str) -> str:
        """Return what the terminal shows as a page with one window, in letters of a size and line height."""
        shown = self._do("capture-pane", "-p", "-e").rstrip()
        console = Console(record=True, width=1000, file=io.StringIO(), force_terminal=True, color_system="truecolor")
        console.print(Text.from_ansi(_without_last_prompt(shown)), soft_wrap=True)
        window = WINDOW.replace("{title}", title).replace("{size}", size)
        return console.export_html(theme=THEME, inline_styles=True, code_format=window)

    def close(self) -> None:
        """End the shell and everything in it."""
        self._do("kill-server")

    def _text(self) -> str:
        return self._do("capture-pane", "-p")

    def _do(self, *words: str) -> str:
        return subprocess.run([*self._tmux, *words], check=True, capture_output=True, text=True).stdout


def _prompts(shown: str) -> int:
    return sum(line.startswith(PROMPT.strip()) for line in shown.splitlines())


def _without_last_prompt(shown: str) -> str:
    lines = shown.split("\n")
    return "\n".join(lines[:-1] if lines[-1].strip() == PROMPT.strip() else lines)


@contextmanager
def terminal(name: str, folder: Path, columns: int, lines: int) -> Iterator[Terminal]:
    """Open a terminal for a while."""
    if shutil.which("tmux") is None:
        sys.exit("make screenshots needs tmux; on Debian: apt-get install tmux")
    opened = Terminal(name, folder, columns, lines)
    try:
        yield opened
    finally:
        opened.close()
