"""What can be known to be wrong with a script before it is played."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from lark import Token

from ptp._util.names import ALLOWED, can_be_typed
from ptp.errors import ScriptFailed, nearest
from ptp.scripts import statements
from ptp.scripts.conditions import Condition, Field, Literal, Memory, holds, operands, show
from ptp.scripts.grammar import value_of
from ptp.scripts.problems import Problem, Severity
from ptp.scripts.statements import DEEPEST, Block, Call, Define
from ptp.scripts.target import MOST_WAIT, Target

MOST_TIMES = 1_000_000
LONGEST_NAME = 80  # letters of a checkpoint; the tick follows in the name of its snapshot
LAST_ADDRESS = 0xFFFF
TIMELESS = (statements.Hold, statements.Release, statements.Checkpoint, statements.Expect, statements.Define)


class Checker:
    """Looks through every statement once, and notes what is wrong."""

    def __init__(self, target: Target, *, whole: bool = True) -> None:
        """Make a checker; what never runs can be told only of a script that could be read as a *whole*."""
        self._target = target
        self._whole = whole
        self._waits: list[Token] = []
        self._holds = False
        self.problems: list[Problem] = []
        self.routines: dict[str, Define] = {}
        self.ranks: dict[str, int] = {}
        """How deep the calls of a routine go."""
        self._calls: dict[str, list[Call]] = {"": []}
        self._seen: set[tuple[Any, ...]] = set()
        self._looks: dict[type, Callable[[Any, frozenset[str], str, int], None]] = {
            statements.Press: self._press,
            statements.Move: self._move,
            statements.Wait: self._wait,
            statements.Hold: self._grip,
            statements.Release: self._grip,
            statements.Repeat: self._repeat,
            statements.Loop: self._loop,
            statements.Branch: self._branch,
            statements.Define: self._define,
            statements.Call: self._call,
            statements.Command: self._command,
            statements.Checkpoint: self._checkpoint,
            statements.Expect: self._expect,
        }

    def check(self, body: Block) -> None:
        """Look through a whole script."""
        for statement in body:
            if isinstance(statement, Define):
                self._declare(statement)
        self._block(body, frozenset(), "", 0)
        self._check_calls()
        if self._target.timing is None and self._target.idle is None and not self._holds:
            for token in self._waits:
                hint = f"HOLD {(self._target.buttons or ('0',))[0].upper()} before it, or use PRESS"
                self.add(token, f"{self._target.world} has no command that does nothing", hint)

    def add(self, token: Token, message: str, suggestion: str, severity: Severity = "error") -> None:
        """Note a problem at a place."""
        line, column = token.line or 1, token.column or 1
        self.problems.append(Problem(line, column, len(token), message, suggestion, severity))

    @property
    def failed(self) -> bool:
        """Whether anything is an error."""
        return any(problem.severity == "error" for problem in self.problems)

    def _block(self, body: Block, names: frozenset[str], routine: str, level: int) -> None:
        if level > DEEPEST and body:
            hint = f"use at most {DEEPEST}, and DEFINE a routine for the inner ones"
            self.add(body[0].at, f"blocks stand {level} deep", hint)
            return
        looks = self._looks
        for statement in body:
            looks[type(statement)](statement, names, routine, level)

    # -- statements --------------------------------------------------------------------------------------------

    def _press(self, it: statements.Press, names: frozenset[str], routine: str, level: int) -> None:
        key = (it.button, it.frames)
        if key in self._seen and not names:
            return
        self.button(it.button, names)
        if it.frames is not None:
            self.number(it.frames, names, 1, self._target.longest_press, "frames to hold a button")
        if not self.problems:
            self._seen.add(key)

    def _move(self, it: statements.Move, names: frozenset[str], routine: str, level: int) -> None:
        if self.button(it.button, names) and it.button.lower() not in names:
            self.direction(it.button)
        if it.times is not None:
            self.number(it.times, names, 0, MOST_TIMES, "moves")

    def direction(self, token: Token, said: str = "") -> None:
        """Note a button that is no direction."""
        if token.lower() in self._target.directions:
            return
        allowed = ", ".join(self._target.directions).upper()
        hint = f"move {allowed}, or write PRESS {token}" if allowed else f"write PRESS {token}"
        self.add(token, f"{said or str(token)} is not a direction", hint)

    def _wait(self, it: statements.Wait, names: frozenset[str], routine: str, level: int) -> None:
        self._waits.append(it.at)
        self.number(it.frames, names, 0, MOST_WAIT, "frames to wait")

    def _grip(self, it: statements.Hold | statements.Release, names: frozenset[str], routine: str, level: int) -> None:
        self._holds = self._holds or isinstance(it, statements.Hold)
        self.button(it.button, names)

    def _command(self, it: statements.Command, names: frozenset[str], routine: str, level: int) -> None:
        if it.at.type != "TIMED":
            self.button(it.at, frozenset(), "command")
        elif not self._target.takes(it.at):
            self.add(it.at, *self._target.refusal(it.at))

    def _repeat(self, it: statements.Repeat, names: frozenset[str], routine: str, level: int) -> None:
        times = self.number(it.times, names, 0, MOST_TIMES, "times")
        if times == 0 and it.body:
            self._unreachable(it.body[0].at, "REPEAT 0")
        self._block(it.body, names, routine, level + 1)

    def _loop(self, it: statements.Loop, names: frozenset[str], routine: str, level: int) -> None:
        known = self._condition(it.condition, names, it.at)
        word, wanted = it.at.upper(), it.at.upper() == "UNTIL"
        if it.most is None:
            self.add(it.at, f"{word} has no bound", f"write {word} {show(it.condition)} MAX 50 {{ ... }}")
        else:
            self.number(it.most, names, 1, MOST_TIMES, "times")
        if known is wanted and it.body:
            self._unreachable(it.body[0].at, f"{word} {show(it.condition)}")
        elif known is not None:
            self.add(it.at, f"{show(it.condition)} never changes", "ask for something of the state, or write REPEAT")
        elif it.most is not None and not _takes_time(it.body, DEEPEST):
            self.add(
                it.at, f"nothing in this {word} plays, so its condition can't change", "press or wait in its block"
            )
        self._block(it.body, names, routine, level + 1)

    def _branch(self, it: statements.Branch, names: frozenset[str], routine: str, level: int) -> None:
        known = self._condition(it.condition, names, it.at)
        never = it.then if known is False else it.otherwise if known else []
        if never:
            self._unreachable(never[0].at, f"IF {show(it.condition)}")
        self._block(it.then, names, routine, level + 1)
        self._block(it.otherwise, names, routine, level + 1)

    def _expect(self, it: statements.Expect, names: frozenset[str], routine: str, level: int) -> None:
        if self._condition(it.condition, names, it.at) is False:
            self.add(it.at, f"EXPECT {show(it.condition)} always fails", "ask for something of the state")

    def _checkpoint(self, it: statements.Checkpoint, names: frozenset[str], routine: str, level: int) -> None:
        if not can_be_typed(value_of(it.name), LONGEST_NAME):
            self.add(it.name, f"{it.name} can't name a checkpoint", f"use up to {LONGEST_NAME} {ALLOWED}")

    def _define(self, it: Define, names: frozenset[str], routine: str, level: int) -> None:
        if level:
            self.add(it.at, "DEFINE stands in a block", "move it out of every block")
        own = [name.lower() for name in it.names]
        for index, name in enumerate(it.names):
            if own[index] in own[:index]:
                self.add(name, f"{str(name)!r} is the name of two arguments", "give each a name of its own")
        self._block(it.body, frozenset(own), it.name.lower(), level + 1)

    def _declare(self, it: Define) -> None:
        name = it.name.lower()
        first = self.routines.setdefault(name, it)
        self._calls.setdefault(name, [])
        if first is not it:
            self.add(it.name, f"{str(it.name)!r} is defined in line {first.name.line} already", "give it another name")
        if "." in name:
            self.add(it.name, f"{str(it.name)!r} can't name a routine", "use letters, digits and _")

    def _call(self, it: Call, names: frozenset[str], routine: str, level: int) -> None:
        self._calls.setdefault(routine, []).append(it)
        defined = self.routines.get(it.at.lower())
        if defined is None:
            self.add(
                it.at, f"no routine named {str(it.at)!r}", _hint(it.at, self.routines, "write DEFINE NAME() { ... }")
            )
        elif len(it.values) != len(defined.names):
            wants = len(defined.names) or "none"
            self.add(it.at, f"{it.at} is given {len(it.values)} arguments and takes {wants}",
                     f"write {it.at}({', '.join(defined.names)})")  # fmt: skip
        for token in it.values:
            if token.type == "NAME" and token.lower() not in names:
                self.button(token, names)

    # -- their parts -------------------------------------------------------------------------------------------

    def button(self, token: Token, names: frozenset[str], kind: str = "button") -> str | None:
        """Return what the world calls a button, and note one that it does not have."""
        if token.lower() in names:
            return str(token)
        found = self._target.button(str(value_of(token)) if token.type == "STRING" else str(token))
        if found is None:
            known = self._target.buttons
            hint = _hint(token, known, f"{self._target.world} takes {', '.join(known) or 'numbers or JSON in quotes'}")
            self.add(token, f"no {kind} named {str(token)!r}", hint)
        return found

    def number(self, token: Token, names: frozenset[str], least: int, most: int, what: str) -> int | None:
        """Return a whole number, and note one that is out of range."""
        if token.type == "NAME":
            if token.lower() not in names:
                self.add(token, f"{str(token)!r} is not a number of {what}", f"write a number from {least} to {most:,}")
            return None
        count = value_of(token)
        if isinstance(count, int) and least <= count <= most:
            return count
        wrong = "out of range for" if isinstance(count, int) else "not a whole number of"
        self.add(token, f"{token} is {wrong} {what}", f"write {least} to {most:,}")
        return None

    def _unreachable(self, token: Token, why: str) -> None:
        if self._whole:
            self.add(token, f"this never runs, because of {why}", "remove it, or change the condition")

    def _condition(self, condition: Condition, names: frozenset[str], at: Token) -> bool | None:
        """Note what can't be asked; return whether it is met, if that is always the same."""
        constant = True
        for operand in operands(condition):
            constant = constant and isinstance(operand, Literal)
            if isinstance(operand, Field):
                self._field(operand, names)
            elif isinstance(operand, Memory):
                self._memory(operand)
        return self._constant(condition, at) if constant else None

    def _constant(self, condition: Condition, at: Token) -> bool | None:
        try:
            return holds(condition, _NOTHING)
        except ScriptFailed as problem:
            self.add(at, str(problem), "compare a number with a number")
            return None

    def _field(self, field: Field, names: frozenset[str]) -> None:
        root = field.path.split(".")[0]
        if field.path.lower() in names or root in self._target.names or root.lower() in self._target.names:
            return
        near = nearest(root, sorted(self._target.names | names))
        hint = f"did you mean {near}?" if near else f'write "{field.path}" if it is a text, or a name of its state'
        self.add(field.at, f"{self._target.world} has no state named {root!r}", hint)

    def _memory(self, memory: Memory) -> None:
        if not self._target.has_memory:
            self.add(memory.at, f"{self._target.world} has no memory to read", "ask for a name of its state")
        elif not (isinstance(memory.address, int) and 0 <= memory.address <= LAST_ADDRESS):
            self.add(memory.at, f"{memory.at} is not an address", "write [0x0000] to [0xFFFF]")

    # -- who calls whom ----------------------------------------------------------------------------------------

    def _check_calls(self) -> None:
        """Find recursion, calls that go too deep, and routines that nobody calls."""
        called = {call.at.lower() for calls in self._calls.values() for call in calls}
        for name, define in self.routines.items():
            if name not in called:
                self.add(define.name, f"nobody calls {str(define.name)!r}", "call it, or remove it", "warning")
            self._rank(name)

    def _rank(self, start: str) -> None:
        path: list[tuple[str, Iterator[Call]]] = [(start, iter(self._calls[start]))]
        while path and start not in self.ranks:
            name, calls = path[-1]
            call = next(calls, None)
            if call is None:
                inner = [self.ranks[it.at.lower()] for it in self._calls[name] if it.at.lower() in self.ranks]
                self.ranks[name] = 1 + max(inner, default=0)
                self._too_deep(name)
                path.pop()
                continue
            wanted = call.at.lower()
            on_the_way = [each for each, _ in path]
            if wanted in on_the_way:
                circle = " -> ".join([*on_the_way[on_the_way.index(wanted) :], wanted])
                self.add(call.at, f"{call.at} calls itself: {circle}", "write a loop with REPEAT, UNTIL or WHILE")
            elif wanted in self.routines and wanted not in self.ranks:
                path.append((wanted, iter(self._calls[wanted])))

    def _too_deep(self, name: str) -> None:
        if self.ranks[name] == DEEPEST + 1:
            define = self.routines[name].name
            self.add(define, f"the calls of {str(define)!r} go {DEEPEST + 1} deep", f"use at most {DEEPEST}")


class _Nothing:
    def field(self, path: str) -> Any:
        raise AssertionError

    def byte(self, address: int) -> int:
        raise AssertionError


_NOTHING = _Nothing()


def _takes_time(body: Block, levels: int) -> bool:
    """Whether anything in a block may play a tick; what stands too deep is noted elsewhere."""
    for statement in body if levels else ():
        if isinstance(statement, statements.Branch):
            if _takes_time(statement.then, levels - 1) or _takes_time(statement.otherwise, levels - 1):
                return True
        elif isinstance(statement, (statements.Repeat, statements.Loop)):
            if _takes_time(statement.body, levels - 1):
                return True
        elif not isinstance(statement, TIMELESS):
            return True
    return not levels


def _hint(word: str, known: Any, otherwise: str) -> str:
    near = nearest(str(word), list(known))
    return f"did you mean {near.upper() if word.isupper() else near}?" if near else otherwise
