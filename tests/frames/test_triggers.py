"""Which picture is due, and which reason counts when there are several."""

from __future__ import annotations

import pytest

from ptp.config.tree import Screenshot
from ptp.frames.triggers import Spikes, Trigger, Triggers
from ptp.records import Event, Notice, Record, Step

TURNS = frozenset({"BattleTurn"})


def step(tick: int, *, changed: bool = False, reward: float = 0.0, ended: bool = False) -> Step:
    return Step(tick, 1, tick, "0", reward, ended, False, 0.0, "hash", "{}" if changed else None)


def failure(tick: int) -> Notice:
    return Notice(0.0, tick, "error", "bad_command", "no such button")


def turn(tick: int) -> Event:
    return Event(0.0, tick, 0, "BattleTurn", "a turn", {})


def due(triggers: Triggers, *records: Record, battle: bool = False) -> Trigger | None:
    moment = triggers.read(records, battle)
    return None if moment is None else moment.trigger


def test_the_first_of_error_battle_change_and_interval_counts() -> None:
    def all_at_once(**without: object) -> Trigger | None:
        config = Screenshot(**{"interval": 1, "on_change": True, **without})  # type: ignore[arg-type]
        return due(Triggers(config, turns=TURNS), failure(1), step(1, changed=True), turn(1), battle=True)

    assert all_at_once() == Trigger.ERROR
    assert all_at_once(on_error=0) == Trigger.BATTLE
    assert all_at_once(on_error=0, battle_turn=0) == Trigger.STATE_CHANGE
    assert all_at_once(on_error=0, battle_turn=0, on_change=False) == Trigger.INTERVAL
    assert all_at_once(on_error=0, battle_turn=0, on_change=False, interval=2) is None


def test_a_battle_has_a_picture_per_turn() -> None:
    triggers = Triggers(Screenshot(), turns=TURNS)
    seen = [
        due(triggers, step(1)),
        due(triggers, step(2), battle=True),
        due(triggers, step(3), battle=True),
        due(triggers, step(4), turn(4), battle=True),
        due(triggers, step(5), battle=True),
        due(triggers, step(6)),
        due(triggers, step(7), battle=True),
    ]
    battle = Trigger.BATTLE
    assert seen == [None, battle, None, battle, None, None, battle]


@pytest.mark.parametrize("pictures", [0, 1, 3])
def test_a_turn_has_as_many_pictures_as_asked_for(pictures: int) -> None:
    triggers = Triggers(Screenshot(battle_turn=pictures), turns=TURNS)
    seen = [due(triggers, step(tick), battle=True) for tick in range(1, 10)]
    assert seen.count(Trigger.BATTLE) == pictures


@pytest.mark.parametrize("pictures", [0, 1, 3])
def test_an_error_has_as_many_pictures_as_asked_for(pictures: int) -> None:
    triggers = Triggers(Screenshot(on_error=pictures))
    seen = [due(triggers, failure(1), step(1)), *(due(triggers, step(tick)) for tick in range(2, 10))]
    assert seen == [Trigger.ERROR] * pictures + [None] * (9 - pictures)


def test_an_error_without_a_step_has_a_picture_of_the_tick_it_happened_at() -> None:
    moment = Triggers(Screenshot()).read([failure(7)], False)
    assert moment is not None
    assert (moment.tick, moment.step, moment.trigger) == (7, None, Trigger.ERROR)


def test_a_tick_in_which_nothing_was_played_has_no_picture() -> None:
    assert Triggers(Screenshot(interval=1)).read([], False) is None
    assert Triggers(Screenshot(interval=1)).read([Notice(0.0, 1, "warning", "x", "x")], True) is None


def test_only_one_in_n_of_the_interval_pictures_can_be_kept() -> None:
    triggers = Triggers(Screenshot(interval=10), keep_every=3)
    assert [tick for tick in range(1, 100) if due(triggers, step(tick))] == [30, 60, 90]


def test_spikes_only_keeps_the_first_the_last_and_what_is_unusual() -> None:
    triggers = Triggers(Screenshot(interval=1), spikes_only=True)
    rewards = {tick: (50.0 if tick == 70 else float(tick % 2)) for tick in range(1, 101)}
    seen = [t for t, reward in rewards.items() if due(triggers, step(t, reward=reward, ended=t == 100))]
    assert seen == [1, 70, 100]


def test_a_few_rewards_are_not_enough_to_call_one_unusual() -> None:
    spikes = Spikes()
    assert not any(spikes.feed(reward) for reward in (0, 0, 0, 1000, 0))
