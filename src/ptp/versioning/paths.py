"""The way from one version to another, over neighbours."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import pairwise
from typing import Literal, NamedTuple

Direction = Literal["up", "down"]


class Step(NamedTuple):
    """From one version to its neighbour."""

    start: str
    goal: str
    direction: Direction

    @property
    def name(self) -> str:
        """What its file is called: the older version first, then which way it goes."""
        older, newer = (self.start, self.goal) if self.direction == "up" else (self.goal, self.start)
        return f"{older}-{newer}.{self.direction}"

    def __str__(self) -> str:
        return f"{self.start} -> {self.goal}"


def neighbours(versions: Iterable[str]) -> tuple[Step, ...]:
    """Return the steps between versions that follow each other, in both directions."""
    ordered = list(versions)
    pairs = list(pairwise(ordered))
    return tuple(Step(old, new, "up") for old, new in pairs) + tuple(Step(new, old, "down") for old, new in pairs)


def shortest_path(steps: Iterable[Step], start: str, goal: str) -> tuple[Step, ...] | None:
    """Return the fewest steps from *start* to *goal*, none when they are the same, or None when there is no way."""
    known = tuple(steps)
    found: dict[str, tuple[Step, ...]] = {start: ()}
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        if here == goal:
            return found[here]
        for step in known:
            if step.start == here and step.goal not in found:
                found[step.goal] = (*found[here], step)
                waiting.append(step.goal)
    return None
