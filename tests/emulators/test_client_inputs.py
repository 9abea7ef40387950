"""Inputs that people write, and answers that servers give."""

from __future__ import annotations

import base64
import contextlib
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from ptp.emulators import GameState, InputValidator
from ptp.emulators.answers import ServerStatus
from ptp.emulators.inputs import KEYS
from ptp.errors import BadAnswer, BadCommand, PtpError, UnknownName
from tests.emulators.foreign import Game

VALIDATOR = InputValidator()


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("A B START", ["a", "b", "start"]),
        ("  up,Up ,\tleft\n", ["up", "up", "left"]),
        ("select", ["select"]),
    ],
)
def test_an_input_is_keys_in_any_case_separated_by_spaces_or_commas(text: str, keys: list[str]) -> None:
    assert VALIDATOR.parse(text) == keys


def test_a_key_that_is_none_is_named_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="no key named 'strat'; did you mean 'start'"):
        VALIDATOR.parse("A STRAT")


@pytest.mark.parametrize(("text", "reason"), [("", "has no keys"), (" \n", "has no keys"), ("a " * 101, "101 keys")])
def test_an_input_of_no_keys_or_too_many_is_refused(text: str, reason: str) -> None:
    with pytest.raises(BadCommand, match=reason):
        VALIDATOR.parse(text)


@given(st.text(max_size=300))
def test_any_text_is_keys_or_an_error_of_ours(text: str) -> None:
    with contextlib.suppress(PtpError):
        assert set(VALIDATOR.parse(text)) <= set(KEYS)


def answer_with(**fields: Any) -> bytes:
    return json.dumps(Game().answer() | fields).encode()


def test_an_answer_becomes_a_state_and_fields_of_the_servers_own_are_ignored() -> None:
    state = VALIDATOR.decode("http://s/action", answer_with(), GameState)
    assert (state.location, state.coordinates, state.pokemons[0].hp.max) == ("PALLET TOWN", [0, 0], 20)


def test_every_field_that_is_missing_or_of_another_type_is_named_at_once() -> None:
    answer = Game().answer() | {"money": "much", "coordinates": [1, 2, 3], "pokemons": [{"nickname": "A"}]}
    del answer["badges"], answer["score"]
    with pytest.raises(BadAnswer) as problem:
        VALIDATOR.decode("http://s/action", json.dumps(answer).encode(), GameState)
    said = str(problem.value)
    assert said.startswith("http://s/action is not compatible: ")
    assert "money: Expected `int`, got `str`" in said
    assert "badges is missing" in said
    assert "coordinates: Expected `array` of length <= 2" in said
    assert "pokemons: Object missing required field `species`" in said
    assert "score" not in said
    assert VALIDATOR.check_compatibility(Game().answer()) == []


@pytest.mark.parametrize(
    ("answer", "name"),
    [([], "an array"), ("text", "text"), (None, "null"), (True, "true or false"), (1.5, "a number")],
)
def test_an_answer_that_is_no_object_is_incompatible(answer: Any, name: str) -> None:
    assert VALIDATOR.check_compatibility(answer, ServerStatus) == [f"the answer is {name}, not an object"]
    with pytest.raises(BadAnswer, match=name):
        VALIDATOR.decode("http://s", json.dumps(answer).encode(), ServerStatus)


@pytest.mark.parametrize("body", [b"", b"<html>", b"\xff\xfe", b'{"status": "runn', b"[" * 100_000])
def test_an_answer_that_is_no_json_is_shown(body: bytes) -> None:
    with pytest.raises(BadAnswer, match="answered no JSON but"):
        VALIDATOR.decode("http://s/status", body, ServerStatus)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
)


@given(st.dictionaries(st.sampled_from(GameState.__struct_fields__), JSON, max_size=5), st.binary(max_size=8))
def test_any_answer_is_a_state_or_an_error_of_ours(fields: dict[str, Any], noise: bytes) -> None:
    for body in (answer_with(**fields), noise, answer_with(**fields)[: len(noise) * 50]):
        try:
            state = VALIDATOR.decode("http://s/action", body, GameState)
            VALIDATOR.picture("http://s/action", state)
            VALIDATOR.format_response(state)
        except BadAnswer:
            continue


def test_a_formatted_state_is_the_game_without_picture_counts_and_times() -> None:
    state = VALIDATOR.decode("http://s", answer_with(), GameState)
    formatted = VALIDATOR.format_response(state)
    assert set(Game().answer()) - set(formatted) == {
        "screenshot_base64", "step_number", "execution_time", "score", "a_field_of_its_own",
    }  # fmt: skip
    assert formatted["coordinates"] == [0, 0]
    assert json.loads(json.dumps(formatted)) == formatted


def with_picture(data: bytes) -> GameState:
    answer = answer_with(screenshot_base64=base64.b64encode(data).decode())
    return VALIDATOR.decode("http://s", answer, GameState)


def png(width: int, height: int) -> bytes:
    file = io.BytesIO()
    Image.new("P", (width, height)).save(file, "PNG")
    return file.getvalue()


def test_a_screenshot_becomes_pixels_whatever_kind_of_png_it_is() -> None:
    assert VALIDATOR.picture("http://s", with_picture(png(320, 288))).shape == (288, 320, 3)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"GIF89a", "no PNG"),
        (b"", "no PNG"),
        (png(320, 288)[:60], "can't be read"),
        (png(5000, 5000), "5000 x 5000 pixels: too many"),
    ],
)
def test_a_screenshot_that_is_no_picture_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(BadAnswer, match=reason):
        VALIDATOR.picture("http://s", with_picture(data))


def test_a_screenshot_that_is_not_base64_is_refused() -> None:
    state = VALIDATOR.decode("http://s", answer_with(screenshot_base64="*"), GameState)
    with pytest.raises(BadAnswer, match="can't be read"):
        VALIDATOR.picture("http://s", state)
