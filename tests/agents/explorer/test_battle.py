"""What the explorer chooses to do in battles."""

from __future__ import annotations

import msgspec
import pytest

from ptp.agents.explorer.battle import Choice, choose
from ptp.agents.explorer.menus import press_for, recognise
from ptp.worlds.gameboy.state import GameState, Menu
from tests.agents.explorer.people import PROFILE, bag, battle, fighter, member, menu, move

MOSSKIT = fighter("MOSSKIT", move("BUMP"), move("SCOWL"), move("LEAF FLICK"), kind="GRASS")


def chosen(state: GameState, is_new: bool = False) -> Choice:
    return choose(state, PROFILE, is_new)


def test_it_attacks_with_what_the_type_chart_makes_strongest() -> None:
    assert chosen(battle(MOSSKIT, fighter("PEBBLIN", kind="ROCK"), "gym")).index == 2
    assert chosen(battle(MOSSKIT, fighter("EMBERET", kind="FIRE"), "gym")).index == 0


def test_it_prefers_a_sure_hit_to_a_slightly_stronger_one_that_may_miss() -> None:
    own = fighter("MOSSKIT", move("MUD KICK"), move("LEAF FLICK"), kind="ROCK")
    assert PROFILE.moves[12].accuracy < PROFILE.moves[3].accuracy
    assert chosen(battle(own, fighter("NIBBIN"))).index == 1


def test_a_move_without_points_is_not_used() -> None:
    own = fighter("MOSSKIT", move("BUMP"), move("LEAF FLICK", pp=0), kind="GRASS")
    assert chosen(battle(own, fighter("PEBBLIN", kind="ROCK"))).index == 0


def test_it_says_why_and_how_sure_it_is() -> None:
    choice = chosen(battle(MOSSKIT, fighter("PEBBLIN", kind="ROCK")))
    assert choice.why.startswith("LEAF FLICK hits PEBBLIN hardest")
    assert choice.confidence is not None
    assert 0.5 < choice.confidence <= 1


def test_it_weakens_something_new_before_it_throws() -> None:
    whole = battle(MOSSKIT, fighter("ZAPPLE"), items=bag(TONIC=1, CATCH_ORB=2))
    assert chosen(whole, is_new=True).kind == "move"


def test_it_throws_a_ball_at_a_weakened_new_creature() -> None:
    weak = battle(MOSSKIT, fighter("ZAPPLE", hp=9), items=bag(TONIC=1, CATCH_ORB=2))
    assert (chosen(weak, is_new=True).kind, chosen(weak, is_new=True).index) == ("item", 1)


def test_it_throws_at_once_when_any_hit_would_end_it() -> None:
    strong = fighter("MOSSKIT", move("BUMP"), level=50)
    assert chosen(battle(strong, fighter("ZAPPLE"), items=bag(CATCH_ORB=1)), is_new=True).kind == "item"


@pytest.mark.parametrize(
    ("state", "is_new"),
    [
        (battle(MOSSKIT, fighter("ZAPPLE", hp=9), items=bag(CATCH_ORB=1)), False),
        (battle(MOSSKIT, fighter("ZAPPLE", hp=9), items=bag(TONIC=1)), True),
        (battle(MOSSKIT, fighter("ZAPPLE", hp=9), "trainer", bag(CATCH_ORB=1)), True),
    ],
    ids=["owned already", "no balls", "somebody's"],
)
def test_it_throws_at_nothing_else(state: GameState, is_new: bool) -> None:
    assert chosen(state, is_new).kind == "move"


HURT = fighter("MOSSKIT", move("BUMP"), hp=3)


def test_it_runs_from_the_wild_when_low() -> None:
    assert chosen(battle(HURT, fighter("NIBBIN"))).kind == "run"


def test_it_takes_a_potion_in_a_trainers_battle_when_low() -> None:
    choice = chosen(battle(HURT, fighter("NIBBIN"), "trainer", bag(CATCH_ORB=1, TONIC=2)))
    assert (choice.kind, choice.index) == ("item", 1)


def test_it_fights_on_when_low_if_the_next_hit_wins() -> None:
    assert chosen(battle(HURT, fighter("NIBBIN", hp=2))).kind == "move"


def test_the_strongest_that_can_fight_goes_on() -> None:
    fallen = battle(fighter("MOSSKIT", hp=0), fighter("NIBBIN"), "trainer")
    party = (
        member(hp=0, level=9),
        member("NIBBIN", level=3),
        member("ZAPPLE", level=4),
        member("CHIRPET", hp=0, level=8),
    )
    choice = chosen(msgspec.structs.replace(fallen, party=party))
    assert (choice.kind, choice.index) == ("switch", 2)


MOVE, THROW, RUN = Choice("move", 2, ""), Choice("item", 3, ""), Choice("run", 0, "")


@pytest.mark.parametrize(
    ("choice", "cursor", "button"),
    [
        (MOVE, Menu(0x0B, 0, 1, 9, 14, 0), "a"),
        (MOVE, Menu(0x0B, 1, 1, 9, 14, 0), "up"),
        (MOVE, Menu(0x0B, 1, 1, 15, 14, 0), "left"),
        (RUN, Menu(0x0B, 0, 1, 9, 14, 0), "right"),
        (RUN, Menu(0x0B, 0, 1, 15, 14, 0), "down"),
        (MOVE, Menu(0x0B, 1, 5, 5, 12, 0), "down"),
        (MOVE, Menu(0x0B, 3, 5, 5, 12, 0), "a"),
        (RUN, Menu(0x0B, 3, 5, 5, 12, 0), "b"),
        (THROW, Menu(0x0D, 2, 2, 5, 4, 0), "down"),
        (THROW, Menu(0x0D, 2, 2, 5, 4, 1), "a"),
        (MOVE, Menu(0x0D, 2, 2, 5, 4, 1), "b"),
        (THROW, Menu(0x00, 0, 2, 0, 1, 0), "a"),
    ],
)
def test_a_choice_is_brought_about_by_the_cursor(choice: Choice, cursor: Menu, button: str) -> None:
    state = msgspec.structs.replace(battle(MOSSKIT, fighter("NIBBIN")), menu=cursor, text=("▶HERE",))
    screen = recognise(state)
    assert screen is not None
    assert press_for(choice, screen, state) == button


def test_without_a_cursor_no_menu_waits() -> None:
    assert recognise(menu("FIGHT", "RUN")) is None
