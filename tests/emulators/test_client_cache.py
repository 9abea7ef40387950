"""The state cache never gives a stale answer."""

from __future__ import annotations

from ptp.emulators import StateCache
from ptp.testing import ManualClock


def test_a_state_is_held_until_it_is_too_old() -> None:
    clock = ManualClock()
    cache: StateCache[str] = StateCache(2.0, clock)
    cache.put("here", cache.generation)
    clock.turn(2.0)
    assert cache.get() == "here"
    clock.turn(0.1)
    assert cache.get() is None
    assert (cache.hits, cache.misses) == (1, 1)


def test_an_input_clears_the_state() -> None:
    cache: StateCache[str] = StateCache()
    cache.put("here", cache.generation)
    cache.clear()
    assert cache.get() is None


def test_an_answer_that_comes_after_the_next_input_is_not_held() -> None:
    cache: StateCache[str] = StateCache()
    asked = cache.clear()
    newer = cache.clear()
    cache.put("stale", asked)
    assert cache.get() is None
    cache.put("fresh", newer)
    assert cache.get() == "fresh"
