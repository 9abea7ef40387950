"""Walking: one step of the errand at a time, and learning from what came of the last one."""

from __future__ import annotations

import numpy as np

from ptp.agents.explorer import needs
from ptp.agents.explorer.goals import Goals
from ptp.agents.explorer.learning import Sight, arrive, take_up_again
from ptp.agents.explorer.memory import Area, Errand, Memory, Step, Talk, measure_progress
from ptp.agents.explorer.ways import MOVES, ahead
from ptp.worlds.gameboy.paths import Direction
from ptp.worlds.gameboy.state import GameState
from ptp.worlds.gameboy.tiles import Square
from ptp.worlds.gameboy.world import GameBoyView

ROAMING = 30  # steps in the grass before thinking again
ANSWER_TIME = 2  # presses that are waited for an answer, or for a warp to work
PUSHES: tuple[Direction, ...] = ("down", "up", "left", "right")

Press = tuple[str, str]
"""A button and why."""


class Feet:
    """Carries out errands on the map."""

    def __init__(self, world: GameBoyView, random: np.random.Generator) -> None:
        self._sight = Sight(world)
        self._profile = world.profile
        self._random = random

    def walk(self, state: GameState, memory: Memory) -> Press:
        """Return the next press on the map."""
        assert state.coordinates is not None
        here = (state.coordinates.x, state.coordinates.y)
        area = arrive(state, memory)
        if memory.interruption is not None:
            take_up_again(state, memory, area, here)
        self._check_step(state, memory, area, here)
        if here not in area.viewpoints:
            self._sight.look(area, here)
            drop_needless_look(memory.errand, memory, area)
        if memory.talk is not None:
            return self._wait_for_answer(memory, area)
        for _ in range(2):
            if memory.errand is None:
                memory.errand = Goals(memory, state, self._profile, self._random).choose()
            press = self._carry_out(memory.errand, state, memory, area, here)
            if press is not None:
                return press
            memory.errand = None
        return "none", "think again"

    def _check_step(self, state: GameState, memory: Memory, area: Area, here: Square) -> None:
        """See whether the last step went where it should."""
        step, memory.step = memory.step, None
        if step is None or step.turning or step.map_id != state.map_id:
            return
        if here != step.place:
            if here != ahead(step.place, step.direction):
                memory.errand = None
        elif state.facing != step.direction:
            if memory.errand is not None:  # the press only turned the player
                memory.errand.steps.insert(0, step.direction)
        else:
            self._sight.look(area, here)
            if ahead(here, step.direction) not in area.occupied():
                area.walls.add((here, step.direction))
            memory.errand = None

    def _wait_for_answer(self, memory: Memory, area: Area) -> Press:
        errand = memory.errand
        if errand is not None and errand.tries <= ANSWER_TIME:
            errand.tries += 1
            return "none", "wait for an answer"
        if memory.talk is not None and memory.talk.talker in area.talkers:
            area.talkers[memory.talk.talker].silences += 1
        memory.talk = memory.errand = None
        return "none", "nobody answers"

    def _carry_out(self, errand: Errand, state: GameState, memory: Memory, area: Area, here: Square) -> Press | None:
        """Return the next press of an errand; None when it is over."""
        if errand.steps:
            return self._step(errand.steps.pop(0), errand, memory, here)
        if errand.face is not None:
            return self._speak(errand, state, memory, here)
        if errand.kind == "hunt":
            return self._roam(errand, memory, area, here)
        if errand.kind == "leave":
            return self._push(errand, state, memory, area, here)
        return None

    def _step(self, direction: Direction, errand: Errand, memory: Memory, here: Square) -> Press:
        memory.step = Step(errand.map_id, here, direction, turning=False)
        if errand.kind == "leave" and not errand.steps:
            memory.leaving = (errand.map_id, errand.target)
        return direction, errand.reason

    def _speak(self, errand: Errand, state: GameState, memory: Memory, here: Square) -> Press | None:
        """Look at somebody, then talk."""
        assert errand.face is not None
        if state.facing != errand.face:
            errand.tries += 1
            if errand.tries > ANSWER_TIME:
                memory.failures[errand.name] = measure_progress(state)
                return None
            memory.step = Step(errand.map_id, here, errand.face, turning=True)
            return errand.face, errand.reason
        errand.tries = 0
        in_need = needs.is_weary(state)
        memory.talk = Talk(errand.map_id, errand.target, in_need, needs.vigour(state), state.money or 0)
        return "a", errand.reason

    def _roam(self, errand: Errand, memory: Memory, area: Area, here: Square) -> Press | None:
        """Take any step that stays in the grass."""
        errand.tries += 1
        occupied = area.occupied()
        ways = [move for move, _, _ in MOVES if ahead(here, move) in area.grass and ahead(here, move) not in occupied]
        if not ways or errand.tries > ROAMING:
            return None
        return self._step(ways[int(self._random.integers(len(ways)))], errand, memory, here)

    def _push(self, errand: Errand, state: GameState, memory: Memory, area: Area, here: Square) -> Press | None:
        """On a warp that does not work by itself: wait, then walk against what is beside it."""
        errand.tries += 1
        if errand.tries <= ANSWER_TIME:
            return "none", "wait for the way to open"
        against = [direction for direction in PUSHES if ahead(here, direction) not in area.open]
        if errand.tries - ANSWER_TIME > len(against):
            memory.failures[errand.name] = measure_progress(state)
            return None
        direction = against[errand.tries - ANSWER_TIME - 1]
        memory.step = Step(errand.map_id, here, direction, turning=True)
        memory.leaving = (errand.map_id, errand.target)
        return direction, errand.reason


def drop_needless_look(errand: Errand | None, memory: Memory, area: Area) -> None:
    """Forget a walk to unseen squares once they were seen from afar."""
    if errand is not None and errand.kind == "look":
        x, _, y = errand.target.partition(",")
        if (int(x), int(y)) not in area.frontier:
            memory.errand = None
