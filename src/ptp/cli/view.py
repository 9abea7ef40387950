"""What `ptp watch` shows: the newest of everything, laid out for the room that there is."""

from __future__ import annotations

import base64
import threading
from collections import deque
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import accumulate

from rich.color import Color
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.layout import Layout
from rich.panel import Panel
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from ptp.cli.layout import wrap
from ptp.cli.output import number
from ptp.cli.screenshot import Cell, cells, fit, shade
from ptp.cli.show import hp_bar
from ptp.frames.pictures import Pixels, decode
from ptp.records import DecisionMade, EpisodeEnded, Event, Metadata, Record, Rewound, Step
from ptp.runner.protocol import Line, Now
from ptp.worlds.knowledge import CurrentState, knowledge_of

WIDE = 80  # columns from which on the panels stand beside the picture
SIDE = 42  # columns that the panels beside the picture keep
REASONS = 4  # lines of a reasoning that are shown
LISTS = 4  # lines that a list needs, its frame included
LEAST_PICTURE = 8  # lines
SPAN = 3.0  # seconds over which the pace is taken
KEPT = 60  # events and commands that are kept
KEYS = "space pause · s step · hold ← rewind · n snapshot · +/- speed · ? help · q quit"


class View:
    """Takes in what a run reports and draws it; both may happen at once."""

    message = ""
    """What came of the last key."""
    goes_back = False
    """Whether the user holds the key that takes the run back."""
    help: Mapping[str, str] | None = None
    """The keys and what they do, while the user wants to see them."""

    def __init__(self, metadata: Metadata) -> None:
        self._name = f"{metadata.agent} in {metadata.world.name}"
        self._commands = metadata.facts.commands
        self._knowledge = knowledge_of(metadata.facts.family)
        self._lock = threading.Lock()
        self._now: Now | None = None
        self._state: CurrentState = self._knowledge.describe({})
        self._decision: DecisionMade | None = None
        self._picture: RenderableType = "waiting for a picture"
        self._events: dict[tuple[int, str], None] = {}
        self._steps: dict[int, Step] = {}
        self._paces: deque[tuple[float, int]] = deque()

    @property
    def tick(self) -> int:
        """The newest tick."""
        return 0 if self._now is None else self._now.tick

    @property
    def paused(self) -> bool:
        """Whether the run is paused."""
        return self._now is not None and self._now.paused

    @property
    def pace(self) -> float:
        """Ticks per second, as measured here."""
        (began, first), (now, last) = (self._paces[0], self._paces[-1]) if self._paces else ((0.0, 0), (0.0, 0))
        return (last - first) / (now - began) if now > began else 0.0

    def fill(self, records: Iterable[Record]) -> None:
        """Take in what happened before the user came."""
        with self._lock:
            for record in records:
                self._note(record)

    def take(self, line: Line) -> None:
        """Take in what the run reports."""
        picture: RenderableType | None = None
        if line.frame and line.frame.format == "text":
            picture = Text.from_ansi(line.frame.data)
        elif line.frame:
            picture = Picture(decode(base64.b64decode(line.frame.data), "png"))
        with self._lock:
            self._now = line.now
            self._measure(line.now)
            self._picture = picture or self._picture
            if isinstance(line.state, dict):
                self._state = self._knowledge.describe(line.state)
            for record in line.records:
                self._note(record)

    def _note(self, record: Record) -> None:
        match record:
            case DecisionMade():
                self._decision = record
            case Step():
                self._steps[record.tick] = record
            case Event(tick=tick, kind=kind, title=title) if kind != "PartySeen":
                self._events[tick, title] = None
            case EpisodeEnded():
                text = f"episode {record.episode:,}: reward {number(record.reward)}, {record.steps:,} steps"
                self._events[record.tick, text] = None
            case Rewound(from_tick=from_tick, to_tick=to_tick):
                self._steps = {tick: step for tick, step in self._steps.items() if tick <= to_tick}
                self._events = {event: None for event in self._events if event[0] <= to_tick}
                self._events[to_tick, f"went back here from tick {from_tick:,}"] = None
        if len(self._events) > 2 * KEPT:
            self._events = dict.fromkeys(sorted(self._events, key=lambda event: event[0])[-KEPT:])
        if len(self._steps) > 2 * KEPT:
            self._steps = {tick: self._steps[tick] for tick in sorted(self._steps)[-KEPT:]}

    def _measure(self, now: Now) -> None:
        if self._paces and (now.paused or self._paces[-1][1] > now.tick):
            self._paces.clear()  # it is paused, or went back
        self._paces.append((now.at, now.tick))
        while self._paces[-1][0] - self._paces[0][0] > SPAN:
            self._paces.popleft()

    # -- layout ------------------------------------------------------------------------------------------------

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width, height = options.max_width, (options.height or options.max_height) - 1
        with self._lock:
            whole, main = Layout(), self._wide(width, height) if width >= WIDE else self._narrow(width, height)
            footer = Text(self.message or KEYS, style="bold" if self.message else "dim", no_wrap=True)
            footer.overflow = "ellipsis"
            whole.split_column(main, Layout(footer, name="keys", size=1))
        yield whole

    def _wide(self, width: int, height: int) -> Layout:
        columns, rows = self._room(width, height)
        below = height - rows >= LISTS
        panels = [self._panel_of_facts(), *self._party(), *self._reasons(width - columns - 4)]
        lists = [self._happened()] if below or not self._steps else [self._happened(), self._played()]
        if self.help:
            lines = [f"{key:<6} {what}" for key, what in self.help.items()]
            panels = [_panel("help", "keys", Text("\n".join(lines)), len(lines) + 3)]
        side, left, whole = Layout(name="side"), Layout(name="left", size=columns), Layout(name="main")
        side.split_column(*_fitting(panels, height - LISTS), *lists)
        left.split_column(self._screen(rows), self._played()) if below else left.split_column(self._screen())
        whole.split_row(left, side)
        return whole

    def _room(self, width: int, height: int) -> tuple[int, int]:
        """Return the columns and lines that the picture and its frame take; a text takes three parts of five."""
        if not isinstance(self._picture, Picture):
            return min(width - SIDE, width * 3 // 5), height
        columns = min(width - SIDE, self._picture.columns(height - 2) + 4)
        return columns, min(height, self._picture.lines(columns - 4) + 2)

    def _narrow(self, width: int, height: int) -> Layout:
        party = "  ".join(f"{member.name or '?'} {member.hp}/{member.max_hp}" for member in self._state.party or ())
        facts = _lines(filter(None, [f"tick {self.tick:,}  {self._rate()} ticks/s  {self._where()}", party]))
        panels = [_panel("line", self._status(), facts, 4 if party else 3), self._happened(LISTS + 1),
                  *self._reasons(width - 4)]  # fmt: skip
        if self.help:
            lines = [f"{key:<6} {what}" for key, what in self.help.items()]
            panels = [_panel("help", "keys", _lines(lines), len(lines) + 2)]
        chosen = _fitting(panels, height - LEAST_PICTURE)
        whole = Layout(name="main")
        whole.split_column(*chosen[:1], self._screen(), *chosen[1:])
        return whole

    # -- panels ------------------------------------------------------------------------------------------------

    def _screen(self, size: int | None = None) -> Layout:
        return _panel("screen", f"tick {self.tick:,} · {self._name}", self._picture, size)

    def _happened(self, size: int | None = None) -> Layout:
        newest_last = sorted(self._events, key=lambda event: event[0])
        lines = (f"{tick:>7,}  {text}" for tick, text in reversed(newest_last))
        return _panel("events", "events", _lines(lines), size)

    def _played(self) -> Layout:
        lines = (
            f"{step.tick:>7,}  {self._named(step.command):<10} {number(step.reward)}"
            for _, step in sorted(self._steps.items(), reverse=True)
        )
        return _panel("commands", "commands and rewards", _lines(lines))

    def _named(self, command: str) -> str:
        is_number = command.isdecimal() and int(command) < len(self._commands)
        return self._commands[int(command)] if is_number else command

    def _reasons(self, width: int) -> list[Layout]:
        if self._decision is None or not self._decision.reasoning:
            return []
        lines = wrap(self._decision.reasoning, width)[:REASONS]
        return [_panel("reasons", self._decision.type or "decision", _lines(lines), len(lines) + 2)]

    def _party(self) -> list[Layout]:
        members = [
            f"{(member.name or '?')[:10]:<10} {member.level:>3} {hp_bar(member.hp, member.max_hp, 12)} "
            f"{member.hp}/{member.max_hp}"
            for member in self._state.party or ()
        ]
        return [_panel("party", "party", _lines(members), len(members) + 2)] if members else []

    def _status(self) -> str:
        return "going back" if self.goes_back else "paused" if self.paused else "live"

    def _where(self) -> str:
        place = self._state.coordinates
        return f"{self._state.location or ''}" + (f"  {place.x} {place.y}" if place else "")

    def _rate(self) -> str:
        target = self._now.target if self._now else 0.0
        return f"{self.pace:.1f} of {target:g}" if target else f"{self.pace:,.0f}"

    def _panel_of_facts(self) -> Layout:
        now, state = self._now, self._state
        facts = {"tick": f"{self.tick:,}", "ticks/s": self._rate()}
        if state.screen_type is not None:
            facts |= {"where": self._where(), "screen": state.screen_type}
        if state.badges is not None:
            facts["badges"] = str(state.badges)
        if now is not None:
            facts |= {"episode": f"{now.episode:,}", "reward": f"{now.reward:g}"}
            facts |= {"cost": f"${now.cost:.4f}"} if now.cost else {}
        return _panel("facts", self._status(), _lines(f"{name:<8} {it}" for name, it in facts.items()), len(facts) + 2)


def _panel(name: str, title: str, inside: RenderableType, size: int | None = None) -> Layout:
    return Layout(Panel(inside, title=title, padding=(0, 1)), name=name, size=size)


def _fitting(panels: list[Layout], height: int) -> list[Layout]:
    ends = accumulate(panel.size or 0 for panel in panels)
    return [panel for panel, end in zip(panels, ends, strict=True) if end <= height]


def _lines(lines: Iterable[str]) -> RenderableType:
    """Return lines, each cut where the room ends."""
    text = Text.from_ansi("\n".join(lines))
    text.no_wrap, text.overflow = True, "ellipsis"
    return text


class Picture:
    """A picture that takes the room it is given on a full screen; a line shows two rows of its pixels."""

    def __init__(self, pixels: Pixels | str) -> None:
        assert not isinstance(pixels, str)
        self._pixels = pixels

    def columns(self, lines: int) -> int:
        """Return how wide it is in so many lines."""
        return int(2 * lines * self._pixels.shape[1] / self._pixels.shape[0])

    def lines(self, columns: int) -> int:
        """Return how high it is in so many columns."""
        return int(columns * self._pixels.shape[0] / self._pixels.shape[1] / 2)

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
