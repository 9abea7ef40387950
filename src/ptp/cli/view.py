"""What `ptp watch` shows: the newest of everything, laid out for the room that there is."""

from __future__ import annotations

import base64
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import accumulate

from rich.color import Color
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.layout import Layout
from rich.panel import Panel
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from ptp.cli.screenshot import Cell, cells, fit, shade
from ptp.cli.show import hp_bar
from ptp.frames.pictures import Pixels, decode
from ptp.records import DecisionMade, Event, Metadata
from ptp.runner.protocol import Line, Now
from ptp.worlds.knowledge import CurrentState, knowledge_of

WIDE = 80  # columns from which on the panels stand beside the picture
FACTS, REASONS, EVENTS = 9, 6, 4  # lines that a panel needs, its frame included
LEAST_PICTURE = 8  # lines
SPAN = 3.0  # seconds over which the pace is taken


class View:
    """Takes in what a run reports and draws it; both may happen at once."""

    def __init__(self, metadata: Metadata) -> None:
        self._name = f"{metadata.agent} in {metadata.world.name}"
        self._knowledge = knowledge_of(metadata.facts.family)
        self._lock = threading.Lock()
        self._now: Now | None = None
        self._state: CurrentState = self._knowledge.describe({})
        self._decision: DecisionMade | None = None
        self._picture: RenderableType = "waiting for a picture"
        self._events: deque[str] = deque(maxlen=60)
        self._paces: deque[tuple[float, int]] = deque()

    @property
    def tick(self) -> int:
        """The newest tick."""
        return 0 if self._now is None else self._now.tick

    def take(self, line: Line) -> None:
        """Take in what the run reports."""
        picture: RenderableType | None = None
        if line.frame and line.frame.format == "text":
            picture = Text.from_ansi(line.frame.data)
        elif line.frame:
            picture = Picture(decode(base64.b64decode(line.frame.data), "png"))
        with self._lock:
            self._now = line.now
            self._pace(line.now)
            self._picture = picture or self._picture
            if isinstance(line.state, dict):
                self._state = self._knowledge.describe(line.state)
            for record in line.records:
                if isinstance(record, DecisionMade):
                    self._decision = record
                elif isinstance(record, Event) and record.kind != "PartySeen":
                    self._events.append(f"{record.tick:>7,}  {record.title}")

    def _pace(self, now: Now) -> None:
        if self._paces and (now.paused or self._paces[-1][1] > now.tick):
            self._paces.clear()  # it is held, or went back
        self._paces.append((now.at, now.tick))
        while self._paces[-1][0] - self._paces[0][0] > SPAN:
            self._paces.popleft()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        height = options.height or options.max_height
        with self._lock:
            layout = self._wide(height) if options.max_width >= WIDE else self._narrow(height)
        yield layout

    def _wide(self, height: int) -> Layout:
        party = self._state.party or []
        panels = [_panel("facts", self._held(), _lines(self._facts()), FACTS), self._reasons(REASONS)]
        if party:
            members = _lines(
                f"{(member.name or '?')[:10]:<10} {member.level:>3} {hp_bar(member.hp, member.max_hp, 12)} "
                f"{member.hp}/{member.max_hp}"
                for member in party
            )
            panels.insert(1, _panel("party", "party", members, len(party) + 2))
        side = Layout(name="side", ratio=2, minimum_size=40)
        side.split_column(*_fitting(panels, height - EVENTS), self._happened(None))
        whole = Layout()
        whole.split_row(self._screen(), side)
        return whole

    def _narrow(self, height: int) -> Layout:
        party = "  ".join(f"{member.name or '?'} {member.hp}/{member.max_hp}" for member in self._state.party or ())
        facts = _lines([f"tick {self.tick:,}  {self._rate()} ticks/s  {self._where()}", party or "-"])
        panels = [_panel("line", self._held(), facts, 4), self._happened(EVENTS + 1), self._reasons(REASONS - 2)]
        chosen = _fitting(panels, height - LEAST_PICTURE)
        whole = Layout()
        whole.split_column(*chosen[:1], self._screen(), *chosen[1:])
        return whole

    def _screen(self) -> Layout:
        return _panel("screen", f"{self._name} · tick {self.tick:,}", self._picture, ratio=3)

    def _happened(self, size: int | None) -> Layout:
        return _panel("events", "what happened", _lines(reversed(self._events)), size)

    def _reasons(self, size: int) -> Layout:
        kind, reasoning = (self._decision.type, self._decision.reasoning) if self._decision else ("decision", None)
        return _panel("reasons", kind or "decision", Text(reasoning or "-"), size)

    def _held(self) -> str:
        return "paused" if self._now and self._now.paused else "live"

    def _where(self) -> str:
        place = self._state.coordinates
        return f"{self._state.location or '-'}" + (f"  {place.x} {place.y}" if place else "")

    def _rate(self) -> str:
        (began, first), (now, last) = (self._paces[0], self._paces[-1]) if self._paces else ((0.0, 0), (0.0, 0))
        rate = (last - first) / (now - began) if now > began else 0.0
        target = self._now.target if self._now else 0.0
        return f"{rate:.1f} of {target:g}" if target else f"{rate:,.0f}"

    def _facts(self) -> Iterator[str]:
        now, state = self._now, self._state
        facts = {"tick": f"{self.tick:,}", "ticks/s": self._rate()}
        if state.screen_type is not None:
            facts |= {"where": self._where(), "screen": state.screen_type}
        if state.badges is not None:
            facts["badges"] = str(state.badges)
        if now is not None:
            facts |= {"episode": f"{now.episode:,}", "reward": f"{now.reward:g}", "cost": f"${now.cost:.4f}"}
        return (f"{name:<8} {value}" for name, value in facts.items())


def _panel(name: str, title: str, inside: RenderableType, size: int | None = None, ratio: int = 1) -> Layout:
    return Layout(Panel(inside, title=title, padding=(0, 1)), name=name, size=size, ratio=ratio)


def _fitting(panels: list[Layout], height: int) -> list[Layout]:
    ends = accumulate(panel.size or 0 for panel in panels)
    return [panel for panel, end in zip(panels, ends, strict=True) if end <= height]


def _lines(lines: Iterable[str]) -> RenderableType:
    """Return lines, each cut where the room ends."""
    text = Text.from_ansi("\n".join(lines))
    text.no_wrap, text.overflow = True, "ellipsis"
    return text


class Picture:
    """A picture that takes the room it is given on a full screen."""

    def __init__(self, pixels: Pixels | str) -> None:
        assert not isinstance(pixels, str)
        self._pixels = pixels

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.max_width, options.height or options.max_height
        fitted = fit(self._pixels, *room)
        margin = Segment(" " * max(0, (options.max_width - fitted.shape[1]) // 2))
        for row in cells(fitted):
            yield margin
            if console.no_color or console.color_system is None:
                yield Segment("".join(map(shade, row)))
            else:
                yield from (Segment("▀", _style(cell)) for cell in row)
            yield Segment.line()


@lru_cache(1 << 14)
def _style(cell: Cell) -> Style:
    return Style(color=Color.from_rgb(*cell[0]), bgcolor=Color.from_rgb(*cell[1]))
