"""How the pictures of each kind of world are kept; `storage_profiles.yaml` says what each knob means."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from ptp._util.yaml import parse_yaml
from ptp.config.tree import Screenshot
from ptp.errors import ConfigError, UnknownName
from ptp.frames.pictures import Format

GIGABYTE = 1_000_000_000
Tier = Literal["files", "archive", "stream", "none"]
RollUp = Literal["none", "compress", "parquet"]
Natural = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1)]


class StorageProfile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One way to keep pictures."""

    tier: Tier
    pictures: Literal["all", "text"] = "all"
    format: Format = "jpeg"
    background: bool = False
    ring_frames: Natural = 512
    ring_every_n_ticks: Natural = 0
    keep_every_n_frames: Positive = 1
    store_reward_spikes_only: bool = False
    snapshot_deduplication: bool = True
    segment_frames: Positive = 256
    max_frames_per_archive: Positive = 100_000
    max_episodes_per_archive: Positive = 5_000
    preview_bytes: Natural = 500_000_000
    max_record_bytes: Positive = 2_000_000_000
    max_sessions: Positive | None = None
    max_picture_days: Positive | None = None
    episode_rollup_policy: RollUp = "none"

    def quota(self, config: Screenshot) -> int:
        """Return the bytes that the pictures of a run may take."""
        quota = int(config.max_storage * GIGABYTE)
        return min(quota, self.preview_bytes) if self.tier == "stream" else quota


def read_profiles(text: str, where: str) -> dict[str, StorageProfile]:
    """Return the profiles of a YAML text; a mistake is told with its place."""
    tree = parse_yaml(text, where)
    if not isinstance(tree, dict) or not tree:
        raise ConfigError(f"{where}: expected storage profiles by name, such as `box2d: {{tier: files}}`")
    known = StorageProfile.__struct_fields__
    profiles = {}
    for name, knobs in tree.items():
        for knob in knobs if isinstance(knobs, dict) else ():
            if knob not in known:
                raise ConfigError(f"{where}: {name}: {UnknownName('knob', str(knob), list(known))}")
        try:
            profiles[str(name)] = msgspec.convert(knobs, StorageProfile)
        except msgspec.ValidationError as problem:
            raise ConfigError(f"{where}: {name}: {problem}") from None
    return profiles


@cache
def built_in_profiles() -> dict[str, StorageProfile]:
    """Return the profiles that ptp brings along."""
    name = "storage_profiles.yaml"
    return read_profiles((files("ptp.frames") / name).read_text(encoding="utf-8"), name)


def all_profiles(file: Path | None = None) -> dict[str, StorageProfile]:
    """Return the profiles that ptp brings along, and those in *file*, which come first."""
    profiles = dict(built_in_profiles())
    if file is not None:
        try:
            profiles |= read_profiles(file.read_text(encoding="utf-8"), str(file))
        except OSError as problem:
            raise ConfigError(f"{file}: {problem.strerror}; name a file that can be read") from None
    return profiles


def find_profile(name: str, file: Path | None = None) -> StorageProfile:
    """Return the profile of that name; those in *file* come before the ones that ptp brings along."""
    profiles = all_profiles(file)
    if name not in profiles:
        raise UnknownName("storage profile", name, list(profiles))
    return profiles[name]
