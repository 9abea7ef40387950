"""Where settings come from: defaults < config file < experiment file < PTP_* < flags."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ptp.config.tree import BY_ENV, BY_FLAG, RunConfig, Values, build


def load_config(
    flags: Values | None = None,
    config_file: str | None = None,
    experiment_file: str | None = None,
    environ: Mapping[str, str] = os.environ,
) -> RunConfig:
    """Merge every source of settings into one checked RunConfig."""
    values: Values = {}
    for file in (config_file, experiment_file):
        if file is not None:
            from pathlib import Path  # here, so that a start without files does not pay for it

            from ptp.config.files import read_values

            values |= read_values(Path(file), *([_say_nothing] if (flags or {}).get(BY_FLAG["--quiet"]) else []))
    values |= environment_values(environ)
    values |= flags or {}
    return build(values)


def _say_nothing(_: str) -> None:
    """Keep quiet about a file of an old version."""


def environment_values(environ: Mapping[str, str]) -> Values:
    """Return the settings that PTP_* variables give; an empty variable gives none."""
    return {item: item.parse(environ[name], name) for name, item in BY_ENV.items() if environ.get(name)}
