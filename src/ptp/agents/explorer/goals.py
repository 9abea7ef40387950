"""Choosing what to do next on foot: wishes in order, the first that can be fulfilled becomes the errand."""

from __future__ import annotations

from ptp.agents.explorer import needs
from ptp.agents.explorer.memory import NEVER, Area, Errand, Talker
from ptp.agents.explorer.trips import Trips, name_square
from ptp.agents.explorer.ways import MOVES

MORE_LEVELS = 2


class Goals(Trips):
    """The wishes of one moment: made where the explorer stands, and thrown away."""

    def choose(self) -> Errand:
        """Return the errand to go on."""
        wishes = (
            self._rest,
            self._ask_for_help,
            self._buy,
            self._talk_to_strangers,
            self._see_more,
            self._hunt_here,
            self._leave_for_the_unknown,
            self._go_where_something_is_left,
            self._ask_for_a_rematch,
            self._hunt_elsewhere,
            self._talk_again,
            self._take_other_ways,
            self._grow_stronger,
        )
        for wish in wishes:
            errand = wish()
            if errand is not None:
                return errand
        return self._stroll()

    def _rest(self) -> Errand | None:
        return self.visit(lambda talker: talker.heals, "the party needs rest") if self._weary else None

    def _ask_for_help(self) -> Errand | None:
        return self.visit(self._may_help, "the party needs rest: ask somebody") if self._weary else None

    def _may_help(self, talker: Talker) -> bool:
        return not talker.sign and not talker.sells and not talker.undefeated and talker.useless != self.progress

    def _buy(self) -> Errand | None:
        if not needs.has_run_out(self._state, self._profile):
            return None
        return self.visit(self._has_supplies, "the bag needs supplies")

    def _has_supplies(self, talker: Talker) -> bool:
        if not talker.sells or talker.useless == self.progress:
            return False
        return needs.choose_purchase(self._state, self._profile, talker.goods) is not None

    def _talk_to_strangers(self) -> Errand | None:
        return self.talk_here(lambda talker: talker.heard == NEVER, "not heard yet")

    def _see_more(self) -> Errand | None:
        unseen = self.area.frontier - {self.here}
        if self._memory.failures:
            unseen = {square for square in unseen if not self.has_failed("look", name_square(square))}
        return self.walk("look", unseen, "walk to squares not seen yet")

    def _leave_for_the_unknown(self) -> Errand | None:
        areas = self._memory.areas
        new = [name for name, exit_ in self.area.exits.items() if not exit_.taken and exit_.leads not in areas]
        return self.leave(new, "nobody knows what is there")

    def _go_where_something_is_left(self) -> Errand | None:
        self.area.exhausted = self.progress
        return self.travel(self._is_promising, "something is left to see there")

    def _is_promising(self, map_id: int) -> bool:
        area, areas = self._memory.areas[map_id], self._memory.areas
        if area.exhausted == self.progress:
            return False
        return (
            self.has_somebody(map_id, lambda talker: talker.heard == NEVER)
            or any(not exit_.taken and exit_.leads not in areas for exit_ in area.exits.values())
            or bool(area.frontier)
        )

    def _take_other_ways(self) -> Errand | None:
        return self.leave([name for name, exit_ in self.area.exits.items() if not exit_.taken], "not taken yet")

    def _wants_to_hunt(self, area: Area) -> bool:
        return not self._weary and needs.wants_to_hunt(self._state, area, self._memory.level_wanted, self._profile)

    def _hunt_here(self) -> Errand | None:
        grass = self.area.grass if self._wants_to_hunt(self.area) else ()
        return self.walk("hunt", grass, "look for wild creatures in the tall grass")

    def _hunt_elsewhere(self) -> Errand | None:
        return self.travel(
            lambda map_id: self._wants_to_hunt(self._memory.areas[map_id]), "there is tall grass to hunt in"
        )

    def _grow_stronger(self) -> Errand | None:
        """Nothing new is left: hunt for two levels more, then try again what failed."""
        lead = needs.lead_of(self._state)
        if lead is None or self._weary or not any(area.grass for area in self._memory.areas.values()):
            return None
        self._memory.level_wanted = max(self._memory.level_wanted, lead.level + MORE_LEVELS)
        self._memory.failures.clear()
        return self._hunt_here() or self._hunt_elsewhere()

    def _ask_for_a_rematch(self) -> Errand | None:
        lead = needs.lead_of(self._state)
        if lead is None or lead.level < self._memory.level_wanted:
            return None
        if not any(talker.undefeated for area in self._memory.areas.values() for talker in area.talkers.values()):
            return None
        if not needs.is_fresh(self._state):
            return self.visit(lambda talker: talker.heals, "rest before a hard battle")
        return self.visit(lambda talker: talker.undefeated, "strong enough for a rematch")

    def _talk_again(self) -> Errand | None:
        return self.visit(self._may_have_news, "may have something new to say")

    def _may_have_news(self, talker: Talker) -> bool:
        return not talker.sign and not talker.undefeated and talker.heard < self.progress

    def _stroll(self) -> Errand:
        """Nothing is left to wish for: forget what failed, and walk anywhere."""
        reason = "nothing left to try: walk anywhere"
        self._memory.failures.clear()
        self.area.walls.clear()
        squares = sorted(self.area.open)
        if squares:
            walk = self.walk("stroll", {squares[int(self._random.integers(len(squares)))]}, reason)
            if walk is not None and walk.steps:
                return walk
        direction = MOVES[int(self._random.integers(len(MOVES)))][0]
        return Errand("stroll", self.map, "anywhere", [direction], reason)
