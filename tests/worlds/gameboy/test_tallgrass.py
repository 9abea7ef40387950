"""The built-in game, played to its end: what the world tells of it adds up."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest

from ptp.records import WorldSpec
from ptp.worlds import make_world
from ptp.worlds.gameboy.commands import BUTTONS, Press
from ptp.worlds.gameboy.events import (
    BadgeEarned,
    BattleEnded,
    BattleStarted,
    BattleTurn,
    Caught,
    Encounter,
    GameEvent,
    ItemChanged,
    Joined,
    MapChanged,
    MoneyChanged,
)
from ptp.worlds.gameboy.state import GameState
from ptp.worlds.gameboy.world import GameBoyWorld
from tests.cartridge import walkthrough
from tests.cartridge.player import Player

SPEC = WorldSpec("tallgrass", "ptp.worlds.gameboy.world:GameBoyWorld", {"rom": "tallgrass"})
FRAMES = 24


class Game(msgspec.Struct):
    """One play: what was pressed, and what the world told after each tick."""

    commands: list[Press]
    hashes: list[str]
    states: list[GameState]
    events: list[GameEvent]
    battle: int
    """The tick at which a second turn had begun."""
    saved: bytes


def made() -> GameBoyWorld:
    world = make_world(SPEC)
    assert isinstance(world, GameBoyWorld)
    world.reset(0)
    return world


def pressed() -> list[Press]:
    """Let the walkthrough play, and return what it pressed."""
    player = Player()
    walkthrough.play(player, lambda stage: None)
    player.close()
    commands: list[Press] = []
    for button, hold, frames in player.tape:
        ticks, rest = divmod(frames, FRAMES)
        assert not rest
        commands += [0 if button is None else (BUTTONS.index(button), hold)] * ticks
    return commands


@pytest.fixture(scope="module")
def game() -> Game:
    world, game = made(), Game(pressed(), [], [], [], 0, b"")
    for tick, command in enumerate(game.commands):
        world.step(command)
        game.hashes.append(world.state_hash(None, 0.0, False, False))
        game.states.append(world.state(None))
        game.events += [event.detail for event in world.events]
        if not game.saved and any(event.kind == "BattleTurn" for event in world.events):
            game.battle, game.saved = tick, world.save()
    world.close()
    return game


def test_the_badge_is_earned_from_a_leader(game: Game) -> None:
    assert [event for event in game.events if isinstance(event, BadgeEarned)] == [BadgeEarned("SLATE", 1)]
    leader = [event for event in game.events if isinstance(event, BattleEnded) and event.kind == "gym"]
    assert (leader[-1].outcome, leader[-1].trainer) == ("win", "WARDEN SLATE")


def test_every_battle_that_starts_ends_and_has_its_turns(game: Game) -> None:
    turns = 0
    is_open = False
    for event in game.events:
        if isinstance(event, BattleStarted):
            assert not is_open
            is_open, turns = True, 0
        elif isinstance(event, BattleTurn):
            turns += 1
            assert event.number == turns
        elif isinstance(event, BattleEnded):
            assert is_open
            assert (event.turns, event.outcome is None) == (turns, False)
            is_open = False
    assert not is_open


def test_an_enemy_that_did_something_did_a_move_it_knows(game: Game) -> None:
    turns = [event for event in game.events if isinstance(event, BattleTurn)]
    acted = [turn for turn in turns if turn.enemy_action == "move"]
    known = {
        move.name for state in game.states if state.battle and state.battle.enemy for move in state.battle.enemy.moves
    }
    assert len(acted) > len(turns) / 2
    assert {turn.enemy_move for turn in acted} <= known
    assert all(turn.enemy_move is None for turn in turns if turn not in acted)
    unmoved = [turn for turn in turns if turn.result == "goes on" and turn.enemy_action is None]
    assert len(unmoved) <= len(turns) / 10  # asleep, or held by paralysis


def test_what_was_paid_and_won_has_a_source(game: Game) -> None:
    won = [event for event in game.events if isinstance(event, MoneyChanged) and event.source == "reward"]
    assert won
    assert all(event.change > 0 for event in won)
    bought = [event for event in game.events if isinstance(event, ItemChanged) and event.source == "shop"]
    paid = [event for event in game.events if isinstance(event, MoneyChanged) and event.source == "shop"]
    assert len(paid) == len(bought)


def test_every_wild_battle_was_an_encounter(game: Game) -> None:
    wild = [event for event in game.events if isinstance(event, BattleStarted) and event.kind == "wild"]
    assert [event.enemy_species for event in wild] == [
        event.species for event in game.events if isinstance(event, Encounter)
    ]


def test_money_and_bag_are_the_sum_of_what_was_told(game: Game) -> None:
    first = next(state for state in game.states if state.map_id is not None)
    last = game.states[-1]
    assert first.money is not None
    change = sum(event.change for event in game.events if isinstance(event, MoneyChanged))
    assert last.money == first.money + change
    bag: Counter[str | None] = Counter()
    for event in game.events:
        if isinstance(event, ItemChanged):
            bag[event.item] += event.quantity if event.action == "add" else -event.quantity
    assert +bag == Counter({item.name: item.quantity for item in last.inventory or ()})


def test_everybody_in_the_party_joined_and_was_caught_or_given(game: Game) -> None:
    last = game.states[-1]
    joined = [event.species for event in game.events if isinstance(event, Joined)]
    caught = [event.species for event in game.events if isinstance(event, Caught) and event.in_party]
    assert joined == [member.species for member in last.party or ()]
    assert joined[1:] == caught
    assert last.owned == len(set(joined))
    assert (last.caught, len(joined)) == (len(caught), len(caught) + 1)  # the first was given


def test_the_way_is_told_map_by_map(game: Game) -> None:
    place = next(state.map_id for state in game.states if state.map_id is not None)
    for event in game.events:
        if isinstance(event, MapChanged):
            assert event.from_map == place
            place = event.to_map
    assert place == game.states[-1].map_id


def test_every_kind_of_screen_but_the_pause_was_seen(game: Game) -> None:
    assert {state.screen_type for state in game.states} == {"overworld", "battle", "dialog", "menu", "map_change"}


def test_nothing_the_game_shows_lacks_a_name(game: Game) -> None:
    for state in game.states:
        assert (state.location is None) == (state.map_id is None)
        assert all(item.name for item in state.inventory or ())
        for member in state.party or ():
            assert member.species
            assert member.nickname
            assert all(move.name for move in member.moves)


def test_the_start_menu_is_a_pause(game: Game) -> None:
    world = made()
    walking = next(tick for tick, state in enumerate(game.states) if state.screen_type == "overworld")
    for command in [*game.commands[: walking + 1], 0, 0, 3, 0]:
        world.step(command)
    assert world.state(None).screen_type == "pause"
    world.close()


def test_a_battle_goes_on_exactly_in_a_new_world(game: Game) -> None:
    world = made()
    world.load(game.saved)
    assert world.state(None) == game.states[game.battle]
    for tick in range(game.battle + 1, game.battle + 40):
        world.step(game.commands[tick])
        assert world.state_hash(None, 0.0, False, False) == game.hashes[tick]
        assert world.state(None) == game.states[tick]
    world.close()


def test_the_same_presses_give_the_same_game(game: Game) -> None:
    world = made()
    hashes = []
    for command in game.commands[:300]:
        world.step(world.decode(world.encode(command)))
        hashes.append(world.state_hash(None, 0.0, False, False))
    assert hashes == game.hashes[:300]
    world.close()
