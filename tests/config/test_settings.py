"""One setting: types, bounds, and the words of its errors."""

from __future__ import annotations

from typing import Any

import pytest

from ptp.config.tree import ALL_SETTINGS, BY_FLAG, SETTINGS, SIGNAL_LIMITS, RunConfig, as_tree, build
from ptp.errors import ConfigError

# Every flag of the reference in the specification: type, default.
SPECIFIED: dict[str, tuple[type, Any]] = {
    "--tick-rate-base": (int, 10),
    "--tick-rate-battle": (int, 2),
    "--tick-rate-timeout": (int, 30),
    "--tick-rate-adaptive": (bool, False),
    "--tick-rate-budget": (str, None),
    "--tick-rate-budget-limit": (float, None),
    "--screenshot-interval": (int, 100),
    "--screenshot-battle-turn": (int, 1),
    "--screenshot-on-error": (int, 1),
    "--screenshot-on-change": (bool, False),
    "--screenshot-quality": (int, 85),
    "--screenshot-max-storage": (float, 50.0),
    "--screenshot-async": (bool, False),
    "--screenshot-compress": (bool, False),
    "--command-buffer-size": (int, 10),
    "--command-timeout": (int, 5),
    "--command-validate": (bool, False),
    "--command-rollback-history": (int, 100),
    "--command-interrupt-battle": (bool, True),
    "--command-stale-threshold": (int, 2),
    "--max-time": (int, None),
    "--max-ticks": (int, None),
    "--max-cost": (float, None),
    "--max-pokemon-caught": (int, None),
    "--max-badges": (int, None),
    "--max-level": (int, None),
    "--on-limit": (str, "save-and-exit"),
    "--limit-grace-period": (int, 30),
    "--snapshot-memory": (int, 10),
    "--snapshot-disk": (int, 1000),
    "--snapshot-on-event": (tuple, ()),
    "--snapshot-max-disk": (float, 20.0),
    "--snapshot-compress": (bool, False),
    "--snapshot-validate": (bool, False),
    "--rollback-on-error": (bool, False),
    "--rollback-grace": (int, 3),
    "--snapshot-share": (bool, False),
    "--snapshot-name": (str, None),
    "--experiment-name": (str, "default"),
    "--parallel-workers": (int, 1),
    "--sequential-retry": (int, 3),
    "--parallel-memory-limit": (float, 8.0),
    "--parallel-api-rate-limit": (int, 100),
    "--aggregate-stats": (bool, False),
    "--fail-mode": (str, "continue"),
    "--checkpoint-frequency": (int, 10000),
    "--resume-from": (str, None),
    "--export-results": (bool, False),
    "--results-format": (str, "json"),
    "--verbose": (bool, False),
    "--quiet": (bool, False),
    "--log-file": (str, None),
    "--random-seed": (int, None),
}


@pytest.mark.parametrize(("flag", "kind", "default"), [(flag, *facts) for flag, facts in SPECIFIED.items()])
def test_a_specified_flag_has_its_type_and_default(flag: str, kind: type, default: Any) -> None:
    item = BY_FLAG[flag]
    assert item.type is kind
    assert item.default == default


def test_no_two_settings_share_a_flag_a_place_or_a_variable() -> None:
    for names in ([s.flag for s in ALL_SETTINGS], [s.path for s in ALL_SETTINGS], [s.env for s in ALL_SETTINGS]):
        assert len(set(names)) == len(names)


def test_every_default_is_itself_allowed() -> None:
    for item in ALL_SETTINGS:
        assert item.check(list(item.default) if item.type is tuple else item.default, item.flag) == item.default


