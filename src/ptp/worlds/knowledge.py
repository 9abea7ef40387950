"""What readers and the recorder need to know of a family of worlds without making one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ptp.records import Event


class Row(msgspec.Struct, frozen=True):
    """A statement for one of the tables of a game."""

    sql: str
    values: tuple[object, ...]


class Knowledge:
    """The defaults for any world."""

    turn_kinds: frozenset[str] = frozenset()
    tables_by_tick: Sequence[str] = ()
    tables_by_id: Mapping[str, str] = {}

    def snapshot_event(self, kind: str, detail: Any) -> tuple[str, str] | None:
        """Return which event snapshots can be asked for, and the name of one."""
        return None

    def rows(self, run_id: str, event: Event) -> list[Row]:
        """Return what an event adds to the tables of the game."""
        return []

    def rewound(self, run_id: str, to_tick: int) -> list[Row]:
        """Return what to do to the tables of the game after the run went back."""
        return []


def knowledge_of(family: str) -> Knowledge:
    """Return what is known of a family."""
    return Knowledge()
