"""The explorer on a journey like the retail game's first hours, with the facts in memory where that game keeps them."""

from __future__ import annotations

import json

import pytest

from ptp.agents import AgentSetup
from ptp.agents.explorer import ExplorerAgent
from tests.agents.explorer.journey import BOULDER, CASCADE, FALLS, HALVES, LAKE, journey
from tests.agents.explorer.realm import Player, Realm, View

LIMIT = 2500


def has_both_badges(realm: Realm) -> bool:
    return {BOULDER, CASCADE} <= realm.events


@pytest.fixture(scope="module", params=[1, 2, 3])
def player(request: pytest.FixtureRequest) -> Player:
    """Play until the second badge."""
    player = Player(journey(), request.param)
    player.play(LIMIT, has_both_badges)
    return player


def test_it_is_led_delivers_the_parcel_and_beats_both_leaders(player: Player) -> None:
    assert has_both_badges(player.realm), f"{len(player.decisions)} ticks, and only {sorted(player.realm.events)}"


def test_it_asks_about_all_three_creatures_and_takes_the_type_that_does_best_against_all(player: Player) -> None:
    reasons = [decision.reasoning for decision in player.decisions]
    assert reasons.count("say no: first ask what else there is") == 3
    assert player.realm.chosen == "SQUIRTLE"


def test_it_reaches_the_far_half_of_a_road_through_the_wood(player: Player) -> None:
    rows = {place[1] for number, place in player.realm.visits if number == HALVES}
    assert {0, 9} <= rows
    assert not rows & {5}


def test_it_loses_to_a_leader_grows_stronger_and_fights_again(player: Player) -> None:
    assert player.realm.losses >= 2
    reasons = [decision.reasoning or "" for decision in player.decisions]
    lost = next(number for number, reason in enumerate(reasons) if "is wanted" in reason)
    assert any("a battle was lost here" in reason for reason in reasons[lost:])


def test_it_jumps_down_a_ledge_where_no_other_way_leads_on(player: Player) -> None:
    assert any("jump over" in (decision.reasoning or "") for decision in player.decisions)
    upper = [place for number, place in player.realm.visits if number == FALLS and place[1] <= 2]
    assert upper
    assert any(number == LAKE for number, _ in player.realm.visits)


def test_nothing_is_kept_of_a_map_that_is_being_changed(player: Player) -> None:
    for number, area in player.agent.memory.areas.items():
        width, height = player.realm.maps[number].size
        assert (area.width, area.height) == (width, height)
        drawn = player.realm.maps[number]
        assert all(drawn.at(*square) not in ("#", "v", None) for square in area.open)
        assert {exit_.place for exit_ in area.exits.values() if exit_.side is None} == set(drawn.warps)


def test_an_explorer_that_is_saved_and_loaded_on_the_way_goes_the_same_way() -> None:
    one, other = Player(journey(), 5), Player(journey(), 5)
    one.play(900)
    for _ in range(30):
        other.play(30)
        saved = json.loads(json.dumps(other.agent.save()))
        other.agent = ExplorerAgent(View(other.realm), AgentSetup(seed=99))
        other.agent.load(saved)
    assert [decision.commands for decision in one.decisions] == [decision.commands for decision in other.decisions]
    assert one.realm.visits == other.realm.visits
