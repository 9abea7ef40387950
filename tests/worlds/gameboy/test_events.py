"""What happened between two states."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import or_

import msgspec
import pytest

from ptp.worlds.gameboy.differences import differences
from ptp.worlds.gameboy.events import (
    BadgeEarned,
    BattleStarted,
    Caught,
    DialogShown,
    Encounter,
    Evolved,
    Fainted,
    GameEvent,
    ItemChanged,
    Joined,
    LevelUp,
    MapChanged,
    MoneyChanged,
    PartySeen,
)
from ptp.worlds.gameboy.state import Point
from tests.worlds.gameboy.images import box, empty, fight, member, move_to, put, show, started, state

Change = Callable[[bytearray], object]


def playing() -> bytearray:
    image = started()
    move_to(image, 12)
    put(image, 0xD361, 7)
    put(image, 0xD362, 5)
    member(image, 0, species=0x99, dvs=0x1111)
    member(image, 1, species=0xB0, dvs=0x2222)
    put(image, 0xD31D, 2, 4, 5, 20, 1)
    put(image, 0xD347, 0, 0x10, 0)
    return image


def happened(change: Change, image: bytearray | None = None) -> list[GameEvent]:
    image = playing() if image is None else image
    before = state(image)
    change(image)
    return [event for event in differences(before, state(image)) if not isinstance(event, PartySeen)]


def test_the_whole_party_is_told_after_something_happened_to_it() -> None:
    image = playing()
    before = state(image)
    put(image, 0xD16B + 1, 0, 0)
    after = state(image)
    (seen,) = [event for event in differences(before, after) if isinstance(event, PartySeen)]
    assert seen.members == after.party
    assert [type(event) for event in differences(after, after)] == []


def battle(kind: int = 1) -> bytearray:
    image = playing()
    fight(image, kind)
    return image


def test_nothing_happens_when_nothing_changes() -> None:
    assert happened(lambda image: None) == []


def test_walking_is_no_event() -> None:
    assert happened(lambda image: put(image, 0xD361, 8)) == []


def test_another_map() -> None:
    assert happened(lambda image: move_to(image, 1)) == [
        MapChanged(12, "ROUTE 1", 1, "VIRIDIAN CITY", "down", Point(5, 7))
    ]


def test_a_wild_battle_is_an_encounter() -> None:
    assert happened(fight) == [
        BattleStarted("wild", None, "RATTATA", 3, "ROUTE 1", 0),
        Encounter("RATTATA", 0xA5, 3, "ROUTE 1", Point(5, 7)),
    ]


def test_a_trainers_creature_is_not_known_when_the_battle_starts() -> None:
    def meet(image: bytearray) -> None:
        fight(image, 2)
        put(image, 0xD031, 34)

    assert happened(meet) == [BattleStarted("gym", "BROCK", None, None, "ROUTE 1", 0)]


def test_an_enemy_faints_once() -> None:
    image = battle()
    assert happened(lambda i: put(i, 0xCFE6, 0, 0), image) == [Fainted("enemy", "RATTATA", 0xA5, 3, None)]
    assert happened(lambda i: put(i, 0xD125, 1), image) == []


@pytest.mark.parametrize("slot", [0, 1])
def test_a_creature_of_the_party_faints(slot: int) -> None:
    events = happened(lambda image: put(image, 0xD16B + 0x2C * slot + 1, 0, 0))
    assert [type(event) for event in events] == [Fainted]
    assert msgspec.structs.asdict(events[0])["slot"] == slot


def test_a_level_gained() -> None:
    assert happened(lambda image: put(image, 0xD16B + 0x21, 7)) == [LevelUp(0, "BULBASAUR", "NAME0", 5, 7)]


def test_an_evolution_is_the_same_creature() -> None:
    def evolve(image: bytearray) -> None:
        put(image, 0xD164, 0x09)
        put(image, 0xD16B, 0x09)

    assert happened(evolve) == [Evolved(0, "BULBASAUR", "IVYSAUR")]


def test_changing_places_is_no_event() -> None:
    def swap(image: bytearray) -> None:
        first, second = image[0xD16B:0xD197], image[0xD197:0xD1C3]
        image[0xD16B:0xD197], image[0xD197:0xD1C3] = second, first

    assert happened(swap) == []


def test_a_gift_joins_and_is_not_caught() -> None:
    events = happened(lambda image: member(image, 2, species=0xB1, level=9, dvs=0x3333))
    assert events == [Joined(2, "SQUIRTLE", 0xB1, "NAME2", 9, "ROUTE 1")]


def test_a_new_creature_in_a_wild_battle_is_caught() -> None:
    events = happened(lambda image: member(image, 2, species=0xA5, level=3, dvs=0x3333), battle())
    assert events == [
        Joined(2, "RATTATA", 0xA5, "NAME2", 3, "ROUTE 1"),
        Caught("RATTATA", 0xA5, 3, "ROUTE 1", True),
    ]


def test_a_creature_that_is_traded_for_is_a_catch() -> None:
    image = playing()

    def trade(image: bytearray) -> None:
        put(image, 0xD16B + 0x2C + 0xC, 0x12, 0x34)  # somebody else was its first trainer
        member(image, 1, species=0xB1, level=9, dvs=0x3333)

    events = happened(trade, image)
    assert [type(event) for event in events] == [Joined, Caught]
    assert events[1] == Caught("SQUIRTLE", 0xB1, 9, "ROUTE 1", True, "trade", "0000-2222")


def test_two_that_change_places_with_the_box_are_not_traded() -> None:
    def swap(image: bytearray) -> None:
        member(image, 1, species=0xB1, level=9, dvs=0x3333)

    assert [type(event) for event in happened(swap)] == [Joined]


def test_one_that_leaves_the_party_is_seen_to_be_gone() -> None:
    before = playing()
    after = bytearray(before)
    put(after, 0xD163, 1)
    assert [type(event) for event in differences(state(before), state(after))] == [PartySeen]


@pytest.mark.parametrize(("bit", "name"), [(0, "BOULDER"), (7, "EARTH")])
def test_a_badge(bit: int, name: str) -> None:
    assert happened(lambda image: put(image, 0xD356, 1 << bit)) == [BadgeEarned(name, 1)]


def test_a_second_badge_is_the_only_new_one() -> None:
    image = playing()
    put(image, 0xD356, 1)
    assert happened(lambda i: put(i, 0xD356, 3), image) == [BadgeEarned("CASCADE", 2)]


def test_an_item_found() -> None:
    assert happened(lambda image: put(image, 0xD31F, 7)) == [ItemChanged("add", "POKé BALL", 4, 2, "pickup")]


def test_an_item_gone() -> None:
    assert happened(lambda image: put(image, 0xD31D, 1)) == [ItemChanged("remove", "POTION", 20, 1, None)]


def test_an_item_used_in_battle() -> None:
    assert happened(lambda i: put(i, 0xD31F, 4), battle()) == [ItemChanged("use", "POKé BALL", 4, 1, "battle")]


def test_something_bought() -> None:
    def buy(image: bytearray) -> None:
        put(image, 0xD347, 0, 0x08, 0)
        put(image, 0xD31F, 6)

    assert happened(buy) == [ItemChanged("add", "POKé BALL", 4, 1, "shop"), MoneyChanged(-200, 800, "shop")]


def test_money_alone() -> None:
    assert happened(lambda image: put(image, 0xD347, 0, 0x10, 0x50)) == [MoneyChanged(50, 1050)]


def test_money_won_in_a_battle_is_a_reward() -> None:
    assert happened(lambda i: put(i, 0xD347, 0, 0x10, 0x50), battle(2)) == [MoneyChanged(50, 1050, "reward")]


def test_the_first_that_can_fight_is_sent_out() -> None:
    image = playing()
    put(image, 0xD16C, 0, 0)
    (started, _) = happened(fight, image)
    assert msgspec.structs.asdict(started)["party_index"] == 1


def test_money_that_can_not_be_read_is_no_event() -> None:
    assert happened(lambda image: put(image, 0xD347, 0xFF)) == []


def test_a_text_is_told_once_when_it_is_complete() -> None:
    image = playing()
    told: list[GameEvent] = []
    box(image, 12, 0, 6, 20)
    for text in ("He", "Hello", "Hello!", "Bye"):
        told += happened(lambda i, text=text: show(i, 14, 1, text.ljust(6)), image)  # type: ignore[misc]
    told += happened(lambda i: put(i, 0xCFC4, 0), image)
    assert told == [DialogShown("Hello!", "ROUTE 1", Point(5, 7)), DialogShown("Bye", "ROUTE 1", Point(5, 7))]


def test_what_is_said_in_a_battle_belongs_to_its_turns() -> None:
    image = battle()
    box(image, 12, 0, 6, 20)
    show(image, 14, 1, "Go!")
    assert happened(lambda i: show(i, 14, 1, "Hm?"), image) == []


def test_a_loaded_game_tells_who_is_there() -> None:
    events = differences(state(empty()), state(playing()))
    assert [type(event) for event in events] == [Joined, Joined, PartySeen]


def test_a_title_screen_tells_nothing() -> None:
    assert differences(state(playing()), state(empty())) == []


def test_events_can_be_written_and_read_again() -> None:
    events, any_event = happened(fight), reduce(or_, GameEvent.__subclasses__())
    assert msgspec.json.decode(msgspec.json.encode(events), type=list[any_event]) == events  # type: ignore[valid-type]
