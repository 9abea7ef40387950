"""Driving menus by what memory says of the cursor."""

from __future__ import annotations

from typing import Literal

from ptp.agents.explorer.battle import Choice
from ptp.worlds.gameboy.state import GameState, Menu

Screen = Literal["battle", "moves", "list", "party", "yes_no", "other"]

CURSOR = "▶"
LIST, YES_NO = 0x0D, 0x14
BATTLE_ROW, LEFT, RIGHT = 14, 9, 15
MOVES_AT, PARTY_AT = (5, 12), (0, 1)
BRING_OUT, ITEM_TARGET = "bring out", "use item"
PLACES = {"move": (LEFT, 0), "item": (LEFT, 1), "switch": (RIGHT, 0), "run": (RIGHT, 1)}


def pointed_at(state: GameState) -> str | None:
    """Return the text that the cursor points at; None when no menu waits."""
    for piece in state.text or ():
        if CURSOR in piece:
            return piece[piece.index(CURSOR) + 1 :].strip()
    return None


def recognise(state: GameState) -> Screen | None:
    """Return which menu waits; None when none does."""
    menu = state.menu
    if menu is None or pointed_at(state) is None:
        return None
    if menu.text_box == LIST:
        return "list"
    if menu.text_box == YES_NO:
        return "yes_no"
    if (menu.x, menu.y) == PARTY_AT:
        return "party"
    if state.battle is not None:
        if menu.y == BATTLE_ROW and menu.x in (LEFT, RIGHT):
            return "battle"
        if (menu.x, menu.y) == MOVES_AT:
            return "moves"
    return "other"


def press_for(choice: Choice, screen: Screen, state: GameState) -> str:
    """Return the button that brings a choice nearer in a menu of a battle."""
    menu = state.menu
    assert menu is not None
    if screen == "battle":
        return _press_in_battle_menu(choice, menu)
    if screen == "moves":
        return towards(menu.item - 1, choice.index) if choice.kind == "move" else "b"
    if screen == "list":
        return towards(menu.item + menu.scroll, choice.index) if choice.kind == "item" else "b"
    if screen == "party":
        return _press_in_party(choice, state, menu)
    return "a"


def _press_in_battle_menu(choice: Choice, menu: Menu) -> str:
    column, row = PLACES[choice.kind]
    if menu.x != column:
        return "right" if column == RIGHT else "left"
    return towards(menu.item, row)


def _press_in_party(choice: Choice, state: GameState, menu: Menu) -> str:
    """Choose from the party: the same list asks who to bring out and who to use a thing on, and says so in its text."""
    battle = state.battle
    words = " ".join(state.text or ()).lower()
    if choice.kind == "switch":  # somebody has fallen, or another is better
        return "b" if ITEM_TARGET in words else towards(menu.item, choice.index)
    if choice.kind == "item" and battle is not None and BRING_OUT not in words:
        return towards(menu.item, battle.active_slot)
    return "b"


def towards(item: int, wanted: int) -> str:
    """Return the button that moves the cursor towards an item, or takes it."""
    if item == wanted:
        return "a"
    return "down" if item < wanted else "up"
