"""The way from one version to another, over neighbours."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Literal, NamedTuple


class Step(NamedTuple):
    """From one version to its neighbour."""

    start: str
    goal: str
    direction: Literal["up", "down"]

    @property
    def name(self) -> str:
        """What its file is called: the older version first, then which way it goes."""
        older, newer = (self.start, self.goal) if self.direction == "up" else (self.goal, self.start)
        return f"{older}-{newer}.{self.direction}"

    def __str__(self) -> str:
        return f"{self.start} -> {self.goal}"


def find_path(versions: Iterable[str], start: str, goal: str) -> tuple[Step, ...]:
    """Return the steps between two of the *versions*, which are given oldest first."""
    ordered = list(versions)
    first, last = ordered.index(start), ordered.index(goal)
    if first <= last:
        return tuple(Step(old, new, "up") for old, new in pairwise(ordered[first : last + 1]))
    return tuple(Step(new, old, "down") for old, new in reversed([*pairwise(ordered[last : first + 1])]))
