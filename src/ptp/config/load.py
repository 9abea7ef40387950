"""Where settings come from: defaults < config file < experiment file < PTP_* < flags; and changes while a run plays."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ptp.config.tree import BY_FLAG, BY_PATH, EXPERIMENT_SETTINGS, SETTINGS, RunConfig, Values, build, merge, values_of
from ptp.errors import ConfigError, UnknownName

CHANGEABLE = ("tick_rate", "command", "limits")
"""Sections of settings that a live run can change."""


def load_config(
    flags: Values | None = None,
    config_file: str | None = None,
    experiment_file: str | None = None,
    environ: Mapping[str, str] = os.environ,
) -> RunConfig:
    """Merge every source of settings into one checked RunConfig; an empty variable gives none."""
    flags = flags or {}
    files = [_file_values(file, flags) for file in (config_file, experiment_file) if file is not None]
    variables = {item: item.parse(environ[item.env], item.env) for item in SETTINGS if environ.get(item.env)}
    return build(merge(*files, variables, flags), {*variables, *flags})


def _file_values(file: str, flags: Values) -> Values:
    from pathlib import Path  # here, so that a start without files does not pay for it

    from ptp.config.files import read_values, say_on_stderr

    say = (lambda _: None) if flags.get(BY_FLAG["--quiet"]) else say_on_stderr
    values = read_values(Path(file), say)
    for item in EXPERIMENT_SETTINGS:
        if values.get(item, item.default) != item.default:
            say(f"{file}: {item.path} is for `ptp experiment run`; a single run ignores it")
    return values


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
