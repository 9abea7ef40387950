"""The game can be finished, and the same buttons always give the same game."""

import hashlib
import itertools

from tests.cartridge.player import EVENTS, ITEMS, MAPS, Player
from tests.cartridge.story import Story, ram_of


def at_the_end(story: Story) -> Player:
    player = Player()
    player.load_state(story.states["end"])
    return player


def test_the_game_ends_with_a_badge_and_three_wild_species(story: Story) -> None:
    player = at_the_end(story)
    assert player.byte(0xD356) == 0b1
    assert len(player.owned - {1, 2, 3}) >= 3
    assert player.owned & {1, 2, 3} == {1}
    assert len(player.party()) >= 4
    assert player.party()[0]["level"] >= 9
    assert player.here[0] == MAPS["CAIRN PATH"]
    player.close()


def test_the_story_left_its_marks(story: Story) -> None:
    player = at_the_end(story)
    assert all(player.event(name) for name in set(EVENTS) - {"EVENT_MET_FRIEND", "EVENT_FOUND_WOOD_ITEM"})
    assert not player.event("EVENT_MET_FRIEND")
    assert player.bag()[ITEMS["BIG TONIC"]] == 3
    assert player.in_battle == 0
    player.close()


def test_money_changes_only_by_prices_rewards_and_black_outs(story: Story) -> None:
    start = story.money.index(3000)
    rewards, bills = {120, 140, 150, 240, 600}, {-4 * 150, -4 * 200}
    for before, after in itertools.pairwise(story.money[start:]):
        assert after - before in rewards | bills or after == before // 2


def test_every_tick_of_the_game_keeps_every_promise_of_memory(story: Story) -> None:
    assert story.broken == []


def test_it_takes_minutes_not_hours(story: Story) -> None:
    assert len(story.tape) < 2500


def test_the_same_buttons_give_the_same_memory(story: Story) -> None:
    player = Player()
    player.replay(story.tape)
    assert hashlib.sha256(ram_of(player)).digest() == hashlib.sha256(story.memory).digest()
    player.close()


def test_other_buttons_give_other_luck(story: Story) -> None:
    lucks = set()
    for button in ("b", "right", None):
        player = Player()
        player.press(None, frames=200)
        player.press(button)
        player.replay(story.tape[:20])
        lucks.add(tuple(player.memory[0xFFD3:0xFFD5]))
        player.close()
    assert len(lucks) == 3
