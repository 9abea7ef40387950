"""Ways to people, exits and other parts of the world, from where the explorer stands."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

import numpy as np

from ptp.agents.explorer import needs
from ptp.agents.explorer.atlas import Atlas, Door, Part, Trip
from ptp.agents.explorer.memory import Errand, Memory, Talker, name_square
from ptp.agents.explorer.patience import is_given_up
from ptp.agents.explorer.ways import Reach, doorsteps, speaking_places
from ptp.worlds.gameboy.paths import Direction
from ptp.worlds.gameboy.profiles import GameProfile
from ptp.worlds.gameboy.state import GameState
from ptp.worlds.gameboy.tiles import Square

PATIENCE = 3  # times a talker may stay silent
FAR = 1000  # doors
WHIM = 0.4  # how often somebody is chosen who need not be the nearest

Likes = Callable[[Talker], bool]


class Trips:
    """Turns a wish to be somewhere into an errand; None when it can't be fulfilled."""

    def __init__(
        self, memory: Memory, state: GameState, profile: GameProfile, random: np.random.Generator, atlas: Atlas
    ) -> None:
        assert state.map_id is not None
        assert state.coordinates is not None
        self._memory = memory
        self._state = state
        self._profile = profile
        self._random = random
        self._atlas = atlas
        self._is_current = False
        self.wish = ""
        """What the present errand is for."""
        self.map = state.map_id
        self.here: Square = (state.coordinates.x, state.coordinates.y)
        self.area = memory.areas[self.map]
        self._weary = needs.is_weary(state)
        self._blocked = {
            *self.area.standing(memory.progress, self.here),
            *self.area.barred(memory.progress, memory.moment),
        }
        self._someone_roams = any(
            talker.roams and talker.place in self._blocked for talker in self.area.talkers.values()
        )
        self._avoids_grass = self._weary and self.here not in self.area.grass and bool(self.area.grass)
        self._reach = self._find_reach()
        self._trips: list[Trip] = []
        self._more_trips: Iterator[Trip] | None = None

    @property
    def atlas(self) -> Atlas:
        """The known world in parts, brought up to date when it is first needed."""
        if not self._is_current:
            self._is_current = True
            self._atlas.refresh()
        return self._atlas

    def _find_reach(self) -> Reach:
        """Return where one can go; who is weary keeps out of the grass, if that leaves a way on."""
        area = self.area
        if self._avoids_grass:
            reach = Reach(area, self.here, self._blocked | area.grass)
            doors = {square for exit_ in area.exits.values() for square, _ in doorsteps(area, exit_)}
            if reach.nearest(doors) is not None:
                return reach
            self._someone_roams = any(
                talker.roams and talker.place in self._blocked for talker in self.area.talkers.values()
            )
        self._avoids_grass = False
        return Reach(area, self.here, self._blocked)

    def walk(self, kind: str, squares: Collection[Square], reason: str) -> Errand | None:
        """Walk to the nearest of some squares."""
        purpose = self._purpose(self.map, "")
        if is_given_up(self._memory, purpose):
            return None
        square = self._reach.nearest(squares)
        if square is None:
            return None
        steps = self._reach.steps_to(square)
        return Errand(kind, self.map, name_square(square), steps, reason, purpose=purpose)

    def _purpose(self, map_id: int, where: str) -> str:
        return f"{self.wish} {map_id} {where}"

    def visit(self, likes: Likes, why: str, most: int = FAR) -> Errand | None:
        """Talk to somebody: here, else in the nearest part of the world where somebody is, *most* doors away."""
        if not any(likes(talker) for area in self._memory.areas.values() for talker in area.talkers.values()):
            return None
        return self.talk_here(likes, why) or self.travel(lambda part: self.has_somebody(part, likes), why, most)

    def has_somebody(self, part: Part, likes: Likes) -> bool:
        """Whether somebody who can be reached in a part is liked and will talk."""
        area, sheet = self._memory.areas[part[0]], self.atlas.sheet(part[0])
        return any(
            sheet.parts.get(square) == part[1]
            for name, talker in area.talkers.items()
            if likes(talker) and self._will_talk(part[0], name, talker)
            for distance in (1, 2)
            for square, _ in speaking_places(area, talker, distance)
        )

    def _will_talk(self, map_id: int, name: str, talker: Talker) -> bool:
        if talker.silences >= PATIENCE or self._memory.has_failed(f"talk {map_id} {name}"):
            return False
        return not (self._memory.paused and is_given_up(self._memory, self._purpose(map_id, name)))

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
                if square in self.area.open
            }
            square = self._reach.nearest(places)
            if square is not None:
                return self._go_and_talk(square, *places[square], why)
        return None

    def _go_and_talk(self, square: Square, name: str, face: Direction, why: str) -> Errand:
        steps = self._reach.steps_to(square)
        what = "read the sign" if self.area.talkers[name].sign else "talk to somebody"
        reason = f"{what}, {len(steps)} steps away: {why}"
        return Errand("talk", self.map, name, steps, reason, face, purpose=self._purpose(self.map, name))

    def leave(self, ways: Iterable[Door], why: str, purpose: str = "") -> Errand | None:
        """Take the nearest of some exits of this map."""
        exits = self.area.exits
        doors = {
            square: (way.exit, last)
            for way in ways
            if not self._memory.has_failed(f"leave {self.map} {way.exit}")
            for square, last in doorsteps(self.area, exits[way.exit])
            if square in way.squares and (last or square != self.here)
        }
        square = self._reach.nearest(doors)
        if square is None:
            return None
        name, last = doors[square]
        leads = exits[name].leads
        where = "an unknown place" if leads is None else self._profile.maps.get(leads, "an unknown place")
        steps = [*self._reach.steps_to(square), *last]
        purpose = purpose or self._purpose(self.map, name)
        return Errand("leave", self.map, name, steps, f"go to {where}: {why}", purpose=purpose)

    def travel(self, likes: Callable[[Part], bool], why: str, most: int = FAR) -> Errand | None:
        """Take the first exit on the way to the nearest other part of the world that is liked."""
        for trip in self._trips_by_length():
            if trip.length > most:
                return None
            part = trip.part
            if not likes(part):
                continue
            purpose = self._purpose(part[0], name_square(part[1]))
            if not is_given_up(self._memory, purpose):
                errand = self.leave(trip.doors, self._explain(why, trip), purpose)
                if errand is not None:
                    return errand
        return None

    def _explain(self, why: str, trip: Trip) -> str:
        """Return why one goes there, and where that is if it is not next door."""
        if trip.length == 1:
            return why
        return f"{why}, in {self._profile.maps.get(trip.part[0], 'an unknown place')}"

    def _trips_by_length(self) -> Iterator[Trip]:
        """Yield what the atlas yields, but ask it only once for each part."""
        yield from self._trips
        if self._more_trips is None:
            self._more_trips = self.atlas.by_distance(self.map, self.here)
        for trip in self._more_trips:
            self._trips.append(trip)
            yield trip
