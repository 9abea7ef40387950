"""Which ticks a tape is made of, now or before a run went back: those that were given up can be had again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise, zip_longest
from typing import NamedTuple

from ptp.errors import RunUnreadable

Tape = list[tuple[int, int]]
"""Where a part begins (the tick before it), and how often the run had gone back when the part was played."""


class Piece(NamedTuple):
    """Ticks that were given up together."""

    rewind: int
    after: int
    last: int


class Branches:
    """The tapes that a run has had: one for each time that it went back, and the first."""

    def __init__(self, rewinds: Iterable[tuple[int, int, int | None]]) -> None:
        """Read how the run went back: number, tick, and the branch it went back to if not the one it was on."""
        self._tapes: dict[int, Tape] = {0: [(0, 0)]}
        self.now = 0
        """How often the run has gone back."""
        for number, to_tick, branch in rewinds:
            before = self._tape(number - 1 if branch is None else branch)
            self._tapes[number] = [*_cut(before, to_tick), (to_tick, number)]
            self.now = number

    def _tape(self, number: int) -> Tape:
        try:
            return self._tapes[number]
        except KeyError:
            raise RunUnreadable(f"the run's rewinds can't be followed: number {number} is missing") from None

    def shared(self, branch: int, tick: int) -> int:
        """Return the last tick, *tick* at most, up to which a branch is the tape of now."""
        for one, other in zip_longest(_cut(self._tape(branch), tick), _cut(self._tape(self.now), tick)):
            if one != other:
                return min(part[0] for part in (one, other) if part is not None)
        return tick

    def pieces(self, branch: int, tick: int) -> Iterator[Piece]:
        """Return where the ticks of a branch up to *tick* lie that are not on the tape of now."""
        shared = self.shared(branch, tick)
        if shared == tick:
            return
        for after, last, played in _parts(self._tape(branch), tick):
            for rewind in range(1, self.now + 1):
                for there, until, then in _parts(self._tape(rewind - 1), tick):
                    first, end = max(after, there, shared), min(last, until)
                    if then == played and first < end:
                        yield Piece(rewind, first, end)


def _cut(tape: Tape, tick: int) -> Tape:
    return [part for part in tape if part[0] < tick]


def _parts(tape: Tape, tick: int) -> Iterator[tuple[int, int, int]]:
    """Return each part of a tape up to a tick: the tick before it, its last one, and when it was played."""
    for (after, played), (last, _) in pairwise([*_cut(tape, tick), (tick, 0)]):
        yield after, last, played
