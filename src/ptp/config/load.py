"""Where settings come from: defaults < config file < experiment file < PTP_* < flags."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from ptp.config.setting import Setting
from ptp.config.tree import BY_FLAG, EXPERIMENT_SETTINGS, SETTINGS, RunConfig, Values, build, merge


def load_config(
    flags: Values | None = None,
    config_file: str | None = None,
    experiment_file: str | None = None,
    environ: Mapping[str, str] = os.environ,
) -> RunConfig:
    """Merge every source of settings into one checked RunConfig."""
    flags = flags or {}
    files = [_file_values(file, flags) for file in (config_file, experiment_file) if file is not None]
    variables = environment_values(environ)
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


def environment_values(environ: Mapping[str, str], settings: Sequence[Setting] = SETTINGS) -> Values:
    """Return the settings that PTP_* variables give; an empty variable gives none."""
    return {item: item.parse(environ[item.env], item.env) for item in settings if environ.get(item.env)}
