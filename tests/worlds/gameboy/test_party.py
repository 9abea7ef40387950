"""The party: six creatures and every field of each."""

from __future__ import annotations

import pytest

from ptp.worlds.gameboy.state import Member, Move
from tests.worlds.gameboy.images import member, put, started, state, write


def only(image: bytearray) -> Member:
    party = state(image).party
    assert party is not None
    assert len(party) == 1
    return party[0]


def test_every_field_of_a_creature() -> None:
    image = started()
    put(image, 0xD163, 1, 0x99, 0xFF)
    put(
        image, 0xD16B,
        0x99, 0x01, 0x23, 7, 0x00, 0x16, 0x03, 45, 33, 45, 73, 22,
        0x12, 0x34, 0x01, 0x02, 0x03, *range(10), 0xAB, 0xCD, 35, 40, 10, 0,
        42, 0x01, 0x30, 0x00, 0x31, 0x00, 0x32, 0x01, 0x33, 0x00, 0x34,
    )  # fmt: skip
    write(image, 0xD2B5, "LEAFY")
    assert only(image) == Member(
        species_id=0x99,
        species="BULBASAUR",
        dex=1,
        nickname="LEAFY",
        level=42,
        hp=0x123,
        max_hp=0x130,
        status=None,
        sleep_turns=0,
        types=("GRASS", "POISON"),
        moves=(
            Move(33, "TACKLE", "NORMAL", 35, 35),
            Move(45, "GROWL", "NORMAL", 0, 40),
            Move(73, "LEECH SEED", "GRASS", 0, 10),
            Move(22, "VINE WHIP", "GRASS", 35, 0),
        ),
        experience=0x010203,
        attack=0x31,
        defence=0x32,
        speed=0x133,
        special=0x34,
        trainer_id=0x1234,
        dvs=0xABCD,
    )


def test_six_creatures_each_with_its_own_name_and_level() -> None:
    image = started()
    for slot in range(6):
        member(image, slot, species=0xB0 + slot, level=10 + slot, hp=300 + slot)
    party = state(image).party
    assert party is not None
    assert [creature.level for creature in party] == [10, 11, 12, 13, 14, 15]
    assert [creature.hp for creature in party] == [300, 301, 302, 303, 304, 305]
    assert [creature.nickname for creature in party] == ["NAME0", "NAME1", "NAME2", "NAME3", "NAME4", "NAME5"]
    assert [creature.species for creature in party][:2] == ["CHARMANDER", "SQUIRTLE"]


@pytest.mark.parametrize("count", range(7))
def test_no_more_creatures_than_the_count(count: int) -> None:
    image = started()
    for slot in range(6):
        member(image, slot)
    put(image, 0xD163, count)
    assert len(state(image).party or ()) == count


def test_a_party_of_more_than_six_is_no_party() -> None:
    image = started()
    put(image, 0xD163, 7)
    assert state(image).party is None


@pytest.mark.parametrize(
    ("byte", "status", "turns"),
    [
        (0x00, None, 0),
        *((turns, "sleep", turns) for turns in range(1, 8)),
        (0x08, "poison", 0),
        (0x10, "burn", 0),
        (0x20, "freeze", 0),
        (0x40, "paralysis", 0),
        (0x48, "poison+paralysis", 0),
    ],
)
def test_each_status(byte: int, status: str | None, turns: int) -> None:
    image = started()
    put(image, member(image, 0) + 4, byte)
    assert (only(image).status, only(image).sleep_turns) == (status, turns)


def test_only_the_low_six_bits_are_pp() -> None:
    image = started()
    base = member(image, 0)
    put(image, base + 8, 1, 2, 3, 4)
    put(image, base + 0x1D, 0xFF, 0x40, 0x81, 0x3F)
    assert [move.pp for move in only(image).moves] == [63, 0, 1, 63]


def test_an_empty_place_is_no_move_and_keeps_the_pp_of_the_others() -> None:
    image = started()
    base = member(image, 0)
    put(image, base + 8, 1, 0, 3, 0)
    put(image, base + 0x1D, 11, 12, 13, 14)
    assert [(move.id, move.pp) for move in only(image).moves] == [(1, 11), (3, 13)]


def test_a_species_or_move_in_no_table_keeps_its_number_and_has_no_name() -> None:
    image = started()
    base = member(image, 0, species=0x1F)
    put(image, base + 8, 200)
    creature = only(image)
    assert (creature.species_id, creature.species, creature.dex) == (0x1F, None, None)
    assert creature.moves == (Move(200, None, None, None, 0),)


def test_a_creature_of_one_type_has_it_once() -> None:
    image = started()
    put(image, member(image, 0) + 5, 20, 20)
    assert only(image).types == ("FIRE",)


def test_a_type_in_no_table_has_no_name() -> None:
    image = started()
    put(image, member(image, 0) + 5, 9, 20)
    assert only(image).types == (None, "FIRE")
