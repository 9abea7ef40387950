"""The known world as connected parts of maps, and the ways between them.

A map may have several parts that do not meet: each is a place of its own, and trips are planned over those. A part is
named by its first square, so it has the same name after every load.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from typing import NamedTuple

from ptp.agents.explorer.leaps import Gap, find_gaps
from ptp.agents.explorer.memory import Area, Exit, Memory
from ptp.agents.explorer.ways import MOVES, doorsteps
from ptp.worlds.gameboy.tiles import Square

NO_MOMENT = 1 << 60

Part = tuple[int, Square]
"""A map, and the first square of one of its parts."""


class Door(NamedTuple):
    """A way out of a part: an exit, and the squares that it is taken from there."""

    exit: str
    squares: frozenset[Square]


class Trip(NamedTuple):
    """A part of the world, the doors that begin a shortest way to it, and how many doors there are on the way."""

    part: Part
    doors: list[Door]
    length: int


class Sheet(NamedTuple):
    """One map, divided into parts."""

    changes: int
    blocked: set[Square]
    """Where somebody stood, or sent one back, when it was made."""
    parts: dict[Square, Square]
    """The part that each open square belongs to; warps belong to none."""
    falls: dict[Square, list[Square]]
    """The parts that a ledge or a slide leads to, from each part."""
    doors: dict[Square, list[Door]]
    frontier: frozenset[Square]
    """The parts that border on the unseen."""

    def around(self, square: Square) -> list[Square]:
        """Return the part that a square belongs to; for a warp, those beside it."""
        own = self.parts.get(square)
        if own is not None:
            return [own]
        beside = (self.parts.get((square[0] + across, square[1] + down)) for _, across, down in MOVES)
        return list(dict.fromkeys(part for part in beside if part is not None))


class Atlas:
    """Keeps every known map divided into parts; all it knows follows from memory, so it is not saved."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._progress = -1
        self._expiry = 0
        """The moment when the next barrier is worth another try."""
        self._sheets: dict[int, Sheet] = {}
        self._ways: dict[Part, list[tuple[Door, Part]]] = {}
        self._new: dict[Part, list[Door]] = {}
        self._gaps: dict[int, list[Gap]] = {}

    def refresh(self) -> None:
        """Divide the maps again that have changed; when people may have gone, look at all of them."""
        memory = self._memory
        everywhere = memory.progress != self._progress or memory.moment >= self._expiry
        stale = [
            map_id
            for map_id, area in memory.areas.items()
            if everywhere or map_id not in self._sheets or self._sheets[map_id].changes != area.changes
        ]
        for map_id in stale:
            self._renew(map_id, memory.areas[map_id])
        if stale:
            self._progress, self._expiry = memory.progress, _next_expiry(memory)

    def _renew(self, map_id: int, area: Area) -> None:
        memory, sheet = self._memory, self._sheets.get(map_id)
        blocked = {*area.standing(memory.progress), *area.barred(memory.progress, memory.moment)}
        if sheet is None or sheet.changes != area.changes or sheet.blocked != blocked:
            self._sheets[map_id] = _divide(area, blocked)
            self._gaps.pop(map_id, None)
            self._ways.clear()
            self._new.clear()

    def sheet(self, map_id: int) -> Sheet:
        """Return a known map in parts."""
        return self._sheets[map_id]

    def reachable(self, map_id: int, here: Square) -> list[Part]:
        """Return the parts of this map that one can walk to, the one underfoot first."""
        sheet = self.sheet(map_id)
        found = dict.fromkeys(sheet.around(here))
        waiting = deque(found)
        while waiting:
            for part in sheet.falls.get(waiting.popleft(), ()):
                if part not in found:
                    found[part] = None
                    waiting.append(part)
        return [(map_id, part) for part in found]

    def by_distance(self, map_id: int, here: Square) -> Iterator[Trip]:
        """Yield every other part that can be reached, nearest first, with the doors that begin a way to it."""
        own = self.reachable(map_id, here)
        first: dict[Part, list[Door]] = {part: [] for part in own}
        for part in own:
            for door, there in self._ways_from(part):
                if there not in own:
                    first.setdefault(there, []).append(door)
        waiting = deque(Trip(part, doors, 1) for part, doors in first.items() if doors)
        while waiting:
            trip = waiting.popleft()
            yield trip
            for _, there in self._ways_from(trip.part):
                if there not in first:
                    first[there] = trip.doors
                    waiting.append(Trip(there, trip.doors, trip.length + 1))

    def _ways_from(self, part: Part) -> Iterator[tuple[Door, Part]]:
        """Yield the ways out of a part that are known to lead somewhere, but for those that failed."""
        if part not in self._ways:
            self._ways[part] = list(self._find_ways(*part))
        for door, there in self._ways[part]:
            if not self._memory.has_failed(f"leave {part[0]} {door.exit}"):
                yield door, there

    def _find_ways(self, map_id: int, anchor: Square) -> Iterator[tuple[Door, Part]]:
        sheet, area = self.sheet(map_id), self._memory.areas[map_id]
        for fall in sheet.falls.get(anchor, ()):
            yield Door("", frozenset()), (map_id, fall)
        for door in sheet.doors.get(anchor, ()):
            exit_ = area.exits[door.exit]
            if exit_.leads is None or exit_.leads not in self._memory.areas:
                continue
            there = self.sheet(exit_.leads)
            ends: dict[Square, set[Square]] = {}
            for square in door.squares:
                arrival = self.arrival(exit_, square)
                for end in there.around(arrival) if arrival is not None else ():
                    ends.setdefault(end, set()).add(square)
            for end in sorted(ends):
                yield Door(door.exit, frozenset(ends[end])), (exit_.leads, end)

    def gaps(self, map_id: int) -> list[Gap]:
        """Return what might be jumped over on a map to get to another part."""
        if map_id not in self._gaps:
            self._gaps[map_id] = find_gaps(self._memory.areas[map_id], self.sheet(map_id).parts)
        return self._gaps[map_id]

    def arrival(self, exit_: Exit, square: Square) -> Square | None:
        """Return where one arrives who takes an exit from a square; None when nobody can tell yet."""
        if exit_.shift is not None:
            return square[0] + exit_.shift[0], square[1] + exit_.shift[1]
        there = self._memory.areas.get(exit_.leads) if exit_.leads is not None else None
        if there is None or exit_.warp is None:
            return None
        warps = [other.place for other in there.exits.values() if other.side is None]
        return warps[exit_.warp] if exit_.warp < len(warps) else None

    def new_doors(self, part: Part) -> list[Door]:
        """Return the ways out of a part that lead to squares which nobody has seen."""
        if part not in self._new:
            self._new[part] = self._find_new_doors(*part)
        return [door for door in self._new[part] if not self._memory.has_failed(f"leave {part[0]} {door.exit}")]

    def _find_new_doors(self, map_id: int, anchor: Square) -> list[Door]:
        exits, new = self._memory.areas[map_id].exits, []
        for door in self.sheet(map_id).doors.get(anchor, ()):
            squares = frozenset(square for square in door.squares if self._is_new(exits[door.exit], square))
            if squares:
                new.append(Door(door.exit, squares))
        return new

    def _is_new(self, exit_: Exit, square: Square) -> bool:
        there = self._memory.areas.get(exit_.leads) if exit_.leads is not None else None
        if there is None:
            return not exit_.taken
        arrival = self.arrival(exit_, square)
        if arrival is None:
            return True
        was_taken = exit_.taken and exit_.side is None
        return not (was_taken or arrival in there.open or arrival in there.closed)


