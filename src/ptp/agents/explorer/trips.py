"""Ways to people, exits and other maps, from where the explorer stands."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable

import numpy as np

from ptp.agents.explorer import needs
from ptp.agents.explorer.memory import Errand, Memory, Talker, measure_progress
from ptp.agents.explorer.ways import Reach, doorsteps, speaking_places
from ptp.worlds.gameboy.paths import Direction
from ptp.worlds.gameboy.profiles import GameProfile
from ptp.worlds.gameboy.state import GameState
from ptp.worlds.gameboy.tiles import Square

PATIENCE = 3  # times a talker may stay silent
WHIM = 0.4  # how often somebody is chosen who need not be the nearest

Likes = Callable[[Talker], bool]


class Trips:
    """Turns a wish to be somewhere into an errand; None when it can't be fulfilled."""

    def __init__(self, memory: Memory, state: GameState, profile: GameProfile, random: np.random.Generator) -> None:
        assert state.map_id is not None
        assert state.coordinates is not None
        self._memory = memory
        self._state = state
        self._profile = profile
        self._random = random
        self.map = state.map_id
        self.here: Square = (state.coordinates.x, state.coordinates.y)
        self.area = memory.areas[self.map]
        self.progress = measure_progress(state)
        self._weary = needs.is_weary(state)
        self._avoids_grass = self._weary and self.here not in self.area.grass and bool(self.area.grass)
        self._reach = self._find_reach()

    def _find_reach(self) -> Reach:
        """Return where one can go; who is weary keeps out of the grass, if that leaves a way on."""
        area = self.area
        if self._avoids_grass:
            reach = Reach(area, self.here, area.grass)
            doors = {square for exit_ in area.exits.values() for square, _ in doorsteps(area, exit_)}
            if reach.nearest(doors) is not None:
                return reach
            self._avoids_grass = False
        return Reach(area, self.here)

    def walk(self, kind: str, squares: Collection[Square], reason: str) -> Errand | None:
        """Walk to the nearest of some squares."""
        square = self._reach.nearest(squares)
        if square is None:
            return None
        steps = self._reach.steps_to(square)
        return Errand(kind, self.map, name_square(square), steps, reason)

    def visit(self, likes: Likes, why: str) -> Errand | None:
        """Talk to somebody: here, else on the nearest map where somebody is."""
        return self.talk_here(likes, why) or self.travel(lambda map_id: self.has_somebody(map_id, likes), why)

    def has_somebody(self, map_id: int, likes: Likes) -> bool:
        """Whether somebody on a map is liked and will talk."""
        talkers = self._memory.areas[map_id].talkers.items()
        return any(likes(talker) and self._will_talk(map_id, name, talker) for name, talker in talkers)

    def _will_talk(self, map_id: int, name: str, talker: Talker) -> bool:
        failed = self._memory.has_failed(f"talk {map_id} {name}", self.progress)
        return talker.silences < PATIENCE and not failed

    def talk_here(self, likes: Likes, why: str) -> Errand | None:
        """Talk to somebody on this map: mostly the nearest, now and then another."""
        talkers = self.area.talkers
        names = [name for name in talkers if likes(talkers[name]) and self._will_talk(self.map, name, talkers[name])]
        if len(names) > 1 and self._random.random() < WHIM:
            names = [names[int(self._random.integers(len(names)))]]
        for distance in (1, 2):
            places = {
                square: (name, face)
                for name in names
                for square, face in speaking_places(self.area, talkers[name], distance)
            }
            square = self._reach.nearest(places)
            if square is not None:
                return self._go_and_talk(square, *places[square], why)
        if not self._avoids_grass:
            for name in names:
                self._memory.failures[f"talk {self.map} {name}"] = self.progress
        return None

    def _go_and_talk(self, square: Square, name: str, face: Direction, why: str) -> Errand:
        steps = self._reach.steps_to(square)
        what = "read the sign" if self.area.talkers[name].sign else "talk to somebody"
        return Errand("talk", self.map, name, steps, f"{what}, {len(steps)} steps away: {why}", face)

    def leave(self, names: Iterable[str], why: str) -> Errand | None:
        """Take the nearest of some exits of this map."""
        doors = {
            square: (name, last)
            for name in names
            if not self.has_failed("leave", name)
            for square, last in doorsteps(self.area, self.area.exits[name])
            if last or square != self.here
        }
        square = self._reach.nearest(doors)
        if square is None:
            return None
        name, last = doors[square]
        leads = self.area.exits[name].leads
        where = "an unknown place" if leads is None else self._profile.maps.get(leads, "an unknown place")
        return Errand("leave", self.map, name, [*self._reach.steps_to(square), *last], f"go to {where}: {why}")

    def travel(self, likes: Callable[[int], bool], why: str) -> Errand | None:
        """Take the first exit on the way to the nearest other map that is liked."""
        areas = self._memory.areas
        for map_id, exits in self._maps_by_distance():
            if map_id != self.map and map_id in areas and likes(map_id):
                errand = self.leave(exits, why)
                if errand is not None:
                    return errand
        return None

    def _maps_by_distance(self) -> Iterable[tuple[int, list[str]]]:
        """Yield every known map, nearest first, with the exits of this map that begin a shortest way to it."""
        first: dict[int, list[str]] = {}
        for name, exit_ in self.area.exits.items():
            if exit_.leads is not None and exit_.leads != self.map and not self.has_failed("leave", name):
                first.setdefault(exit_.leads, []).append(name)
        waiting = deque(first)
        while waiting:
            map_id = waiting.popleft()
            yield map_id, first[map_id]
            area = self._memory.areas.get(map_id)
            for exit_ in area.exits.values() if area else ():
                if exit_.leads is not None and exit_.leads not in first and exit_.leads != self.map:
                    first[exit_.leads] = first[map_id]
                    waiting.append(exit_.leads)

    def has_failed(self, kind: str, target: str) -> bool:
        """Whether an errand on this map came to nothing, and nothing has changed in the game since."""
        return self._memory.has_failed(f"{kind} {self.map} {target}", self.progress)


def name_square(square: Square) -> str:
    """Return what an errand calls a square."""
    return f"{square[0]},{square[1]}"