@pytest.mark.parametrize(
    ("flag", "text", "value"),
    [
        ("--tick-rate-base", "15", 15),
        ("--tick-rate-budget-limit", "5", 5.0),
        ("--tick-rate-budget", "hourly", "hourly"),
        ("--tick-rate-adaptive", "Yes", True),
        ("--command-interrupt-battle", "False", False),
        ("--snapshot-on-event", "catch, badge", ("catch", "badge")),
        ("--snapshot-on-event", "catch,location:STONE GYM,level:10", ("catch", "location:STONE GYM", "level:10")),
        ("--max-time", "none", None),
        ("--experiment-name", "none at all", "none at all"),
        ("--agent-option", "alpha=0.1", {"alpha": 0.1}),
        ("--agent-option", "name=none", {"name": "none"}),
        ("--agent-option", "far=NaN", {"far": "NaN"}),
        ("--agent-option", "plan=[1, {}]", {"plan": [1, {}]}),
        ("--agent-option", "text=a=b", {"text": "a=b"}),
        ("--world-option", "map_name=8x8", {"map_name": "8x8"}),
        ("--world-option", '{"map_name": "8x8", "slow": true}', {"map_name": "8x8", "slow": True}),
    ],
)
def test_text_becomes_a_value(flag: str, text: str, value: Any) -> None:
    assert BY_FLAG[flag].parse(text, flag) == value


@pytest.mark.parametrize(
    ("flag", "text", "allowed"),
    [
        ("--tick-rate-base", "-1", "a whole number, 0 or more"),
        ("--tick-rate-base", "fast", "a whole number, 0 or more"),
        ("--tick-rate-base", "none", "a whole number, 0 or more"),
        ("--tick-rate-base", "1.5", "a whole number"),
        ("--screenshot-quality", "101", "a whole number from 0 to 100"),
        ("--on-limit", "explode", "save-and-exit, save-only, abort"),
        ("--snapshot-on-event", "catch,rain", "any of catch, battle, badge, death, or WORD:NAME"),
        ("--snapshot-on-event", "location:", "any of catch, battle, badge, death, or WORD:NAME"),
        ("--snapshot-on-event", ":GYM", "any of catch, battle, badge, death, or WORD:NAME"),
        ("--tick-rate-adaptive", "maybe", "true or false"),
        ("--max-cost", "free", "a number, 0 or more"),
        ("--agent-option", "alpha", "name=value"),
        ("--agent-option", "=3", "name=value"),
        ("--agent-option", "{alpha: 3}", "name=value"),
    ],
)
def test_a_bad_value_names_flag_value_and_what_is_allowed(flag: str, text: str, allowed: str) -> None:
    with pytest.raises(ConfigError) as error:
        BY_FLAG[flag].parse(text, flag)
    assert str(error.value).startswith(f"{flag}: ")
    assert text in str(error.value)
    assert allowed in str(error.value)


def test_true_is_not_a_number() -> None:
    with pytest.raises(ConfigError):
        BY_FLAG["--max-ticks"].check(True, "limits.max_ticks")


def test_limits_name_the_signals_that_they_watch() -> None:
    assert SIGNAL_LIMITS == {"max_pokemon_caught": "caught", "max_badges": "badges", "max_level": "level"}


def test_what_was_chosen_is_known_of_values_that_are_not_the_default() -> None:
    assert build({BY_FLAG["--max-ticks"]: 3, BY_FLAG["--frames-per-tick"]: 24}).given == {"limits.max_ticks"}
    item = BY_FLAG["--frames-per-tick"]
    assert build({item: 24}, [item]).given == {"world.frames_per_tick"}


def test_settings_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ConfigError, match="exclude each other"):
        build({BY_FLAG["--verbose"]: True, BY_FLAG["--quiet"]: True})
    with pytest.raises(ConfigError, match="belong together"):
        build({BY_FLAG["--tick-rate-budget"]: "hourly"})
    with pytest.raises(ConfigError, match="belong together"):
        build({BY_FLAG["--tick-rate-budget-limit"]: 1.0})


def test_the_tree_has_every_setting_in_its_section() -> None:
    tree = as_tree(RunConfig())
    assert tree["version"] == "3.0"
    assert tree["tick_rate"]["normal"] == 10
    assert tree["screenshot"]["async"] is False
    assert sum(len(section) for section in tree.values() if isinstance(section, dict)) == len(SETTINGS)