def _next_expiry(memory: Memory) -> int:
    untils = (barrier.until for area in memory.areas.values() for barrier in area.barriers.values())
    return min((until for until in untils if until > memory.moment), default=NO_MOMENT)


def _divide(area: Area, blocked: set[Square]) -> Sheet:
    parts: dict[Square, Square] = {}
    shut = area.warps().union(blocked)
    for square in area.open:
        if square not in parts and square not in shut:
            found = _flood(area, square, shut)
            anchor = min(found)
            for member in found:
                parts[member] = anchor
    frontier = frozenset(parts[square] for square in area.frontier if square in parts)
    sheet = Sheet(area.changes, blocked, parts, {}, {}, frontier)
    for square, _, end in sorted(area.leaps):
        if square in parts and end in parts and parts[end] != parts[square]:
            falls = sheet.falls.setdefault(parts[square], [])
            if parts[end] not in falls:
                falls.append(parts[end])
    _add_doors(sheet, area)
    return sheet


def _flood(area: Area, start: Square, shut: Collection[Square]) -> set[Square]:
    """Return the squares one can walk to and back from."""
    found, waiting = {start}, [start]
    free, walls = area.open, area.walls
    while waiting:
        square = waiting.pop()
        x, y = square
        for direction, across, down in MOVES:
            beside = (x + across, y + down)
            if beside in found or beside not in free or beside in shut or (walls and (square, direction) in walls):
                continue
            found.add(beside)
            waiting.append(beside)
    return found


def _add_doors(sheet: Sheet, area: Area) -> None:
    for name, exit_ in area.exits.items():
        squares: dict[Square, set[Square]] = {}
        for square, _ in doorsteps(area, exit_):
            for part in sheet.around(square) if square not in sheet.blocked else ():
                squares.setdefault(part, set()).add(square)
        for part, steps in squares.items():
            sheet.doors.setdefault(part, []).append(Door(name, frozenset(steps)))
