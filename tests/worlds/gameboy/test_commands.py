"""Buttons as commands and as text."""

from __future__ import annotations

import numpy as np
import pytest

from ptp.errors import BadCommand, UnknownName
from ptp.worlds.gameboy.commands import BUTTONS, ButtonCodec

CODEC = ButtonCodec(24)


def test_every_command_survives_the_round_trip() -> None:
    holds = [(button, frames) for button in range(1, 9) for frames in range(1, 25)]
    for command in [*range(9), *holds]:
        assert CODEC.decode(CODEC.encode(command)) == command
        assert CODEC.parse(CODEC.encode(command)) == command


def test_a_command_reads_like_a_button() -> None:
    assert [CODEC.encode(number) for number in range(9)] == list(BUTTONS)
    assert CODEC.encode((1, 16)) == "a:16"


def test_a_sampled_number_is_a_command() -> None:
    assert CODEC.encode(np.int64(5)) == "up"
    assert CODEC.resolve(np.int64(5)) == ("up", 8, 24, ())


def test_a_button_is_held_for_eight_frames_or_as_long_as_it_says() -> None:
    assert CODEC.resolve(0) == (None, 0, 24, ())
    assert CODEC.resolve(1) == ("a", 8, 24, ())
    assert CODEC.resolve((8, 24)) == ("right", 24, 24, ())


def test_a_short_tick_holds_a_button_no_longer_than_it_lasts() -> None:
    assert ButtonCodec(1).resolve(1) == ("a", 1, 1, ())


@pytest.mark.parametrize(("word", "command"), [("A", 1), (" Start ", 3), ("UP:3", (5, 3)), ("0", 0), ("8", 8)])
def test_a_person_may_write_it_in_several_ways(word: str, command: object) -> None:
    assert CODEC.parse(word) == command


@pytest.mark.parametrize("command", [9, -1, "a", (1, 0), (1, 25), (0, 5), None, [1, 2], 1.5])
def test_what_is_no_command_is_refused(command: object) -> None:
    with pytest.raises(BadCommand, match="allowed: none, a, b"):
        CODEC.encode(command)
    with pytest.raises(BadCommand):
        CODEC.resolve(command)


@pytest.mark.parametrize(
    ("text", "command", "frames"),
    [
        ("a:10/130", (1, 10, 130), ("a", 10, 130, ())),
        ("a:1/1", (1, 1, 1), ("a", 1, 1, ())),
        ("start:3600/3600", (3, 3600, 3600), ("start", 3600, 3600, ())),
        ("none/60", (0, 0, 60), (None, 0, 60, ())),
        ("b+up:8/24", (5, 8, 24, 2), ("up", 8, 24, ("b",))),
        ("a+b+right:30/30", (8, 30, 30, 1, 2), ("right", 30, 30, ("a", "b"))),
    ],
)
def test_a_command_may_have_a_length_of_its_own(text: str, command: object, frames: object) -> None:
    assert (CODEC.parse(text.upper()), CODEC.decode(text), CODEC.encode(command)) == (command, command, text)
    assert CODEC.resolve(command) == frames


@pytest.mark.parametrize(
    "text",
    ["a:0/5", "a:6/5", "a:1/3601", "a/60", "none:3/60", "none/0", "none/3601", "a+a:3/9", "b+a+up:3/9", "b+none/9",
     "a:10/", "a:/9", "a:01/9", "a:1/2/3"],
)  # fmt: skip
def test_a_length_that_cant_be_is_refused(text: str) -> None:
    with pytest.raises(BadCommand, match="at most 3600 frames in all"):
        CODEC.parse(text)
    with pytest.raises(BadCommand):
        CODEC.decode(text)


@pytest.mark.parametrize(
    "command", [(1, 0, 5), (1, 6, 5), (9, 1, 2), (0, 0, 9, 1), (1, 2, 3, 1), (1, 2, 3, 9), (1, 2.0, 3)]
)
def test_a_length_that_no_text_has_is_refused(command: object) -> None:
    with pytest.raises(BadCommand):
        CODEC.resolve(command)


@pytest.mark.parametrize("word", ["a:0", "a:25", "a:", "a:x", "none:3"])
def test_a_hold_that_is_none_names_what_is_allowed(word: str) -> None:
    with pytest.raises(BadCommand, match=":1 to :24"):
        CODEC.parse(word)


def test_an_unknown_button_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="no button named 'strat'; did you mean 'start'"):
        CODEC.parse("strat")


def test_a_damaged_tape_is_refused() -> None:
    with pytest.raises(BadCommand, match="'jump'"):
        CODEC.decode("jump")
