"""What readers know of a world without making it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import msgspec

from ptp.records import Event
from ptp.worlds.gameboy import events as game
from ptp.worlds.knowledge import Knowledge, knowledge_of

GAME = knowledge_of("gameboy")
STATE: dict[str, Any] = {
    "screen_type": "battle",
    "location": "ROUTE",
    "coordinates": {"x": 3, "y": 4},
    "party": [{"species": "EMBERET", "level": 5, "hp": 9, "max_hp": 20}, {"level": 7, "hp": 20, "max_hp": 20}],
    "inventory": [{"id": 4, "quantity": 5, "name": "BALL"}, {"id": 3, "quantity": 1}, {"id": 20, "quantity": 2}],
    "badges": 1,
    "caught": 1,
    "owned": 2,
    "money": 300,
    "battle": {"turn": 1},
}


def test_a_family_nobody_knows_is_like_any_world() -> None:
    known = knowledge_of("os:system")
    assert type(known) is Knowledge
    assert known.title("Won", {}) == "Won"
    assert known.describe({"party": 3}).party is None
    assert known.rows("r", Event(0.0, 1, 0, "Won", "", {})) == known.rewound("r", 1) == []
    assert known.world_of("Taxi-v4", {}) == "Taxi-v4"


def test_a_state_is_shown_in_the_words_of_the_specification() -> None:
    shown = GAME.describe(STATE)
    assert (shown.screen_type, shown.location, shown.badges) == ("battle", "ROUTE", 1)
    assert (shown.pokemon_caught, shown.pokemon_owned) == (1, 2)
    assert shown.party is not None
    assert [member.name for member in shown.party] == ["EMBERET", None]
    assert shown.inventory == {"pokeballs": 6, "potions": 2, "BALL": 5, "item 3": 1, "item 20": 2}
    assert GAME.is_engaged(STATE)
    assert not GAME.is_engaged({})


def test_a_state_of_another_form_is_shown_as_null() -> None:
    shown = GAME.describe({"party": "none", "inventory": 3, "coordinates": [1, 2], "badges": "one"})
    assert (shown.party, shown.coordinates, shown.badges) == (None, None, None)
    assert shown.inventory == {"pokeballs": None, "potions": None}


def test_actions_have_the_names_of_the_specification() -> None:
    assert [GAME.action(name) for name in ("up", "left:16", "a")] == ["MOVE_UP", "MOVE_LEFT", "A"]
    assert [GAME.event_name(kind) for kind in ("BattleStarted", "Encounter", "MapChanged")] == [
        "BATTLE_START", "ENCOUNTER", "MAP_CHANGED"
    ]  # fmt: skip
    assert (knowledge_of("toy_text").action("up"), knowledge_of("toy_text").event_name("Won")) == ("UP", "WON")


def test_figures_are_read_from_a_state() -> None:
    found = {name: GAME.figure(name, STATE) for name in GAME.figures}
    assert found == {
        "pokemon_caught": 1,
        "pokemon_owned": 2,
        "badges_earned": 1,
        "current_level": 7,
        "pokemon_party_size": 2,
        "money": 300,
        "party_health": 72.5,
    }
    assert {GAME.figure(name, {}) for name in GAME.figures} == {None}


CAUGHT = game.Caught("NIBBIN", 3, 4, "ROUTE", True)


def test_an_old_row_without_a_title_gets_the_one_a_live_event_has() -> None:
    assert GAME.title("Caught", msgspec.to_builtins(CAUGHT)) == "caught NIBBIN (level 4)"
    assert GAME.title("Unheard", {}) == "Unheard"


def test_rows_are_the_same_live_and_from_what_was_written() -> None:
    live = Event(1_700_000_000.0, 7, 1, "Caught", "", CAUGHT)
    stored = msgspec.structs.replace(live, detail=msgspec.to_builtins(CAUGHT))
    (row, *_) = GAME.rows("0192f000-0000-7000-8000-000000000001", live)
    assert GAME.rows("0192f000-0000-7000-8000-000000000001", stored)[0] == row
    assert "0192f000-0000-7000-8000-000000000007/01" in row.values


def test_a_built_in_cartridge_is_found_by_its_hash_whatever_it_was_called() -> None:
    from ptp.worlds.gameboy.cartridge import read_cartridge
    from ptp.worlds.gameboy.profiles import BUILT_IN

    assert GAME.world_of("renamed", {"rom_sha1": read_cartridge(BUILT_IN["tallgrass"]).sha1}) == "tallgrass"
    assert GAME.world_of("tallgrass", {"rom_sha1": "other"}) is None


def test_readers_do_not_wait_for_gymnasium_or_the_emulator() -> None:
    code = (
        "import sys; from ptp.worlds.knowledge import knowledge_of; knowledge_of('gameboy').title('x', {}); "
        "print([name for name in ('gymnasium', 'numpy', 'pyboy') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
