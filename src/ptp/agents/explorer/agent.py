"""The explorer: from a state to one press, with the reason for it."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import numpy as np

from ptp.agents.contract import Agent, AgentSetup, Decision, Observation
from ptp.agents.explorer import battle, talk
from ptp.agents.explorer.feet import Feet
from ptp.agents.explorer.learning import remember_fight
from ptp.agents.explorer.memory import Fight, Look, Memory, Notebook
from ptp.agents.explorer.menus import press_for, recognise
from ptp.agents.explorer.needs import lead_of
from ptp.agents.explorer.questions import Answer, answer_question, forget_a_move
from ptp.errors import ConfigError
from ptp.worlds import WorldView
from ptp.worlds.gameboy import addresses as at
from ptp.worlds.gameboy.commands import BUTTONS
from ptp.worlds.gameboy.state import Battle, GameState
from ptp.worlds.gameboy.world import GameBoyView

PRESSES = {name: (number,) for number, name in enumerate(BUTTONS)}
ANY_BUTTON = ("a", "b", "up", "down", "left", "right")
PATIENCE = 16  # decisions in a row that change nothing, before anything is pressed
LONG_PATIENCE = 60
WAIT = Decision(PRESSES["none"], "WAIT", "the game moves by itself", None)
EVOLVE = Decision(PRESSES["none"], "WAIT", "it evolves: B would stop that", None)
TYPES = {"move": "BATTLE_MOVE", "item": "ITEM_USE", "run": "BATTLE_RUN", "switch": "BATTLE_SWITCH"}


class ExplorerAgent(Agent):
    """Walks to what it has not seen, talks, fights, catches and heals; the same seed gives the same commands."""

    name = "explorer"
    repeatable = True

    def __init__(self, world: WorldView, setup: AgentSetup) -> None:
        if not isinstance(world, GameBoyView) or not world.profile.readable:
            raise ConfigError(
                f"the explorer agent can't play {world.facts.name!r}: it needs a Game Boy game whose memory ptp "
                "can read; choose such a world, force its profile, or use another agent"
            )
        super().__init__(world, setup)
        self._game = world
        self._profile = world.profile
        self._random = np.random.default_rng(setup.seed)
        self._begin(Memory())

    def _begin(self, memory: Memory) -> None:
        self.memory = memory
        self._feet = Feet(self._game, memory, self._random)
        self._notebook, self._been = Notebook(), set[int]()

    def decide(self, observation: Observation) -> Decision:
        """Return one press and why."""
        state: GameState = observation.state
        self.memory.moment += 1
        if self._is_stuck(state):
            return self._press_anything()
        if state.screen_type == "map_change" or (state.map_id is not None and None in (state.party, state.money)):
            return WAIT  # half of such a state belongs to another moment: nothing of it is kept
        if state.dialog is not None and is_evolving(state):
            return EVOLVE
        if state.map_id is None:
            return _as_decision(talk.before_the_game(state))
        if state.battle is not None:
            return self._fight(state, state.battle)
        self._end_fight(state)
        if state.screen_type != "overworld":
            self.memory.interruption = self.memory.interruption or "text"
            return _as_decision(talk.answer(state, self.memory, self._profile))
        if state.input_blocked:
            return WAIT
        self._been.add(state.map_id)
        button, reason = self._feet.walk(state)
        return Decision(PRESSES[button], "DIALOG" if button == "a" else "NAVIGATION_MOVE", reason, None)

    def _is_stuck(self, state: GameState) -> bool:
        memory = self.memory
        look = Look(state.map_id, state.coordinates, state.facing, state.text, state.menu, state.battle)
        memory.still = memory.still + 1 if look == memory.last_look else 0
        memory.last_look = look
        return memory.still > PATIENCE and not (is_evolving(state) and memory.still < LONG_PATIENCE)

    def _press_anything(self) -> Decision:
        self.memory.errand = self.memory.step = None
        button = ANY_BUTTON[int(self._random.integers(len(ANY_BUTTON)))]
        return Decision(PRESSES[button], "RECOVERY", "nothing has changed for a while: press anything", 0.1)

    def _fight(self, state: GameState, fought: Battle) -> Decision:
        fight = self._follow_fight(fought, state)
        screen = recognise(state)
        if screen is None:
            return _as_decision(talk.READ_ON)
        if screen == "yes_no":
            return _as_decision(answer_question(state, self.memory, self._profile))
        forget = forget_a_move(state, self._profile) if screen == "other" else None
        if forget is not None:
            return _as_decision(forget)
        choice = battle.choose(state, self._profile, fight.is_new)
        return Decision(PRESSES[press_for(choice, screen, state)], TYPES[choice.kind], choice.why, choice.confidence)

    def _follow_fight(self, fought: Battle, state: GameState) -> Fight:
        memory, enemy = self.memory, fought.enemy
        if memory.fight is None:
            lead = lead_of(state)
            memory.fight = Fight(fought.kind == "wild", state.map_id, lead.level if lead else 0)
        fight = memory.fight
        memory.interruption = "wild" if fight.wild else "challenge"
        if enemy is not None and enemy.species_id != fight.species_id:
            fight.species_id = enemy.species_id
            fight.is_new = not self._is_owned(enemy.species_id)
        if enemy is not None and enemy.level > fight.strongest:
            fight.strongest = enemy.level
        return fight

    def _is_owned(self, species: int) -> bool:
        facts = self._profile.species.get(species)
        if facts is None:
            return False
        byte, bit = divmod(facts.dex - 1, 8)
        return bool(self._game.read_memory(at.DEX_OWNED + byte, at.DEX_OWNED + byte + 1)[0] & 1 << bit)

    def _end_fight(self, state: GameState) -> None:
        """Learn from a battle that is over."""
        fight, self.memory.fight = self.memory.fight, None
        if fight is not None:
            remember_fight(fight, state, self.memory)

    def on_episode_end(self, episode: int, total_reward: float) -> None:
        """Forget the game that is over: the next begins anew."""
        self._begin(Memory())

    def save(self) -> dict[str, Any]:
        """Return everything it remembers, as texts of JSON, since a run that can rewind asks often."""
        memory = self._notebook.write(self.memory, self._been)
        self._been.clear()
        return {"memory": memory, "random": json.dumps(self._random.bit_generator.state)}

    def load(self, state: dict[str, Any]) -> None:
        """Return to what was saved."""
        self._begin(msgspec.json.decode(state["memory"], type=Memory))
        self._random.bit_generator.state = json.loads(state["random"])


def is_evolving(state: GameState) -> bool:
    """Whether a creature takes another shape before one's eyes."""
    return state.dialog is not None and "evolving" in state.dialog


def _as_decision(answer: Answer) -> Decision:
    return Decision(PRESSES[answer.button], answer.type, answer.why, None)
