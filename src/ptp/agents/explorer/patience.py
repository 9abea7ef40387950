"""Giving up what leads to nothing, for a while that grows each time: so no two errands undo each other for ever."""

from __future__ import annotations

from ptp.agents.explorer.memory import Memory, Pursuit

LONG = 400  # decisions on the way without anything new
AGAIN = 100  # decisions that setting out from the same place counts for
PAUSE = 300  # decisions before the first new try; twice as long each time
MOST_DOUBLINGS = 6


def is_given_up(memory: Memory, purpose: str) -> bool:
    """Whether a purpose led to nothing, and it is too early to try again."""
    return memory.paused.get(purpose, 0) > memory.moment


def set_out(memory: Memory, purpose: str, place: str) -> None:
    """Note from where a purpose is pursued; from the same place again it costs as much as a long way."""
    pursuit = _pursuit(memory, purpose)
    if place in pursuit.begun:
        pursuit.spent += AGAIN
    else:
        pursuit.begun.append(place)


def spend(memory: Memory, purpose: str) -> bool:
    """Count one decision for a purpose; return whether it was the last that it gets for now."""
    pursuit = _pursuit(memory, purpose)
    pursuit.spent += 1
    if pursuit.spent <= LONG:
        return False
    give_up(memory, purpose)
    return True


def _pursuit(memory: Memory, purpose: str) -> Pursuit:
    """Return what was spent on a purpose since anything new came up."""
    pursuit = memory.pursuits.get(purpose)
    if pursuit is None:
        pursuit = memory.pursuits[purpose] = Pursuit(gains=memory.gains)
    elif pursuit.gains != memory.gains:
        pursuit.spent, pursuit.gains, pursuit.begun = 0, memory.gains, []
    return pursuit


def give_up(memory: Memory, purpose: str) -> None:
    """Leave a purpose alone for a while."""
    pursuit = _pursuit(memory, purpose)
    memory.paused = {name: until for name, until in memory.paused.items() if until > memory.moment}
    memory.paused[purpose] = memory.moment + PAUSE * 2 ** min(pursuit.times, MOST_DOUBLINGS)
    pursuit.spent, pursuit.begun = 0, []
    pursuit.times += 1


def try_again(memory: Memory) -> None:
    """When nothing else is left: what was given up and is due first may be tried at once."""
    if memory.paused:
        del memory.paused[min(memory.paused, key=lambda purpose: memory.paused[purpose])]
