"""Questions: what to answer, from the words on the screen."""

from __future__ import annotations

import re
from typing import NamedTuple

from ptp.agents.explorer.memory import Memory, Talk
from ptp.agents.explorer.menus import CURSOR, pointed_at
from ptp.worlds.gameboy.profiles import GameProfile
from ptp.worlds.gameboy.profiles.profile import MoveFacts
from ptp.worlds.gameboy.state import GameState

SAME_TYPE = 1.5
UNKNOWN_OFFER = 0.5  # what a creature is worth whose type the words do not tell


class Answer(NamedTuple):
    """A press, what kind of decision it is, and why."""

    button: str
    type: str
    why: str


YES = Answer("a", "DIALOG", "say yes")


def no(why: str) -> Answer:
    """Return the answer no: B says it in every question."""
    return Answer("b", "DIALOG", f"say no: {why}")


def words_of(state: GameState) -> str:
    """Return everything on the screen as one line of small letters."""
    return " ".join(state.text or ()).lower()


def answer_question(state: GameState, memory: Memory, profile: GameProfile) -> Answer:
    """Return yes or no."""
    words = words_of(state)
    if "nickname" in words:
        return no("no nickname is needed")
    if "save" in words:
        return no("ptp keeps the game, and saving takes time")
    if state.battle is not None and "change" in words:
        return no("the one that fights goes on")
    if "make room" in words:
        return _learn_or_not(state, profile)
    if not state.party and memory.talk is not None:
        said = set(re.findall(r"\w+", " ".join(memory.talk.words)))
        if any(facts.name.lower() in said for facts in profile.species.values()):
            return _choose_or_not(memory.talk, said, memory, profile)
    return YES


def _choose_or_not(talk: Talk, said: set[str], memory: Memory, profile: GameProfile) -> Answer:
    """Ask about every first creature that is offered, then take the one whose type does best against all others."""
    talker = memory.talker(talk)
    others = memory.areas[talk.map_id].talkers.values()
    if not talker.offer:
        talker.offer = rate_offer(said, profile)
        return no("first ask what else there is")
    if talker.offer < max(other.offer for other in others):
        return no("another one is better")
    return Answer("a", "DIALOG", "say yes: the best first creature on offer")


def rate_offer(said: set[str], profile: GameProfile) -> float:
    """Return what the type chart makes, on average, of the type that a text names."""
    types = list(dict.fromkeys(profile.types.values()))
    named = [kind for kind in types if kind.lower() in said]
    return max((_average(kind, types, profile) for kind in named), default=UNKNOWN_OFFER)


def _average(attack: str, types: list[str], profile: GameProfile) -> float:
    return sum(profile.effectiveness(attack, (kind,)) for kind in types) / len(types)


def _learn_or_not(state: GameState, profile: GameProfile) -> Answer:
    """A new move is learned when it is worth more than the weakest that is known."""
    words = words_of(state)
    new = [facts for facts in profile.moves.values() if facts.name.lower() in words]
    known = _known_moves(state, profile)
    if not new or not known:
        return no("keep the moves that are known")
    best = max(new, key=lambda facts: len(facts.name))
    weakest = min(known, key=lambda facts: rate_move(facts, state))
    if rate_move(best, state) <= rate_move(weakest, state):
        return no(f"{best.name} is no better than {weakest.name}")
    return Answer("a", "DIALOG", f"say yes: {best.name} is better than {weakest.name}")


def _known_moves(state: GameState, profile: GameProfile) -> list[MoveFacts]:
    own = state.battle.own if state.battle is not None else None
    who = own or (state.party[0] if state.party else None)
    return [profile.moves[move.id] for move in who.moves if move.id in profile.moves] if who else []


def rate_move(facts: MoveFacts, state: GameState) -> float:
    """Return what a move is worth to the creature that fights, or that is first in the party."""
    own = state.battle.own if state.battle is not None else None
    who = own or (state.party[0] if state.party else None)
    same = SAME_TYPE if who is not None and facts.type in who.types else 1
    return facts.power * facts.accuracy * same


def forget_a_move(state: GameState, profile: GameProfile) -> Answer | None:
    """Point at the weakest move when one must be forgotten; None when that is not what is asked."""
    pointed = pointed_at(state)
    if pointed is None or "forgotten" not in words_of(state):
        return None
    names = {piece.lstrip(CURSOR + " ") for piece in state.text or ()}
    shown = [facts for facts in profile.moves.values() if facts.name in names]
    if not shown:
        return None
    weakest = min(shown, key=lambda facts: rate_move(facts, state)).name
    return Answer("a" if pointed == weakest else "down", "MENU", f"forget {weakest}, the weakest move")
