"""Profiles: complete tables, found by hash, title or name."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from ptp.errors import UnknownName
from ptp.worlds.gameboy.cartridge import Cartridge, read_cartridge
from ptp.worlds.gameboy.profiles import BUILT_IN, RAW, find_profile, load_profile, profile_names
from tests.worlds.gameboy.roms import write_rom

RED = load_profile("pokemon-red")
TALLGRASS = load_profile("tallgrass")


def cartridge(title: str = "", sha1: str = "") -> Cartridge:
    return Cartridge("game.gb", title, 0, 0, sha1, b"")


def test_the_tables_of_pokemon_red_are_complete() -> None:
    assert set(RED.maps) == set(range(248))
    assert len(RED.species) == 151
    assert {species.dex for species in RED.species.values()} == set(range(1, 152))
    assert set(RED.moves) == set(range(1, 166))
    assert len(RED.items) == 152
    assert len(RED.types) == 16
    assert len(RED.type_chart) == 82
    assert len(RED.events) == 507
    assert max(RED.events) < 8 * RED.event_bytes
    assert len(RED.badges) == 8


def test_every_table_speaks_of_the_same_types() -> None:
    for profile in (RED, TALLGRASS):
        types = set(profile.types.values())
        assert {move.type for move in profile.moves.values()} <= types
        assert {kind for pair in profile.type_chart for kind in pair} <= types


@pytest.mark.parametrize(
    ("table", "number", "name"),
    [("maps", 0, "PALLET TOWN"), ("maps", 247, "AGATHAS ROOM"), ("items", 4, "POKé BALL"), ("types", 26, "DRAGON")],
)
def test_some_names_of_pokemon_red(table: str, number: int, name: str) -> None:
    entry = getattr(RED, table)[number]
    assert (entry if isinstance(entry, str) else entry.name) == name


def test_species_are_found_by_internal_index() -> None:
    assert (RED.species[0x99].name, RED.species[0x99].dex) == ("BULBASAUR", 1)
    assert (RED.species[0x15].name, RED.species[0x15].dex) == ("MEW", 151)
    assert 0x1F not in RED.species


def test_damage_depends_on_both_types_of_the_enemy() -> None:
    assert RED.effectiveness("WATER", ("FIRE",)) == 2
    assert RED.effectiveness("WATER", ("FIRE", "ROCK")) == 4
    assert RED.effectiveness("NORMAL", ("GHOST",)) == 0
    assert RED.effectiveness("WATER", ("FIRE", "FIRE")) == 2
    assert RED.effectiveness("NORMAL", (None,)) == 1


def test_tallgrass_has_its_own_names_and_the_same_characters() -> None:
    assert TALLGRASS.maps[0] == "FERNHOLLOW"
    assert "CATCH ORB" in TALLGRASS.items.values()
    assert TALLGRASS.charmap.decode(RED.charmap.encode("Aa9!")) == "Aa9!"
    assert max(TALLGRASS.events) < 8 * TALLGRASS.event_bytes
    assert all(leader in TALLGRASS.trainers for leader in TALLGRASS.leaders)


def test_a_cartridge_is_known_by_its_hash_whatever_its_title() -> None:
    assert find_profile(cartridge("HACK", "ea9bcae617fdf159b045185467ae58b2e4a48b9a")) is RED


def test_a_cartridge_is_known_by_its_title() -> None:
    assert find_profile(cartridge("POKEMON RED", "00")) is RED
    assert find_profile(cartridge("TALLGRASS", "00")) is TALLGRASS


def test_an_unknown_cartridge_gets_no_names() -> None:
    profile = find_profile(cartridge("TETRIS", "00"))
    assert profile is RAW
    assert not profile.readable


def test_a_profile_can_be_forced() -> None:
    assert find_profile(cartridge("TETRIS"), "tallgrass") is TALLGRASS
    assert find_profile(cartridge("POKEMON RED"), "raw") is RAW


def test_an_unknown_profile_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="no profile named 'pokemon-rad'; did you mean 'pokemon-red'"):
        find_profile(cartridge(), "pokemon-rad")
    assert profile_names() == ["pokemon-red", "tallgrass", "raw"]


def test_a_profile_can_not_be_changed() -> None:
    with pytest.raises(AttributeError):
        RED.name = "blue"  # type: ignore[misc]


def test_the_built_in_cartridge_is_a_good_one() -> None:
    built_in = read_cartridge(BUILT_IN["tallgrass"])
    assert built_in.title == "TALLGRASS"
    assert find_profile(built_in) is TALLGRASS


def test_a_cartridge_is_data(tmp_path: Path) -> None:
    read = read_cartridge(write_rom(tmp_path))
    assert msgspec.structs.replace(read, name="other").sha1 == read.sha1
