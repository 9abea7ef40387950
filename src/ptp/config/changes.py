"""Settings that change while a run plays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ptp.config.tree import BY_FLAG, BY_PATH, RunConfig, build, values_of
from ptp.errors import ConfigError, UnknownName

CHANGEABLE = ("tick_rate", "command", "limits")


def changed(config: RunConfig, flags: Mapping[str, str]) -> RunConfig:
    """Return the config with the settings that flags name, once all of them are known to be allowed."""
    for flag in flags:
        if flag not in BY_FLAG:
            raise UnknownName("flag", flag, list(BY_FLAG))
        if BY_FLAG[flag].section not in CHANGEABLE:
            raise ConfigError(f"{flag} can't be changed while the run plays; fork the run to change it")
    values = {BY_FLAG[flag]: BY_FLAG[flag].parse(str(text), flag) for flag, text in flags.items()}
    return build(values_of(config) | values, [*values, *(BY_PATH[path] for path in config.given)])


def differences(old: RunConfig, new: RunConfig) -> dict[str, Any]:
    """Return the settings that differ, by path, with their new values."""
    before = values_of(old)
    return {item.path: value for item, value in values_of(new).items() if value != before[item]}
