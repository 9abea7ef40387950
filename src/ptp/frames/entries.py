"""What is told of a picture, and the tables it goes to."""

from __future__ import annotations

import msgspec

from ptp.recording.rows import TIMESTAMP, Statement


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


class ArchiveForgotten(msgspec.Struct, frozen=True, gc=False):
    """The steps that referred into a removed archive refer to nothing now; told together with `ArchiveRemoved`."""

    path: str


class ArchiveRemoved(msgspec.Struct, frozen=True, gc=False):
    """An archive made room for newer pictures."""

    path: str


IN_ARCHIVE = "file_path > ?1 || '#' AND file_path < ?1 || '$'"  # the sign after # ends the paths that begin with it


def frame_statements(run_id: str) -> dict[type[msgspec.Struct], Statement]:
    """Return the statement for each kind of record, as `ptp.recording.rows` has them for its own.

    A picture's id comes from its tick, so that a tick played again after a rollback replaces its picture.
    """
    return {
        FrameKept: Statement(
            "INSERT OR REPLACE INTO screenshots (screenshot_id, run_id, timestamp, tick, screen_type, file_path, "
            "file_size_bytes, annotations, metadata) "
            f"VALUES (printf('{run_id[:24]}%012x', ?1), '{run_id}', {TIMESTAMP.format('?2')}, ?1, ?3, ?4, ?5, ?6, ?7)"
        ),
        FrameReferred: Statement("UPDATE steps SET frame_ref = ?2 WHERE tick = ?1"),
        FrameForgotten: Statement(
            "UPDATE steps SET frame_ref = NULL "
            "WHERE tick IN (SELECT tick FROM screenshots WHERE file_path = ?1 AND tick < ?2)"
        ),
        ArchiveForgotten: Statement(
            f"UPDATE steps SET frame_ref = NULL WHERE tick IN (SELECT tick FROM screenshots WHERE {IN_ARCHIVE})"
        ),
        ArchiveRemoved: Statement(f"UPDATE screenshots SET file_path = NULL, file_size_bytes = 0 WHERE {IN_ARCHIVE}"),
        FrameShrunk: Statement("UPDATE screenshots SET file_size_bytes = ?2 WHERE file_path = ?1"),
        FrameRemoved: Statement(
            "UPDATE screenshots SET file_path = NULL, file_size_bytes = 0 WHERE file_path = ?1 AND tick < ?2"
        ),
    }
