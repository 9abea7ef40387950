"""What is told of a picture, and the tables it goes to."""

from __future__ import annotations

import msgspec

from ptp.recording.rows import TIMESTAMP


class FrameKept(msgspec.Struct, frozen=True, gc=False):
    """A picture was kept; a tick has one at most."""

    tick: int
    at: float
    screen_type: str | None
    path: str
    """Relative to the run directory."""
    size: int
    annotations: str | None
    """JSON: text, sprites and menus that were found, each with its box."""
    metadata: str
    """JSON: resolution, compression, quality, hash and trigger."""


class FrameReferred(msgspec.Struct, frozen=True, gc=False):
    """The picture of a step."""

    tick: int
    path: str


class FrameShrunk(msgspec.Struct, frozen=True, gc=False):
    """An old picture takes less space now."""

    path: str
    size: int


class FrameRemoved(msgspec.Struct, frozen=True, gc=False):
    """A picture made room for that of a newer tick."""

    path: str
    tick: int


class FrameForgotten(msgspec.Struct, frozen=True, gc=False):
    """The steps that referred to a removed picture refer to none now; told together with `FrameRemoved`."""

    path: str
    tick: int


_GIVEN = "SELECT value->>0 AS path, value->>1 AS number FROM json_each(?)"


def frame_statements(run_id: str) -> dict[type[msgspec.Struct], str]:
    """Return the statement for each kind of record, as `ptp.recording.rows` has them for its own.

    A picture's id comes from its tick, so that a tick played again after a rollback replaces its picture.
    """
    return {
        FrameKept: (
            "INSERT OR REPLACE INTO screenshots (screenshot_id, run_id, timestamp, tick, screen_type, file_path, "
            "file_size_bytes, annotations, metadata) "
            f"SELECT printf('{run_id[:24]}%012x', value->>0), '{run_id}', {TIMESTAMP.format('value->>1')}, "
            "value->>0, value->>2, value->>3, value->>4, value->>5, value->>6 FROM json_each(?)"
        ),
        FrameReferred: "UPDATE steps SET frame_ref = value->>1 FROM json_each(?) WHERE tick = value->>0",
        FrameForgotten: (
            "UPDATE steps SET frame_ref = NULL FROM (SELECT screenshots.tick AS tick FROM "
            f"({_GIVEN}) AS given JOIN screenshots ON file_path = given.path AND screenshots.tick < given.number) "
            "AS gone WHERE steps.tick = gone.tick"
        ),
        FrameShrunk: (
            f"UPDATE screenshots SET file_size_bytes = given.number FROM ({_GIVEN}) AS given "
            "WHERE file_path = given.path"
        ),
        FrameRemoved: (
            f"UPDATE screenshots SET file_path = NULL, file_size_bytes = 0 FROM ({_GIVEN}) AS given "
            "WHERE file_path = given.path AND tick < given.number"
        ),
    }
