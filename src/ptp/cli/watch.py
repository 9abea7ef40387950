"""`ptp watch`: watch a live run in the terminal."""

from __future__ import annotations

import base64
import sys
import time
from collections import deque
from typing import TYPE_CHECKING, Any

from ptp.config.flags import Parser
from ptp.errors import UsageError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ptp.recording import Metadata

FRAMES = 12  # pictures per second in the terminal
DESCRIPTION = """Watch a live run in the terminal: screen, state, decisions and events. Ctrl-C ends it, the run goes on.

With --json each line that the run tells is printed as JSON, without pictures.
"""


def main(argv: list[str]) -> int:
    """Run the verb."""
    from ptp.cli.reading import parse_run
    from ptp.runner.control import watch

    options, _, directory, metadata = parse_run(Parser("ptp watch", DESCRIPTION), argv)
    lines = watch(directory)
    if options.json:
        return _print(lines)
    if not sys.stdout.isatty():
        raise UsageError("`ptp watch` needs a terminal; use --json, or `ptp actions --stream`")

    from rich.live import Live

    view = View(metadata)
    with Live(view.draw(), screen=True, auto_refresh=False) as screen:
        shown = 0.0
        for line in lines:
            view.take(line)
            if time.monotonic() - shown > 1 / FRAMES:
                shown = time.monotonic()
                screen.update(view.draw(), refresh=True)
    sys.stdout.write(f"run {directory.run_id} has ended; see `ptp show {directory.run_id}`\n")
    return 0


def _print(lines: Any) -> int:
    import json

    for line in lines:
        line.pop("frame", None)
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
    return 0


class View:
    """What is on the terminal: the newest of everything."""

    def __init__(self, metadata: Metadata) -> None:
        self._metadata = metadata
        self._now: dict[str, Any] = {}
        self._state: dict[str, Any] = {}
        self._decision: dict[str, Any] = {}
        self._picture = ""
        self._events: deque[str] = deque(maxlen=12)
        self._rate: deque[tuple[float, int]] = deque(maxlen=60)

    def take(self, line: dict[str, Any]) -> None:
        """Take in what the run told."""
        from ptp.dashboard.ticks import title_of

        self._now = line["now"]
        self._rate.append((self._now["at"], self._now["tick"]))
        if isinstance(line.get("state"), dict):
            self._state = line["state"]
        if line.get("frame"):
            self._picture = _as_text(line["frame"])
        for record in line.get("records", ()):
            if record["record"] == "DecisionMade":
                self._decision = record
            elif record["record"] == "Happened" and record["event"]["event"] != "PartySeen":
                kind = record["event"]["event"]
                self._events.append(f"{record['tick']:>7}  {title_of(kind, record['event'])}")

    def draw(self) -> RenderableType:
        """Return everything as one layout."""
        from rich.layout import Layout
        from rich.panel import Panel
        from rich.text import Text

        name = f"{self._metadata.agent} in {self._metadata.world.name}"
        layout = Layout()
        layout.split_row(Layout(name="screen", ratio=3), Layout(name="side", ratio=2))
        layout["screen"].update(Panel(Text.from_ansi(self._picture or "waiting for a picture"), title=name))
        layout["side"].split_column(
            Layout(name="now", size=9),
            Layout(name="decision", size=6),
            Layout(name="party", size=10),
            Layout(name="events"),
        )
        layout["now"].update(Panel(self._facts(), title="paused" if self._now.get("paused") else "live"))
        layout["decision"].update(Panel(self._reasons(), title=str(self._decision.get("type", "decision"))))
        layout["party"].update(Panel(Text.from_ansi(self._party()), title="party"))
        layout["events"].update(Panel(Text("\n".join(reversed(self._events))), title="what happened"))
        return layout

    def _facts(self) -> str:
        now, state = self._now, self._state
        place = state.get("coordinates") or {}
        where = f"{state.get('location') or '-'}  {place.get('x', '')} {place.get('y', '')}".rstrip()
        facts = {
            "tick": f"{now.get('tick', 0):,}",
            "ticks/s": f"{self._ticks_per_second():.1f} of {now.get('target', 0):g}",
            "where": where,
            "screen": state.get("screen_type") or "-",
            "badges": state.get("badges") if state.get("badges") is not None else "-",
            "reward": f"{now.get('reward', 0):g}",
            "cost": f"${now.get('cost', 0):.4f}",
        }
        return "\n".join(f"{name:<8} {value}" for name, value in facts.items())

    def _ticks_per_second(self) -> float:
        if len(self._rate) < 2 or self._rate[-1][0] <= self._rate[0][0]:
            return 0.0
        return (self._rate[-1][1] - self._rate[0][1]) / (self._rate[-1][0] - self._rate[0][0])

    def _reasons(self) -> str:
        reasoning = self._decision.get("reasoning") or ""
        return f"{reasoning}\n\nafter tick {self._decision.get('tick', 0):,}"

    def _party(self) -> str:
        from ptp.cli.status import hp_bar

        return "\n".join(
            f"{member.get('nickname') or member.get('species') or '?':<11} {member['level']:>3} "
            f"{hp_bar(member['hp'], member['max_hp'])} {member['hp']}/{member['max_hp']}"
            for member in self._state.get("party") or ()
        )


def _as_text(frame: dict[str, Any]) -> str:
    from ptp.cli.screenshot import in_terminal
    from ptp.dashboard.drawing import Drawn

    if frame["format"] == "text":
        return str(frame["data"])
    import shutil

    columns = shutil.get_terminal_size((120, 40)).columns
    return in_terminal(Drawn("image/png", base64.b64decode(frame["data"])), max(40, columns * 3 // 5 - 4))
