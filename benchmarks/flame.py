"""Draw stacks as a flame graph: `python -m benchmarks.flame STACKS.txt PICTURE.svg`.

The stacks are those that `py-spy record --format raw` writes. Wider is longer; what stands on a bar was called by it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple

WIDTH, HEIGHT, MARGIN = 1200, 17, 24  # pixels
LEAST = 0.002  # share of the whole below which a bar is left out
LETTER = 6.3  # pixels that a letter takes
BEGINS = "Session._loop"  # what lies below is the same in every run
COLOURS = {"worlds": "#7cb98b", "agents": "#e0a458", "recording": "#7aa5d2", "snapshots": "#b48ead",
           "frames": "#d08770", "engine": "#c9b458"}  # fmt: skip
FRAME = re.compile(r"^(?P<name>[^(]*) \((?P<file>[^:)]*)(?::\d+)?\)$")


class Bar:
    """One function, called from one place."""

    def __init__(self) -> None:
        self.samples = 0
        self.calls: dict[tuple[str, str], Bar] = {}

    def add(self, frames: list[tuple[str, str]], samples: int) -> None:
        self.samples += samples
        if frames:
            self.calls.setdefault(frames[0], Bar()).add(frames[1:], samples)


class Drawn(NamedTuple):
    """Where a bar stands."""

    name: str
    colour: str
    left: float
    width: float
    level: int


def read(path: Path) -> Bar:
    """Return what the run's own thread did, from its loop upwards."""
    whole = Bar()
    for line in path.read_text().splitlines():
        stack, _, samples = line.rpartition(" ")
        frames = [_frame(text) for text in stack.split(";")]
        names = [name for name, _ in frames]
        if BEGINS in names:
            whole.add(frames[names.index(BEGINS) :], int(samples))
    return whole


def _frame(text: str) -> tuple[str, str]:
    found = FRAME.match(text)
    if found is None:
        return text, ""
    room = next((part for part in found["file"].split("/") if part in COLOURS), "")
    return found["name"].replace(".<locals>", ""), room


def place(bar: Bar, left: float, scale: float, least: float, level: int = 0) -> Iterator[Drawn]:
    """Return the bars that a bar called, and all above them."""
    for (name, room), called in sorted(bar.calls.items(), key=lambda item: -item[1].samples):
        width = called.samples * scale
        if called.samples >= least:
            yield Drawn(name, COLOURS.get(room, "#b8bcc6"), left, width, level)
            yield from place(called, left, scale, least, level + 1)
        left += width


def draw(whole: Bar) -> str:
    """Return the picture."""
    bars = list(place(whole, 0, WIDTH / whole.samples, LEAST * whole.samples))
    height = MARGIN + HEIGHT * (1 + max(bar.level for bar in bars))
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="monospace" '
             f'font-size="10.5"><rect width="{WIDTH}" height="{height}" fill="#fbfbf8"/>']  # fmt: skip
    for at, (room, colour) in enumerate(COLOURS.items()):
        parts.append(f'<rect x="{at * 100 + 4}" y="6" width="10" height="10" fill="{colour}"/>'
                     f'<text x="{at * 100 + 18}" y="15">{room}</text>')  # fmt: skip
    for bar in bars:
        top, share = height - HEIGHT * (bar.level + 1), bar.width / WIDTH
        words = f"{bar.name} {share:.1%}"
        fits = int((bar.width - 4) / LETTER)
        shown = words if len(words) <= fits else bar.name[: fits if fits > 2 else 0]
        parts.append(f'<g><title>{escape(words)}</title><rect x="{bar.left:.1f}" y="{top}" width="{bar.width:.1f}" '
                     f'height="{HEIGHT - 1}" fill="{bar.colour}"/>'
                     f'<text x="{bar.left + 2:.1f}" y="{top + 12}">{escape(shown)}</text></g>')  # fmt: skip
    return "\n".join([*parts, "</svg>\n"])


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(draw(read(Path(sys.argv[1]))))
