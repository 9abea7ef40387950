"""Which emulator does the next work."""

from __future__ import annotations

from collections import Counter

import pytest
from msgspec import Struct

from ptp.emulators.choice import make_choice
from ptp.emulators.health import Level
from ptp.errors import ConfigError


class Some(Struct):
    name: str
    level: Level = "healthy"
    busy_seconds: float = 0.0
    speed: float | None = None


def test_round_robin_takes_one_after_the_other() -> None:
    choose, some = make_choice("round-robin"), [Some("c"), Some("a"), Some("b")]
    assert "".join(some[choose(some)].name for _ in range(7)) == "abcabca"
    assert some[choose([some[0], some[1]])].name == "c"


def test_least_busy_takes_the_one_that_has_worked_least() -> None:
    choose = make_choice("least-busy")
    assert (
        choose([Some("a", busy_seconds=3), Some("b", busy_seconds=1, level="degraded"), Some("c", busy_seconds=2)]) == 1
    )


def test_weighted_takes_each_as_often_as_it_is_fast() -> None:
    choose, some = make_choice("weighted"), [Some("a", speed=100), Some("b", speed=300), Some("c", speed=200)]
    assert Counter(some[choose(some)].name for _ in range(60)) == {"a": 10, "b": 30, "c": 20}
    assert choose([*some, Some("new")]) == 3


def test_health_aware_takes_a_degraded_one_only_if_there_is_no_other() -> None:
    choose = make_choice("health-aware")
    weak, fit, busy = Some("a", "degraded"), Some("b", busy_seconds=5), Some("c", busy_seconds=9)
    assert [weak, busy, fit][choose([weak, busy, fit])].name == "b"
    assert choose([weak]) == 0


def test_an_unknown_choice_is_named_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match="no choice named 'random'; choose one of: round-robin, least-busy"):
        make_choice("random")
