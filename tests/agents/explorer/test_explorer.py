"""The explorer in the built-in game: from power-on to the badge, and on from any saved tick."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from ptp.agents import Decision, Observation, make_agent
from ptp.agents.explorer import ExplorerAgent
from ptp.agents.explorer.memory import Memory
from ptp.config.tree import Agent as AgentConfig
from ptp.errors import ConfigError
from ptp.records import WorldSpec
from ptp.worlds import find_world, make_world
from ptp.worlds.gameboy.commands import BUTTONS
from ptp.worlds.gameboy.events import BadgeEarned, Caught, GameEvent
from ptp.worlds.gameboy.state import GameState
from ptp.worlds.gameboy.world import GameBoyWorld
from tests.worlds.gameboy.roms import write_rom

MOST_TICKS = 20_000
SAVE_EVERY = 40
GOES_ON = 25


class Game(msgspec.Struct):
    """One play: what was decided in which state, what happened, and some saved moments."""

    decisions: list[Decision]
    states: list[GameState]
    events: list[GameEvent]
    saved: dict[int, tuple[bytes, str]]
    remembered: dict[int, bytes]


def made() -> GameBoyWorld:
    world = make_world(find_world("tallgrass"))
    assert isinstance(world, GameBoyWorld)
    world.reset(0)
    return world


def explorer(world: GameBoyWorld, seed: int) -> ExplorerAgent:
    agent = make_agent("explorer", world, AgentConfig(), seed)
    assert isinstance(agent, ExplorerAgent)
    return agent


def decide(agent: ExplorerAgent, world: GameBoyWorld, tick: int) -> Decision:
    decision = agent.decide(Observation(None, world.state(None), tick, 1, tick))
    world.step(decision.commands[0])
    return decision


@pytest.fixture(scope="module")
def game() -> Game:
    """Seed 7, until the badge."""
    world, game = made(), Game([], [], [], {}, {})
    agent = explorer(world, 7)
    while not world.signals().values.get("badges") and len(game.decisions) < MOST_TICKS:
        tick = len(game.decisions)
        if tick % SAVE_EVERY == 0:
            game.saved[tick] = (world.save(), json.dumps(agent.save()))
            game.remembered[tick] = msgspec.json.encode(agent.memory)
        game.states.append(world.state(None))
        game.decisions.append(decide(agent, world, tick))
        game.events += [event.detail for event in world.events]
    world.close()
    return game


def test_it_earns_the_badge_and_catches_two_species_from_power_on(game: Game) -> None:
    assert [event.name for event in game.events if isinstance(event, BadgeEarned)] == ["SLATE"]
    assert len({event.species for event in game.events if isinstance(event, Caught)}) >= 2
    assert len(game.decisions) < MOST_TICKS


def test_every_decision_is_one_press_with_a_kind_and_a_reason(game: Game) -> None:
    kinds = Counter(decision.type for decision in game.decisions)
    assert {"NAVIGATION_MOVE", "BATTLE_MOVE", "ITEM_USE", "DIALOG", "MENU"} <= set(kinds)
    for decision in game.decisions:
        assert len(decision.commands) == 1
        assert decision.reasoning
        assert decision.confidence is None or 0 <= decision.confidence <= 1


def test_balls_are_thrown_only_at_species_it_does_not_own(game: Game) -> None:
    thrown = [
        (state.battle.enemy.species, {member.species for member in state.party})
        for state, decision in zip(game.states, game.decisions, strict=True)
        if "throw" in (decision.reasoning or "") and state.party and state.battle and state.battle.enemy
    ]
    assert thrown
    assert all(species not in owned for species, owned in thrown)


def test_it_rests_when_low_and_comes_back_whole(game: Game) -> None:
    rests = [number for number, decision in enumerate(game.decisions) if "needs rest" in (decision.reasoning or "")]
    leads = [state.party[0] if state.party else None for state in game.states]
    whole = [number for number, lead in enumerate(leads) if lead is not None and lead.hp == lead.max_hp]
    assert rests
    assert max(whole) > min(rests)


def test_it_does_not_walk_into_the_same_wall_twice(game: Game) -> None:
    bumps: Counter[tuple[object, ...]] = Counter()
    pairs = zip(game.states, game.states[1:], game.decisions, strict=False)
    for before, after, decision in pairs:
        button = BUTTONS[decision.commands[0]]
        walked = decision.type == "NAVIGATION_MOVE" and button != "none"
        stayed = before.coordinates == after.coordinates and before.facing == after.facing == button
        if walked and stayed and after.screen_type == "overworld" and not after.input_blocked:
            bumps[before.map_id, before.coordinates, decision.commands[0]] += 1
    assert max(bumps.values(), default=0) <= 1


def test_it_goes_on_exactly_from_any_saved_tick(game: Game) -> None:
    assert {"overworld", "battle", "dialog"} <= {game.states[tick].screen_type for tick in game.saved}
    world = made()
    for tick in game.saved:
        agent = resumed(game, tick, world)
        end = min(tick + GOES_ON, len(game.decisions))
        assert [decide(agent, world, number) for number in range(tick, end)] == game.decisions[tick:end]
    world.close()


def test_what_it_saves_is_everything_that_it_remembers(game: Game) -> None:
    for tick, whole in game.remembered.items():
        saved = json.loads(game.saved[tick][1])["memory"]
        assert msgspec.json.decode(saved, type=Memory) == msgspec.json.decode(whole, type=Memory)


def resumed(game: Game, tick: int, world: GameBoyWorld) -> ExplorerAgent:
    """Return a new explorer that takes over at a saved tick."""
    agent = explorer(world, seed=99)
    world.load(game.saved[tick][0])
    agent.load(json.loads(game.saved[tick][1]))
    return agent


def test_the_seed_decides() -> None:
    def commands(seed: int) -> list[tuple[object, ...]]:
        world = made()
        agent = explorer(world, seed)
        pressed = [decide(agent, world, tick).commands for tick in range(250)]
        world.close()
        return pressed

    first, again, other = (commands(seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_it_goes_to_who_healed_it_once_hp_are_low(game: Game) -> None:
    world = made()
    agent = resumed(game, max(game.saved), world)
    while world.state(None).screen_type != "overworld":
        decide(agent, world, 0)
    world.env.pyboy.memory[0xD16C], world.env.pyboy.memory[0xD16D] = 0, 1
    agent.memory.errand = None
    world.step(0)
    for tick in range(400):
        decide(agent, world, tick)
        party = world.state(None).party
        if party and party[0].hp == party[0].max_hp:
            break
    else:
        pytest.fail("it never rested")
    world.close()


def test_when_nothing_changes_it_presses_anything() -> None:
    world = made()
    agent = explorer(world, 1)
    state = world.state(None)
    kinds = [agent.decide(Observation(None, state, tick, 1, tick)).type for tick in range(40)]
    assert kinds[0] == "MENU"
    assert "RECOVERY" in kinds
    world.close()


def test_a_game_that_is_over_is_forgotten(game: Game) -> None:
    world = made()
    agent = explorer(world, 1)
    agent.load(json.loads(game.saved[max(game.saved)][1]))
    assert agent.memory.areas
    agent.on_episode_end(1, 0.0)
    assert not agent.memory.areas
    world.close()


def test_a_game_that_nobody_has_described_is_refused(tmp_path: Path) -> None:
    rom = str(write_rom(tmp_path))
    world = make_world(WorldSpec("mine", "ptp.worlds.gameboy.world:GameBoyWorld", {"rom": rom}))
    with pytest.raises(ConfigError, match=r"the explorer agent can't play 'mine'.*profile"):
        make_agent("explorer", world, AgentConfig(), 1)
    world.close()


def test_a_world_that_is_no_game_boy_is_refused() -> None:
    with pytest.raises(ConfigError, match="can't play 'FrozenLake-v1'"):
        make_agent("explorer", make_world(find_world("FrozenLake-v1")), AgentConfig(), 1)
