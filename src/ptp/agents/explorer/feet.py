"""Walking: one step of the errand at a time, and learning from what came of the last one."""

from __future__ import annotations

import numpy as np

from ptp.agents.explorer import needs
from ptp.agents.explorer.atlas import Atlas
from ptp.agents.explorer.goals import Goals
from ptp.agents.explorer.learning import add_wall, arrive, check_step, note_progress, take_up_again
from ptp.agents.explorer.memory import Area, Errand, Memory, Step, Talk, name_square, square_named
from ptp.agents.explorer.patience import set_out, spend
from ptp.agents.explorer.sight import Sight
from ptp.agents.explorer.ways import MOVES, ahead
from ptp.worlds.gameboy.paths import Direction
from ptp.worlds.gameboy.state import GameState
from ptp.worlds.gameboy.tiles import Square
from ptp.worlds.gameboy.world import GameBoyView

ROAMING = 30  # steps in the grass before thinking again
ANSWER_TIME = 2  # presses that are waited for an answer, or for a warp to work
ENDLESS = ("hunt", "stroll")  # kinds of errands that have an end of their own
PUSHES: tuple[Direction, ...] = ("down", "up", "left", "right")

Press = tuple[str, str]
"""A button and why."""


class Feet:
    """Carries out errands on the map."""

    def __init__(self, world: GameBoyView, memory: Memory, random: np.random.Generator) -> None:
        self._sight = Sight(world)
        self._profile = world.profile
        self._memory = memory
        self._random = random
        self._atlas = Atlas(memory)

    def walk(self, state: GameState) -> Press:
        """Return the next press on the map."""
        assert state.coordinates is not None
        memory, here = self._memory, (state.coordinates.x, state.coordinates.y)
        if state.map_id != memory.map_id:
            arrive(state, memory, self._sight.last_map())
        assert state.map_id is not None
        area = memory.areas[state.map_id]
        if memory.interruption is not None:
            note_progress(state, memory)
            take_up_again(state, memory, area, here)
        step = memory.step
        if check_step(state, memory, area, here) and step is not None:
            self._sight.look(memory, area, here)
            add_wall(memory, area, step)
        elif here not in area.viewpoints:
            self._sight.look(memory, area, here)
            drop_needless_look(memory.errand, memory, area)
        if memory.talk is not None:
            return self._wait_for_answer(area)
        return self._go_on(state, area, here)

    def _go_on(self, state: GameState, area: Area, here: Square) -> Press:
        memory = self._memory
        for _ in range(2):
            if memory.errand is None:
                note_progress(state, memory)
                memory.errand = Goals(memory, state, self._profile, self._random, self._atlas).choose()
                if memory.errand.kind not in ENDLESS:
                    set_out(memory, memory.errand.purpose, f"{state.map_id} {name_square(here)}")
            press = self._carry_out(memory.errand, state, area, here)
            if press is not None and (memory.errand.kind in ENDLESS or not spend(memory, memory.errand.purpose)):
                return press
            memory.errand = memory.step = memory.talk = None
        return "none", "think again"

    def _wait_for_answer(self, area: Area) -> Press:
        memory, errand = self._memory, self._memory.errand
        if errand is not None and errand.tries <= ANSWER_TIME:
            errand.tries += 1
            return "none", "wait for an answer"
        if memory.talk is not None and memory.talk.talker in area.talkers:
            area.talkers[memory.talk.talker].silences += 1
        memory.talk = memory.errand = None
        return "none", "nobody answers"

    def _carry_out(self, errand: Errand, state: GameState, area: Area, here: Square) -> Press | None:
        """Return the next press of an errand; None when it is over."""
        if errand.steps:
            return self._step(errand.steps.pop(0), errand, here)
        if errand.face is not None:
            return self._speak(errand, errand.face, state, here)
        if errand.kind == "hunt":
            return self._roam(errand, area, here)
        if errand.kind == "leave":
            return self._push(errand, area, here)
        return None

    def _step(self, direction: Direction, errand: Errand, here: Square) -> Press:
        self._memory.step = Step(errand.map_id, here, direction, turning=False)
        return direction, errand.reason

    def _speak(self, errand: Errand, face: Direction, state: GameState, here: Square) -> Press | None:
        """Look at somebody, then talk."""
        memory = self._memory
        if state.facing != face:
            errand.tries += 1
            if errand.tries > ANSWER_TIME:
                memory.fail(errand.name)
                return None
            memory.step = Step(errand.map_id, here, face, turning=True)
            return face, errand.reason
        errand.tries = 0
        in_need = needs.is_weary(state)
        memory.talk = Talk(
            errand.map_id, errand.target, in_need, needs.vigour(state), state.money or 0, gains=memory.gains
        )
        return "a", errand.reason

    def _roam(self, errand: Errand, area: Area, here: Square) -> Press | None:
        """Take any step that stays in the grass."""
        errand.tries += 1
        area.quiet += 1
        occupied = set(area.standing(self._memory.progress, here))
        ways = [move for move, _, _ in MOVES if ahead(here, move) in area.grass and ahead(here, move) not in occupied]
        if not ways or errand.tries > ROAMING:
            return None
        return self._step(ways[int(self._random.integers(len(ways)))], errand, here)

    def _push(self, errand: Errand, area: Area, here: Square) -> Press | None:
        """On a warp that does not work by itself: wait, then walk against what is beside it."""
        errand.tries += 1
        if errand.tries <= ANSWER_TIME:
            return "none", "wait for the way to open"
        against = [direction for direction in PUSHES if ahead(here, direction) not in area.open]
        if errand.tries - ANSWER_TIME > len(against):
            self._memory.fail(errand.name)
            return None
        direction = against[errand.tries - ANSWER_TIME - 1]
        self._memory.step = Step(errand.map_id, here, direction, turning=True)
        return direction, errand.reason


def drop_needless_look(errand: Errand | None, memory: Memory, area: Area) -> None:
    """Forget a walk to unseen squares once they were seen from afar."""
    if errand is not None and errand.kind == "look" and square_named(errand.target) not in area.frontier:
        memory.errand = None
