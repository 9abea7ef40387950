"""Settings that change while a run plays."""

from __future__ import annotations

import pytest

from ptp.config import RunConfig, changed, differences
from ptp.config.tree import BY_FLAG, build
from ptp.errors import ConfigError, UnknownName


def test_changed_settings_are_known_by_path_and_value() -> None:
    before = build({BY_FLAG["--max-ticks"]: 100, BY_FLAG["--world"]: "Taxi-v4"})
    after = changed(before, {"--max-ticks": "500", "--on-limit": "abort", "--tick-rate-base": "10"})
    assert differences(before, after) == {"limits.max_ticks": 500, "limits.on_limit": "abort"}
    assert after.given == {"limits.max_ticks", "world.name", "limits.on_limit", "tick_rate.normal"}
    assert before.limits.max_ticks == 100


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"--max-ticks": "5", "--world": "Taxi-v4"}, "--world can't be changed while the run plays; fork"),
        ({"--max-ticks": "5", "--agent-option": "a=1"}, "--agent-option can't be changed"),
        ({"--max-ticks": "5", "--parallel-workers": "2"}, "--parallel-workers can't be changed"),
        ({"--max-ticks": "many"}, "'many' is not allowed"),
        ({"--tick-rate-budget": "hourly"}, "belong together"),
    ],
)
def test_what_cant_be_changed_is_refused(flags: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        changed(RunConfig(), flags)


def test_an_unknown_flag_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean '--max-ticks'"):
        changed(RunConfig(), {"--max-tick": "5"})
