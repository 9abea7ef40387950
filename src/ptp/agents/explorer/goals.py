"""Choosing what to do next on foot: wishes in order, the first that can be fulfilled becomes the errand."""

from __future__ import annotations

from functools import cached_property

from ptp.agents.explorer import needs
from ptp.agents.explorer.atlas import Door, Part
from ptp.agents.explorer.leaps import Leap, is_untried
from ptp.agents.explorer.learning import level_for_rematch
from ptp.agents.explorer.memory import NEVER, Area, Errand, Talker, name_square, square_named
from ptp.agents.explorer.patience import give_up, is_given_up, try_again
from ptp.agents.explorer.trips import Trips
from ptp.agents.explorer.ways import MOVES, doorsteps
from ptp.worlds.gameboy.tiles import Square

MORE_LEVELS = 2
NEAR_SHOP = 4  # doors that one goes through to buy something
DOOR = 0.2  # how often one who walks anywhere takes a door
MOST_REPEATS = 6  # events that must have come to pass at most before somebody is asked again


class Goals(Trips):
    """The wishes of one moment: made where the explorer stands, and thrown away."""

    def choose(self) -> Errand:
        """Return the errand to go on."""
        wishes = (
            self._rest,
            self._ask_for_help,
            self._buy,
            self._talk_to_strangers,
            self._choose_a_first_creature,
            self._see_more,
            self._hunt_here,
            self._leave_for_the_unknown,
            self._go_where_something_is_left,
            self._ask_for_a_rematch,
            self._hunt_elsewhere,
            self._try_a_leap,
            self._talk_again,
            self._take_other_ways,
            self._grow_stronger,
        )
        for wish in wishes:
            self.wish = wish.__name__.lstrip("_")
            errand = wish()
            if errand is not None:
                return errand
        return self._stroll()

    def _rest(self) -> Errand | None:
        return self.visit(_heals, "the party needs rest") if self._weary else None

    def _ask_for_help(self) -> Errand | None:
        if not self._weary:
            return None
        errand = self.visit(self._may_help, "the party needs rest: ask somebody")
        if errand is None:  # nobody can help from here: go on all the same, for a battle that is lost heals as well
            self._weary = False
        return errand

    def _may_help(self, talker: Talker) -> bool:
        return not (talker.sign or talker.sells or talker.lost) and talker.useless != self._memory.progress

    def _buy(self) -> Errand | None:
        if not needs.has_run_out(self._state, self._profile):
            return None
        return self.visit(self._has_supplies, "the bag needs supplies", NEAR_SHOP)

    def _has_supplies(self, talker: Talker) -> bool:
        if not talker.sells or talker.useless == self._memory.progress:
            return False
        return needs.choose_purchase(self._state, self._profile, talker.goods) is not None

    def _talk_to_strangers(self) -> Errand | None:
        return self.talk_here(_is_stranger, "not heard yet")

    def _choose_a_first_creature(self) -> Errand | None:
        """Take the best of the creatures that are offered, once all were asked about."""
        best = max((talker.offer for talker in self.area.talkers.values()), default=0.0)
        if self._state.party or not best:
            return None
        return self.talk_here(lambda talker: talker.offer == best, "the best first creature on offer")

    def _see_more(self) -> Errand | None:
        unseen = self.area.frontier - {self.here}
        kind = f"look {self.map} "
        for name in self._memory.failures if unseen else ():
            if name.startswith(kind) and self._memory.has_failed(name):
                unseen.discard(square_named(name.removeprefix(kind)))
        return self.walk("look", unseen, "walk to squares not seen yet")

    def _leave_for_the_unknown(self) -> Errand | None:
        own = self.atlas.reachable(self.map, self.here)
        new = [door for part in own for door in self.atlas.new_doors(part)]
        return self.leave(new, "nobody knows what is there")

    def _go_where_something_is_left(self) -> Errand | None:
        for part in self.atlas.reachable(self.map, self.here):
            if self._someone_roams:  # and may only have stood in the way
                give_up(self._memory, _searched(part))
            else:
                self._memory.fail(_searched(part))
        return self.travel(self._is_promising, "something is left to see")

    def _is_promising(self, part: Part) -> bool:
        if self._memory.has_failed(_searched(part)) or is_given_up(self._memory, _searched(part)):
            return False
        return (
            part[1] in self.atlas.sheet(part[0]).frontier
            or bool(self.atlas.new_doors(part))
            or self.has_somebody(part, _is_stranger)
        )

    def _try_a_leap(self) -> Errand | None:
        """See whether a way leads over something to a part of the map that can't be reached."""
        jumps = {start: direction for start, direction, _ in self._untried_leaps(self.map, self.here)}
        errand = self.walk("leap", jumps, "see whether one can jump over this")
        if errand is not None:
            errand.steps.append(jumps[square_named(errand.target)])
            return errand
        return self.travel(lambda part: bool(self._untried_leaps(*part)), "a jump may lead on")

    def _untried_leaps(self, map_id: int, here: Square) -> list[Leap]:
        """Return the jumps from where one can walk to where one can't that nobody knows the outcome of."""
        gaps = self.atlas.gaps(map_id)
        if not gaps:
            return []
        area, parts = self._memory.areas[map_id], self.atlas.sheet(map_id).parts
        own = {part for _, part in self.atlas.reachable(map_id, here)}
        leaps = [gap[1] for gap in gaps if is_untried(self._memory, area, gap)]
        return [leap for leap in leaps if parts[leap[0]] in own and parts[leap[2]] not in own]

    def _take_other_ways(self) -> Errand | None:
        exits = self.area.exits
        own = self.atlas.reachable(self.map, self.here)
        doors = [door for _, part in own for door in self.atlas.sheet(self.map).doors.get(part, ())]
        return self.leave([door for door in doors if not exits[door.exit].taken], "not taken yet")

    def _wants_to_hunt(self, area: Area) -> bool:
        if self._weary or not area.grass:
            return False
        return needs.wants_to_hunt(self._state, area, self._level_wanted, self._best_hunt, self._profile)

    @cached_property
    def _level_wanted(self) -> int:
        return max(self._memory.level_wanted, *(level_for_rematch(talker) for talker in self._undefeated), 0)

    @cached_property
    def _undefeated(self) -> list[Talker]:
        areas = self._memory.areas.values()
        return [talker for area in areas for talker in area.talkers.values() if talker.lost]

    @cached_property
    def _best_hunt(self) -> int:
        """Return the highest level of the wild that the lead can beat."""
        lead = needs.lead_of(self._state)
        most = 0 if lead is None else lead.level + 1
        areas = self._memory.areas.values()
        return max((area.strongest for area in areas if area.strongest <= most and needs.is_huntable(area)), default=0)

    def _hunt_here(self) -> Errand | None:
        grass = self.area.grass if self._wants_to_hunt(self.area) else ()
        return self.walk("hunt", grass, self._why_to_hunt(self.area))

    def _why_to_hunt(self, area: Area) -> str:
        lead, wanted = needs.lead_of(self._state), self._level_wanted
        if lead is None or lead.level >= wanted:
            return "look for wild creatures in the tall grass"
        return f"train in the tall grass: level {lead.level}, and {wanted} is wanted"

    def _hunt_elsewhere(self) -> Errand | None:
        return self.travel(self._can_hunt_in, "hunt in the tall grass")

    def _can_hunt_in(self, part: Part) -> bool:
        area = self._memory.areas[part[0]]
        if not self._wants_to_hunt(area):
            return False
        parts = self.atlas.sheet(part[0]).parts
        return any(parts.get(square) == part[1] for square in area.grass)

    def _grow_stronger(self) -> Errand | None:
        """Nothing new is left: hunt for two levels more, then try again what failed."""
        lead = needs.lead_of(self._state)
        if lead is None or self._weary or not self._best_hunt:
            return None
        self._memory.level_wanted = self._level_wanted = max(self._level_wanted, lead.level + MORE_LEVELS)
        self._forget_failures()
        return self._hunt_here() or self._hunt_elsewhere()

    def _forget_failures(self) -> None:
        """Make everything worth another try that came to nothing so far; people less and less often."""
        self._memory.failures.clear()
        try_again(self._memory)
        self._memory.rounds += 1
        for area in self._memory.areas.values():
            if area.barriers or area.walls:
                area.barriers.clear()
                area.walls.clear()
                area.changes += 1
            for talker in area.talkers.values() if self._memory.rounds.bit_count() == 1 else ():
                talker.repeats = talker.silences = 0
                talker.heard = min(talker.heard, self._memory.progress - 1)

    def _ask_for_a_rematch(self) -> Errand | None:
        lead = needs.lead_of(self._state)
        level = 0 if lead is None else lead.level
        if not any(level_for_rematch(talker) <= level for talker in self._undefeated):
            return None
        rest = None if needs.is_fresh(self._state) else self.visit(_heals, "rest before a hard battle")
        return rest or self.visit(
            lambda talker: bool(talker.lost) and level_for_rematch(talker) <= level,
            f"a battle was lost here, and level {level} is strong enough to fight it again",
        )

    def _talk_again(self) -> Errand | None:
        return self.visit(self._may_have_news, "may have something new to say")

    def _may_have_news(self, talker: Talker) -> bool:
        """Whether more has happened since it was heard than the times it had nothing new to say."""
        waited = self._memory.progress - talker.heard
        return not talker.sign and not talker.lost and waited > min(talker.repeats, MOST_REPEATS)

    def _stroll(self) -> Errand:
        """Nothing is left to wish for: forget what failed, and walk anywhere, now and then through a door."""
        self.wish, reason = "stroll", "nothing left to try: walk anywhere"
        self._forget_failures()
        if self._random.random() < DOOR:
            doors = [Door(name, frozenset(square for square, _ in doorsteps(self.area, exit_)))
                     for name, exit_ in self.area.exits.items()]  # fmt: skip
            errand = self.leave(doors, reason)
            if errand is not None:
                return errand
        squares = sorted(self.area.open)
        if squares:
            walk = self.walk("stroll", {squares[int(self._random.integers(len(squares)))]}, reason)
            if walk is not None and walk.steps:
                return walk
        direction = MOVES[int(self._random.integers(len(MOVES)))][0]
        return Errand("stroll", self.map, "anywhere", [direction], reason)


def _heals(talker: Talker) -> bool:
    return talker.heals


def _is_stranger(talker: Talker) -> bool:
    return talker.heard == NEVER


def _searched(part: Part) -> str:
    return f"search {part[0]} {name_square(part[1])}"
