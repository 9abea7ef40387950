"""What is said on the control socket of a live run: one JSON line per request, and per answer."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ptp.records import Record
from ptp.snapshots import SnapshotHeader

Text = Annotated[str, Meta(max_length=2000)]


class _Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="verb"):
    """The form of every request."""


class Status(_Request, frozen=True, tag="status"):
    """What is the status of the run?"""


class Pause(_Request, frozen=True, tag="pause"):
    """Pause the run."""


class Resume(_Request, frozen=True, tag="resume"):
    """Let a paused run continue."""


class Step(_Request, frozen=True, tag="step"):
    """Play some ticks, then pause the run."""

    ticks: Annotated[int, Meta(ge=1, le=1_000_000_000)] = 1


class TakeSnapshot(_Request, frozen=True, tag="snapshot"):
    """Take a snapshot now."""

    name: Text | None = None
    message: Text | None = None


class ListSnapshots(_Request, frozen=True, tag="snapshots"):
    """Which snapshots are there, in memory and on disk?"""


class Restore(_Request, frozen=True, tag="restore"):
    """Go back to a snapshot."""

    snapshot: Text


class Rewind(_Request, frozen=True, tag="rewind"):
    """Go back some ticks, or to a tick."""

    ticks: Annotated[int, Meta(ge=1, le=1_000_000_000)] = 1
    to_tick: Annotated[int, Meta(ge=0, le=1_000_000_000_000)] | None = None


class Rollback(_Request, frozen=True, tag="rollback"):
    """Go back some snapshots in memory."""

    count: Annotated[int, Meta(ge=1, le=1_000_000)] = 1


class Change(_Request, frozen=True, tag="set"):
    """Change settings, given as flags and texts."""

    flags: dict[Text, Text]


class Label(_Request, frozen=True, tag="label"):
    """Change name, notes and tags; an empty name or note removes it."""

    name: Text | UnsetType = UNSET
    notes: Text | UnsetType = UNSET
    add: list[Text] = []
    remove: list[Text] = []


class End(_Request, frozen=True, tag="stop"):
    """End the run as Ctrl-C would."""


class Watch(_Request, frozen=True, tag="watch"):
    """Send line after line of what happens."""


class Picture(_Request, frozen=True, tag="picture"):
    """Send the picture of a tick, or of the newest before it, that is in memory."""

    tick: int


Request = (
    Status | Pause | Resume | Step | TakeSnapshot | ListSnapshots | Restore | Rollback | Rewind | Change | Label | End
    | Watch | Picture
)  # fmt: skip


class Now(msgspec.Struct, frozen=True, gc=False):
    """The status of a live run."""

    at: float
    """Seconds since 1970."""
    tick: int
    """The newest tick."""
    episode: int
    """The episode it is in."""
    paused: bool
    """Whether the run is paused."""
    reward: float
    """The sum of all rewards."""
    cost: float
    """Dollars spent on decisions."""
    elapsed: float
    """Seconds of play."""
    target: float
    """Ticks per second to keep; 0 is as fast as possible."""
    context: str
    """The kind of situation, in the world's words."""
    queued: int
    """Commands that wait to be applied."""


class Frame(msgspec.Struct, frozen=True):
    """A picture as it is sent."""

    tick: int
    """The tick it shows."""
    format: Literal["png", "text"]
    """How the picture is written."""
    data: str
    """A PNG file as base64, or the text itself."""


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a request came to."""

    error: str | None = None
    """Why it could not be met."""
    now: Now | None = None
    """The status of the run after it."""
    snapshot: SnapshotHeader | None = None
    snapshots: list[SnapshotHeader] | None = None
    frame: Frame | None = None


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a watcher is sent at once."""

    now: Now
    records: list[Record] = []
    lost: int = 0
    """Records that were dropped because the watcher is too slow."""
    state: Any = msgspec.UNSET
    """The world's state, when it is another than in the line before."""
    frame: Frame | None = None


read_request = msgspec.json.Decoder(Request).decode
read_answer = msgspec.json.Decoder(Answer).decode
read_line = msgspec.json.Decoder(Line).decode
write = msgspec.json.Encoder().encode
