"""Text, questions, names and shops: what to press when something is said."""

from __future__ import annotations

import re
from itertools import pairwise
from zlib import crc32

from ptp.agents.explorer.memory import Memory, Talker
from ptp.agents.explorer.menus import CURSOR, Screen, pointed_at, recognise, towards
from ptp.agents.explorer.needs import choose_purchase
from ptp.agents.explorer.questions import Answer, answer_question, forget_a_move, words_of
from ptp.worlds.gameboy.profiles import GameProfile
from ptp.worlds.gameboy.state import GameState

PRICE = re.compile(r"¥ *(\d+)")
QUANTITY = re.compile(r"^\u00d7 *(\d+)")
ALPHABET = "ABCDEFGHI"
LISTENING = 2  # decisions without a new letter: the clerk waits for a button without saying so


READ_ON = Answer("b", "DIALOG", "read on")
LISTEN = Answer("none", "DIALOG", "let the clerk speak: B would break off the sale")
GO_ON = Answer("a", "DIALOG", "the clerk has finished: go on")
LEAVE = Answer("b", "MENU", "nothing to do in this menu: leave it")


def before_the_game(state: GameState) -> Answer:
    """Return what to press from power-on to the first map."""
    if state.text is None:
        return Answer("start", "MENU", "nothing to read yet: press START")
    pointed = pointed_at(state)
    if pointed is None or state.menu is None:
        return READ_ON
    if _shows_letters(state):
        return Answer("start", "MENU", "enough letters for a name")
    if any("NEW GAME" in piece for piece in state.text):
        return Answer(towards(state.menu.item, 0), "MENU", f"begin with {pointed}")
    # the first of several names may be the way to type one, and so may the last
    wanted = 1 if state.menu.last >= 2 else 0
    return Answer(towards(state.menu.item, wanted), "MENU", "choose one of the names that are offered")


def answer(state: GameState, memory: Memory, profile: GameProfile) -> Answer:
    """Return what to press while text or a menu is up."""
    if state.waiting and state.dialog:
        note_text(state.dialog, memory)
    if memory.talk is not None and not state.party:
        memory.talk.words.append(words_of(state))
    screen = recognise(state)
    if screen is None:
        return _read_or_count(state, memory, profile)
    if screen == "yes_no":
        return answer_question(state, memory, profile)
    if state.screen_type == "pause":
        return Answer("b", "MENU", "leave the start menu")
    if _shows_letters(state):
        return Answer("start", "MENU", "the name is good as it is")
    forget = forget_a_move(state, profile)
    if forget is not None:
        return forget
    return LEAVE if memory.talk is None else _shop(state, memory.talker(memory.talk), profile, screen)


def note_text(text: str, memory: Memory) -> None:
    """Remember what was read to its end; anything new is a gain."""
    mark = crc32(text.encode())
    if mark not in memory.texts:
        memory.texts.add(mark)
        memory.gains += 1


def _shows_letters(state: GameState) -> bool:
    return any(ALPHABET in piece.replace(" ", "").replace(CURSOR, "") for piece in state.text or ())


def _shop(state: GameState, clerk: Talker, profile: GameProfile, screen: Screen) -> Answer:
    """Return what to press in the menus of a shop; any other menu is left."""
    pointed = pointed_at(state) or ""
    if any(piece.strip(CURSOR + " ") == "BUY" for piece in state.text or ()):
        clerk.sells = True
        if clerk.goods and choose_purchase(state, profile, clerk.goods) is None:
            return Answer("b", "MENU", "nothing to buy: leave the shop")
        return Answer("a" if pointed == "BUY" else "up", "MENU", "see what the shop has")
    if screen == "list" and clerk.sells:
        clerk.goods |= _read_prices(state, profile)
        return _choose_goods(state, clerk, profile, pointed)
    return LEAVE


def _read_prices(state: GameState, profile: GameProfile) -> dict[int, int]:
    """Return the prices in a list of goods: each follows the name of its thing."""
    ids = {name: item for item, name in profile.items.items()}
    pairs = ((ids.get(name.lstrip(CURSOR + " ")), PRICE.match(price)) for name, price in pairwise(state.text or ()))
    return {item: int(price[1]) for item, price in pairs if item is not None and price}


def _choose_goods(state: GameState, clerk: Talker, profile: GameProfile, pointed: str) -> Answer:
    purchase = choose_purchase(state, profile, clerk.goods)
    if purchase is None:
        return Answer("b", "MENU", "nothing more to buy")
    name = profile.items[purchase[0]]
    if pointed == name:
        return Answer("a", "MENU", f"buy {name}")
    names = [piece.lstrip(CURSOR + " ") for piece in state.text or ()]
    above = name in names and names.index(name) < names.index(pointed)
    return Answer("up" if above else "down", "MENU", f"look for {name}")


def _read_or_count(state: GameState, memory: Memory, profile: GameProfile) -> Answer:
    """Without a cursor there is text to read, or a number to choose in a shop."""
    clerk = None if memory.talk is None else memory.talker(memory.talk)
    if state.waiting or clerk is None or not clerk.sells:
        return READ_ON
    shown = next((match for match in map(QUANTITY.match, state.text or ()) if match), None)
    if shown is None:
        return LISTEN if memory.still < LISTENING else GO_ON
    purchase = choose_purchase(state, profile, clerk.goods)
    if purchase is None:
        return Answer("b", "MENU", "nothing to buy")
    item, count = purchase
    return Answer("a" if int(shown[1]) >= count else "up", "MENU", f"take {count} {profile.items[item]}")
