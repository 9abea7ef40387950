"""A battle in memory: its kind, both fighters, who the trainer is."""

from __future__ import annotations

import pytest

from ptp.worlds.gameboy.state import Battle, Fighter, Move
from tests.worlds.gameboy.images import fight, put, show, started, state


def battle(image: bytearray) -> Battle:
    found = state(image).battle
    assert found is not None
    return found


def test_there_is_no_battle_outside_one() -> None:
    image = started()
    fight(image, 0)
    assert state(image).battle is None


def test_every_field_of_the_enemy() -> None:
    image = started()
    put(image, 0xD057, 1)
    put(
        image, 0xCFE5,
        0xA5, 0x01, 0x02, 9, 0x40, 0, 0, 255, 33, 39, 0, 0, 0xAA, 0xBB,
        13, 0x01, 0x05, *range(8), 35, 0xC3, 0, 0,
    )  # fmt: skip
    show(image, 0, 1, "RATTATA")
    assert battle(image).enemy == Fighter(
        species_id=0xA5,
        species="RATTATA",
        level=13,
        hp=0x102,
        max_hp=0x105,
        status="paralysis",
        sleep_turns=0,
        types=("NORMAL",),
        moves=(Move(33, "TACKLE", "NORMAL", 35, 35), Move(39, "TAIL WHIP", "NORMAL", 0, 3)),
    )


def test_every_field_of_the_own_fighter() -> None:
    image = started()
    put(image, 0xD057, 1)
    put(image, 0xD014, 0xB0, 0x00, 0x1A, 0, 0x03, 20, 20)
    put(image, 0xD01C, 10, 0, 0, 0)
    put(image, 0xD022, 8)
    put(image, 0xD023, 0x00, 0x1B)
    put(image, 0xD02D, 34)
    own = battle(image).own
    assert own is not None
    assert (own.species, own.level, own.hp, own.max_hp, own.status, own.sleep_turns) == (
        "CHARMANDER", 8, 26, 27, "sleep", 3,
    )  # fmt: skip
    assert own.types == ("FIRE",)
    assert own.moves == (Move(10, "SCRATCH", "NORMAL", 40, 34),)


def test_a_fighter_that_is_not_out_yet_is_none() -> None:
    image = started()
    put(image, 0xD057, 1)
    assert (battle(image).enemy, battle(image).own) == (None, None)


def test_a_wild_battle_has_no_trainer() -> None:
    image = started()
    fight(image, 1)
    put(image, 0xD031, 34)
    found = battle(image)
    assert (found.kind, found.trainer, found.trainer_class, found.lost) == ("wild", None, None, False)


@pytest.mark.parametrize(
    ("trainer_class", "number", "kind", "name"),
    [
        (1, 1, "trainer", "YOUNGSTER"),
        (34, 1, "gym", "BROCK"),
        (40, 1, "gym", "SABRINA"),
        (29, 1, "trainer", "GIOVANNI"),
        (29, 3, "gym", "GIOVANNI"),
        (47, 1, "trainer", "LANCE"),
        (99, 1, "trainer", None),
    ],
)
def test_a_leader_is_told_from_other_trainers(trainer_class: int, number: int, kind: str, name: str | None) -> None:
    image = started()
    fight(image, 2)
    put(image, 0xD031, trainer_class)
    put(image, 0xD05D, number)
    found = battle(image)
    assert (found.kind, found.trainer) == (kind, name)
    assert (found.trainer_class, found.trainer_number) == (trainer_class, number)


def test_a_lost_battle_is_marked() -> None:
    image = started()
    fight(image, 0xFF)
    assert (battle(image).kind, battle(image).lost) == (None, True)


@pytest.mark.parametrize(("value", "style"), [(0, "normal"), (1, "old man"), (2, "safari"), (3, None)])
def test_each_style_of_battle(value: int, style: str | None) -> None:
    image = started()
    fight(image)
    put(image, 0xD05A, value)
    assert battle(image).style == style


def test_who_fights_and_whether_the_menu_waits() -> None:
    image = started()
    fight(image)
    put(image, 0xCC2F, 3)
    assert (battle(image).active_slot, battle(image).choosing) == (3, True)
    put(image, 0xD125, 0x01)
    assert battle(image).choosing is False


def test_how_the_last_battle_ended() -> None:
    image = started()
    put(image, 0xCF0B, 2)
    assert state(image).battle_result == 2
