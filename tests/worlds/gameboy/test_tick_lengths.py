"""The whole game once more, looked at after 24 frames, after 4 and after every frame: it is told the same."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import pairwise

import pytest

from ptp.records import WorldSpec
from ptp.worlds import make_world
from ptp.worlds.gameboy.commands import BUTTONS, Press
from ptp.worlds.gameboy.differences import is_whole
from ptp.worlds.gameboy.env import pack
from ptp.worlds.gameboy.events import (
    BadgeEarned,
    BattleEnded,
    BattleStarted,
    Caught,
    Encounter,
    GameEvent,
    Joined,
    LevelUp,
    MapChanged,
)
from ptp.worlds.gameboy.state import GameState
from ptp.worlds.gameboy.world import GameBoyWorld
from tests.cartridge import walkthrough
from tests.cartridge.player import Player

LENGTHS = (24, 4, 1)
TOLD = (BadgeEarned, BattleEnded, BattleStarted, Caught, Encounter, Joined, LevelUp, MapChanged)
Tape = list[tuple[str | None, int, int]]
Seen = tuple[list[GameState], list[GameEvent]]


@pytest.fixture(scope="module")
def tape() -> Tape:
    player = Player()
    walkthrough.play(player, lambda stage: None)
    player.close()
    return player.tape


def made(length: int) -> GameBoyWorld:
    options = {"rom": "tallgrass", "frames_per_tick": length}
    world = make_world(WorldSpec("tallgrass", "ptp.worlds.gameboy.world:GameBoyWorld", options))
    assert isinstance(world, GameBoyWorld)
    world.reset(0)
    return world


def presses(tape: Tape, length: int) -> Iterator[Press]:
    """Return the same presses as ticks of so many frames."""
    for button, hold, frames in tape:
        number = 0 if button is None else BUTTONS.index(button)
        for start in range(0, frames, length):
            held = min(max(hold - start, 0), length)
            yield (number, held) if number and held else 0


@pytest.fixture(scope="module", params=LENGTHS)
def seen(request: pytest.FixtureRequest, tape: Tape) -> Seen:
    world = made(request.param)
    states: list[GameState] = []
    events: list[GameEvent] = []
    for press in presses(tape, request.param):
        world.step(press)
        events += [event.detail for event in world.events]
        if not states or world.state(None) is not states[-1]:
            states.append(world.state(None))
    world.close()
    return states, events


@pytest.fixture(scope="module")
def told_at_24(tape: Tape) -> list[GameEvent]:
    world = made(24)
    events: list[GameEvent] = []
    for press in presses(tape, 24):
        world.step(press)
        events += [event.detail for event in world.events]
    world.close()
    return events


def test_what_happened_is_told_alike_and_once(seen: Seen, told_at_24: list[GameEvent]) -> None:
    _, events = seen
    for kind in TOLD:
        assert [_about(event) for event in events if isinstance(event, kind)] == [
            _about(event) for event in told_at_24 if isinstance(event, kind)
        ]


def _about(event: GameEvent) -> tuple[object, ...]:
    """Return what does not depend on the moment at which the tick ended."""
    return tuple(
        getattr(event, name) for name in event.__struct_fields__ if name not in ("coordinates", "turns", "direction")
    )


def test_the_player_is_only_ever_where_one_can_get_to(seen: Seen) -> None:
    states, _ = seen
    whole = [state for state in states if state.map_id is not None]
    assert len(whole) > 1000
    for before, after in pairwise(whole):
        assert _can_follow(before, after), (before.location, before.coordinates, after.location, after.coordinates)


def _can_follow(before: GameState, after: GameState) -> bool:
    here, there = before.coordinates, after.coordinates
    assert here is not None
    assert there is not None
    if before.map_id == after.map_id:
        return abs(here.x - there.x) + abs(here.y - there.y) <= 2
    if after.battle_result == 1 and (there.x, there.y) == (4, 4):
        return after.location in ("REST HOUSE", "RIDGE HUT")  # a lost battle
    doors = {(warp.x, warp.y + step) for warp in after.warps or () for step in (0, 1)}
    led = any(
        warp.location == after.location and abs(warp.x - here.x) + abs(warp.y - here.y) <= 1
        for warp in before.warps or ()
    )
    crossed = any(edge.map_id == after.map_id for edge in before.connections or ()) and here.x == there.x
    return (led and (there.x, there.y) in doors) or crossed


def test_the_map_in_a_state_is_the_one_it_names(seen: Seen) -> None:
    """Width, height and warps belong to the place: each place has one set of them."""
    states, _ = seen
    known: dict[int, tuple[object, ...]] = {}
    for state in states:
        if state.map_id is None:
            continue
        warps = tuple((warp.x, warp.y, warp.map_id) for warp in state.warps or ())
        assert known.setdefault(state.map_id, (state.width, state.height, warps)) == (state.width, state.height, warps)


def test_nobody_in_the_party_is_half_written(seen: Seen) -> None:
    states, _ = seen
    for state in states:
        for member in state.party or ():
            assert member.species
            assert member.nickname
            assert 0 <= member.hp <= member.max_hp
            assert member.level > 0
            assert member.moves
            assert member.trainer_id


def test_a_battle_is_fought_by_those_who_were_sent_out(seen: Seen) -> None:
    states, _ = seen
    for state in states:
        if state.battle is None or not state.party or not is_whole(state):
            continue
        own, enemy = state.battle.own, state.battle.enemy
        assert own is None or own.species in {member.species for member in state.party}
        assert enemy is None or 0 <= enemy.hp <= enemy.max_hp


def test_every_length_sees_the_map_change(seen: Seen) -> None:
    states, _ = seen
    assert any(state.screen_type == "map_change" for state in states)
    assert not any(state.screen_type == "map_change" and state.warps for state in states)


def test_every_frame_sees_parties_and_battles_that_are_half_written(tape: Tape) -> None:
    """What the game writes in steps is there to be seen, and makes no event until it is whole."""
    world = made(1)
    half_written = set()
    for press in presses(tape[:600], 1):
        world.step(press)
        state = world.state(None)
        if is_whole(state) or state.map_id is None:
            continue
        half_written.add("party" if state.party is None else "battle")
        assert not world.events
        assert "level" not in world.signals().values or world.signals().values["level"] > 0
    world.close()
    assert half_written == {"party", "battle"}


def test_two_who_change_places_are_not_seen_halfway(tape: Tape) -> None:
    world = made(1)
    player = Player()
    player.replay(tape)
    file = io.BytesIO()
    player.pyboy.save_state(file)
    world.load(pack(b'{"battle":null}', file.getvalue()))
    first = [member.nickname for member in world.state(None).party or ()]
    seen, told = [], []
    for button in ("start", "a", "a", "down", "a", "down", "a", "b", "b"):
        for frame in range(24):
            world.step((BUTTONS.index(button), 1) if frame < 8 else 0)
            seen.append(world.state(None).party)
            told += [event.kind for event in world.events]
    player.close()
    world.close()
    assert None in seen
    names = {tuple(member.nickname for member in party) for party in seen if party is not None}
    assert names == {tuple(first), (first[1], first[0], *first[2:])}
    assert "Joined" not in told


def test_a_change_of_maps_survives_saving(tape: Tape) -> None:
    """Saved in the dark and loaded elsewhere, the travel is still told, and nobody joins anew."""
    first, other = made(4), made(4)
    ticks = presses(tape, 4)
    for press in ticks:
        first.step(press)
        state = first.state(None)
        if state.screen_type == "map_change" and state.party:
            break
    other.load(first.save())
    assert other.state(None) == first.state(None)
    told: list[str] = []
    for press in ticks:
        other.step(press)
        told += [event.kind for event in other.events]
        if other.state(None).map_id is not None:
            break
    assert told == ["MapChanged"]
    first.close()
    other.close()
