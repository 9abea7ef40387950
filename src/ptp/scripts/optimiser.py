"""A plan without what has no effect; what is pressed in each frame stays the same."""

from __future__ import annotations

from collections.abc import Iterable

from ptp.scripts.plan import Body, Branch, Call, Grip, Key, Loop, Play, Press, Repeat, Wait


class Optimiser:
    """Removes and fuses the statements of one script.

    Each tick presses its buttons anew, so waits are fused only where nothing can be held: then one long tick and two
    short ones are the same to the machine.
    """

    def __init__(self, main: Body, routines: dict[Key, Body]) -> None:
        self._holds = any(grip.down for body in (main, *routines.values()) for grip in _grips(body))
        self._routines = routines
        self._empty: set[Key] = set()

    def optimise(self, main: Body, ranks: dict[str, int]) -> Body:
        """Return the script; its routines are replaced in place, those that others call before them."""
        for key in sorted(self._routines, key=lambda key: ranks[key[0]]):
            self._routines[key] = self._body(self._routines[key])
            if not self._routines[key]:
                self._empty.add(key)
        return self._body(main)

    def _body(self, body: Body) -> Body:
        kept: Body = []
        for statement in body:
            for part in self._part(statement):
                if not (kept and self._fuse(kept[-1], part)):
                    kept.append(part)
        return kept

    def _part(self, it: object) -> Body:
        match it:
            case Wait(frames=0) | Press(times=0) | Repeat(times=0):
                return []
            case Grip(down=False) if not self._holds:
                return []
            case Call(key) if key in self._empty:
                return []
            case Repeat(times, body, line):
                return self._repeat(times, self._body(body), line)
            case Loop(condition, until, most, body, line):
                return [Loop(condition, until, most, self._body(body), line)]
            case Branch(condition, then, otherwise, line):
                then, otherwise = self._body(then), self._body(otherwise)
                return [Branch(condition, then, otherwise, line)] if then or otherwise else []
            case _:
                return [it]

    def _repeat(self, times: int, body: Body, line: int) -> Body:
        if not body:
            return []
        if times == 1:
            return body
        if len(body) == 1 and isinstance(body[0], (Press, Play)):
            body[0].times *= times
            return body
        if len(body) == 1 and isinstance(body[0], Repeat):
            return [Repeat(times * body[0].times, body[0].body, line)]
        return [Repeat(times, body, line)]

    def _fuse(self, last: object, it: object) -> bool:
        match last, it:
            case Wait(), Wait() if not self._holds:
                last.frames += it.frames
                return True
            case Press(), Press() if (last.button, last.hold) == (it.button, it.hold):
                last.times += it.times
                return True
            case Play(), Play() if last.command == it.command:
                last.times += it.times
                return True
            case Grip(), Grip() if last.button == it.button and (last.down or not it.down):
                last.down = it.down
                return True
        return False


def _grips(body: Body) -> Iterable[Grip]:
    for it in body:
        if isinstance(it, Grip):
            yield it
        elif isinstance(it, (Repeat, Loop)):
            yield from _grips(it.body)
        elif isinstance(it, Branch):
            yield from _grips(it.then)
            yield from _grips(it.otherwise)
