"""What the explorer presses when something is said, asked or sold."""

from __future__ import annotations

import msgspec

from ptp.agents.explorer.memory import Area, Memory, Talk, Talker
from ptp.agents.explorer.talk import answer, before_the_game
from ptp.worlds.gameboy.state import GameState
from tests.agents.explorer.people import ITEMS, PROFILE, bag, menu


def in_shop() -> Memory:
    memory = Memory({1: Area(4, 4, talkers={"person 1": Talker((0, 0))})})
    memory.talk = Talk(1, "person 1", False, 0, 0)
    return memory


def rich(state: GameState, **things: int) -> GameState:
    return msgspec.structs.replace(state, money=1000, inventory=bag(**things))


LIST = menu("¥1000", "▶CATCH ORB", "¥ 200", "TONIC", "¥ 150", "CURE LEAF", "¥ 100", "CANCEL", box=0x0D, x=5, y=4)


def test_text_is_read_on_and_questions_are_answered_yes() -> None:
    assert answer(menu("Hello!"), Memory(), PROFILE).button == "b"
    assert answer(menu("▶YES", "NO", box=0x14), Memory(), PROFILE).button == "a"


def test_a_menu_it_did_not_ask_for_is_left() -> None:
    assert answer(menu("▶WITHDRAW", "DEPOSIT"), Memory(), PROFILE).button == "b"
    assert answer(menu("▶BUY", "LEAVE"), Memory(), PROFILE).button == "b"


def test_power_on_is_passed_with_start_a_saved_game_goes_on_and_a_name_is_one_that_is_offered() -> None:
    title = menu("▶CONTINUE", "NEW GAME", last=1)
    names = menu("▶NEW NAME", "RED", "ASH", "JACK")
    letters = menu("▶A B C D E F G H I", "END")
    assert before_the_game(GameState("tallgrass", "menu")).button == "start"
    assert before_the_game(title).button == "a"
    assert before_the_game(names).button == "down"
    assert before_the_game(letters).button == "start"


def test_it_buys_what_the_bag_lacks_and_the_money_allows() -> None:
    memory = in_shop()
    clerk = memory.areas[1].talkers["person 1"]
    assert answer(rich(menu("▶BUY", "LEAVE")), memory, PROFILE).button == "a"
    assert clerk.sells
    assert answer(rich(LIST), memory, PROFILE) == ("a", "MENU", "buy CATCH ORB")
    assert clerk.goods == {ITEMS["CATCH ORB"]: 200, ITEMS["TONIC"]: 150, ITEMS["CURE LEAF"]: 100}
    count = menu("▷CATCH ORB", "\u00d7 4")
    assert answer(rich(count), memory, PROFILE) == ("up", "MENU", "take 5 CATCH ORB")
    assert answer(rich(menu("\u00d7 5")), memory, PROFILE).button == "a"
    assert answer(rich(LIST, CATCH_ORB=6), memory, PROFILE) == ("down", "MENU", "look for TONIC")


def test_it_leaves_a_shop_that_has_nothing_it_needs() -> None:
    memory = in_shop()
    answer(rich(menu("▶BUY", "LEAVE")), memory, PROFILE)
    full = rich(LIST, CATCH_ORB=6, TONIC=4)
    assert answer(full, memory, PROFILE).button == "b"
    assert answer(rich(menu("▶BUY", "LEAVE"), CATCH_ORB=6, TONIC=4), memory, PROFILE).button == "b"


def test_it_lets_a_clerk_speak_for_b_would_break_off_the_sale() -> None:
    memory = in_shop()
    answer(rich(menu("▶BUY", "LEAVE")), memory, PROFILE)
    assert answer(rich(menu("CATCH ORB:", "how many?")), memory, PROFILE).button == "none"


def test_a_clerk_who_has_finished_and_waits_without_an_arrow_is_answered_soon() -> None:
    memory = in_shop()
    answer(rich(menu("▶BUY", "LEAVE")), memory, PROFILE)
    memory.still = 2
    assert answer(rich(menu("Here you are.", "Thank you!")), memory, PROFILE).button == "a"
