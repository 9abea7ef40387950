"""Characters and numbers as the game keeps them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptp.errors import WorldError
from ptp.worlds.gameboy.parts import decode_bcd
from ptp.worlds.gameboy.text import ScreenRows, message, screen_lines
from tests.worlds.gameboy.images import RED, box, show, started

CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789():;[]é'-?!.¥\u00d7/,♂♀ "


@settings(deadline=None)
@given(st.text(CHARACTERS, max_size=40))
def test_a_name_survives_the_round_trip(text: str) -> None:
    assert RED.charmap.decode(RED.charmap.encode(text)) == text


@settings(deadline=None)
@given(st.binary(max_size=20))
def test_any_bytes_are_a_name_or_none(data: bytes) -> None:
    text = RED.charmap.decode(data)
    assert text is None or "\0" not in text


def test_bytes_that_show_several_characters_are_spelled_out() -> None:
    assert RED.charmap.decode(bytes([0xE1, 0xE2, 0xBD, 0x50])) == "PKMN's"


def test_a_name_without_an_end_can_not_be_read() -> None:
    assert RED.charmap.decode(b"\x80" * 11) is None


def test_a_name_with_a_byte_that_is_no_character_can_not_be_read() -> None:
    assert RED.charmap.decode(bytes([0x80, 0x00, 0x50])) is None


def test_a_name_is_filled_up_with_its_end_mark() -> None:
    assert RED.charmap.encode("AB", 5) == bytes([0x80, 0x81, 0x50, 0x50, 0x50])


def test_what_the_game_can_not_write_is_refused() -> None:
    with pytest.raises(WorldError, match="'ß' is not a character"):
        RED.charmap.encode("ß")
    with pytest.raises(WorldError, match="longer than the 4"):
        RED.charmap.encode("ABCDE", 5)


def test_the_text_on_the_screen_is_read_row_by_row_and_piece_by_piece() -> None:
    image = started()
    show(image, 2, 12, "POKEMON")
    show(image, 4, 1, "HP")
    show(image, 4, 12, "BAG")
    tiles = bytes(image[0xC3A0:0xC508])
    assert screen_lines(ScreenRows(RED.charmap).read(tiles)) == ("POKEMON", "HP", "BAG")


def test_a_message_is_what_stands_in_the_box_below_without_the_arrow() -> None:
    image = started()
    box(image, 12, 0, 6, 20)
    show(image, 14, 1, "Hello there!")
    show(image, 16, 1, "It's a test.")
    image[0xC4F2] = 0xEE
    tiles = bytes(image[0xC3A0:0xC508])
    assert message(tiles, ScreenRows(RED.charmap).read(tiles)) == "Hello there!\nIt's a test."


def test_without_the_box_there_is_no_message() -> None:
    image = started()
    show(image, 14, 1, "PRESS START")
    tiles = bytes(image[0xC3A0:0xC508])
    assert message(tiles, ScreenRows(RED.charmap).read(tiles)) is None


@settings(deadline=None)
@given(st.integers(0, 999_999))
def test_a_decimal_number_survives_the_round_trip(number: int) -> None:
    assert decode_bcd(bytes.fromhex(f"{number:06d}")) == number


@settings(deadline=None)
@given(st.binary(min_size=1, max_size=4))
def test_a_digit_above_nine_is_no_number(data: bytes) -> None:
    digits = [nibble for byte in data for nibble in (byte >> 4, byte & 15)]
    expected = int("".join(map(str, digits))) if max(digits) <= 9 else None
    assert decode_bcd(data) == expected
