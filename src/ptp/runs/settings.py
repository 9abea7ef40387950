"""The settings of a run as they are now: as recorded, with what was changed while it played."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from ptp._util.files import check_regular
from ptp.config.files import read_values
from ptp.config.tree import BY_FLAG, BY_PATH, RunConfig, Values, build, values_of
from ptp.errors import RunUnreadable, UnknownName
from ptp.recording.database import Database
from ptp.recording.directory import MOST_TEXT, RunDirectory
from ptp.records import ConfigChanged
from ptp.runs.tables import read


def find_config(directory: RunDirectory, database: Database) -> RunConfig | None:
    """Return a run's settings; None where an older run kept none."""
    path = directory.path / "config.yaml"
    try:
        check_regular(path, MOST_TEXT)
        values = dict(_recorded(path, path.stat().st_mtime_ns))
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise RunUnreadable(f"{path} can't be read: {problem.strerror}; restore it from a copy") from None
    for change in read(database, ConfigChanged):
        for name, value in change.settings.items():
            values[BY_PATH[name]] = BY_PATH[name].check(value, f"{name} at tick {change.tick}")
    return build(values)


def read_config(directory: RunDirectory) -> RunConfig:
    """Return a run's settings, or say that it has none."""
    with Database(directory.database) as database:
        config = find_config(directory, database)
    if config is None:
        raise RunUnreadable(f"run {directory.run_id} has no config.yaml; its settings are not known")
    return config


def change(config: RunConfig, changes: dict[str, object]) -> RunConfig:
    """Return settings with some changed; they are named as flags of `ptp run`, with _ for -."""
    return build(values_of(config) | check_values(changes))


def check_values(changes: Mapping[str, object]) -> Values:
    """Return settings by name: that of their flag, with _ for -."""
    values: Values = {}
    for name, value in changes.items():
        item = BY_FLAG.get(f"--{name.replace('_', '-')}")
        if item is None:
            raise UnknownName("setting", name, [flag[2:].replace("-", "_") for flag in BY_FLAG])
        values[item] = item.check(value, name)
    return values


@lru_cache(maxsize=1_000)
def _recorded(path: Path, changed: int) -> Values:
    """Read a file of settings; one that was written anew has *changed* at another moment."""
    return read_values(path, tell=lambda note: None)
