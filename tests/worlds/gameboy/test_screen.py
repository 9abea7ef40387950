"""What kind of screen it is, and what it says."""

from __future__ import annotations

import pytest

from ptp.worlds.gameboy.state import Menu
from tests.worlds.gameboy.images import box, empty, fight, put, show, started, state


def talking() -> bytearray:
    image = started()
    box(image, 12, 0, 6, 20)
    show(image, 14, 1, "Hello!")
    return image


def test_a_map_without_text_is_the_overworld() -> None:
    found = state(started())
    assert found.screen_type == "overworld"
    assert (found.dialog, found.text, found.menu, found.waiting) == (None, None, None, False)


def test_tiles_are_no_text_while_the_font_is_not_loaded() -> None:
    image = talking()
    put(image, 0xCFC4, 0)
    assert (state(image).screen_type, state(image).dialog) == ("overworld", None)


def test_a_message_is_a_dialog() -> None:
    found = state(talking())
    assert (found.screen_type, found.dialog, found.waiting) == ("dialog", "Hello!", False)


def test_an_arrow_waits_for_a_button() -> None:
    image = talking()
    put(image, 0xC4F2, 0xEE)
    assert (state(image).waiting, state(image).dialog) == (True, "Hello!")


def test_a_question_is_a_menu_that_keeps_its_words() -> None:
    image = talking()
    box(image, 7, 14, 5, 6)
    show(image, 8, 16, "YES")
    put(image, 0xC3A0 + 20 * 8 + 15, 0xED)
    put(image, 0xD125, 0x14)
    found = state(image)
    assert (found.screen_type, found.dialog) == ("menu", "Hello!")
    assert found.text == ("▶YES", "Hello!")


def test_the_start_menu_is_a_pause() -> None:
    image = started()
    box(image, 0, 10, 14, 10)
    show(image, 2, 12, "POKEDEX")
    put(image, 0xC3A0 + 20 * 2 + 11, 0xED)
    assert state(image).screen_type == "pause"


def test_a_list_is_a_menu() -> None:
    image = started()
    box(image, 2, 4, 11, 16)
    put(image, 0xC3A0 + 20 * 4 + 5, 0xED)
    assert state(image).screen_type == "menu"


def test_where_the_cursor_is() -> None:
    image = talking()
    put(image, 0xCC24, 2, 11, 3, 0, 6)
    put(image, 0xCC36, 4)
    put(image, 0xD125, 0x0D)
    assert state(image).menu == Menu(text_box=0x0D, item=3, last=6, x=11, y=2, scroll=4)


@pytest.mark.parametrize("kind", [1, 2, 0xFF])
def test_a_battle_is_a_battle_whatever_is_written(kind: int) -> None:
    image = talking()
    fight(image, kind)
    assert (state(image).screen_type, state(image).dialog) == ("battle", "Hello!")


def test_a_speech_before_the_game_is_a_dialog_without_a_place() -> None:
    image = empty()
    box(image, 12, 0, 6, 20)
    show(image, 14, 1, "Welcome!")
    found = state(image)
    assert (found.screen_type, found.dialog, found.location) == ("dialog", "Welcome!", None)
    put(image, 0xC3A0, 0xED)
    assert state(image).screen_type == "menu"
