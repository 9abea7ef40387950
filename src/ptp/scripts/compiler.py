"""Compiling: text becomes instructions, with all that can be known of them before they are played."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import msgspec

from ptp.errors import ScriptError
from ptp.scripts.checks import Checker
from ptp.scripts.code import (
    Bounds,
    Coder,
    FailurePoint,
    Instruction,
    Measure,
    asked_addresses,
    asked_names,
    failure_points,
    size_in_memory,
)
from ptp.scripts.optimiser import Optimiser
from ptp.scripts.plan import Body, Planner, Play
from ptp.scripts.problems import Problem, refusal
from ptp.scripts.syntax import parse
from ptp.scripts.target import Target

CACHED = 128  # scripts
BRANCHING = frozenset({"unless", "until", "while", "count"})


class Dependencies(msgspec.Struct, frozen=True):
    """What a script needs of its world."""

    world: str
    buttons: tuple[str, ...]
    names: tuple[str, ...]
    """The names of the state that it asks for."""
    addresses: tuple[int, ...]
    """The memory that it reads."""
    routines: tuple[str, ...]
    """Its own routines that it calls."""


class Past(msgspec.Struct, frozen=True):
    """What earlier executions of a script tell."""

    success_rate: float
    alternatives: tuple[str, ...] = ()
    """Checksums of other scripts that did the same."""


Lookup: TypeAlias = Callable[[str], Past | None]
"""Returns what is known of the script with a checksum; None when it was never executed."""


class CompiledScript(msgspec.Struct, frozen=True):
    """A script that is ready to be played."""

    name: str
    checksum: str
    """Scripts that play the same have the same."""
    instructions: tuple[Instruction, ...]
    frames: Bounds
    """How many frames it takes if nothing fails; ticks, in a world without frames."""
    ticks: Bounds
    seconds: tuple[float, float] | None
    """How long it takes on the machine itself, at least and at most; None in a world without frames."""
    memory_bytes: int
    complexity: int
    """One more than the number of its branches and loops."""
    failure_points: tuple[FailurePoint, ...]
    checkpoints: tuple[str, ...]
    """The checkpoints that it can reach, in the order of its text."""
    dependencies: Dependencies
    warnings: tuple[Problem, ...] = ()
    success_rate: float | None = None
    """The part of its past executions that succeeded; None when nobody knows."""
    alternatives: tuple[str, ...] | None = None
    """Checksums of other scripts that did the same; None when nobody knows."""

    @property
    def frame_count(self) -> int | None:
        """How many frames it takes; None where that depends on the game."""
        return self.frames.exact


class ScriptCompiler:
    """Compiles scripts for one world, and keeps the last ones."""

    def __init__(
        self, target: Target, *, optimise: bool = True, cached: int = CACHED, past: Lookup | None = None
    ) -> None:
        """Make a compiler; *past* looks up what earlier executions tell, when a script is compiled."""
        self._target = target
        self._optimise = optimise
        self._cached = cached
        self._past = past
        self._cache: OrderedDict[bytes, CompiledScript] = OrderedDict()

    def compile(self, text: str, name: str = "script") -> CompiledScript:
        """Compile a script; every mistake in it is named in one `ScriptError`."""
        key = hashlib.blake2b(f"{name}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
        found = self._cache.get(key)
        if found is None:
            found = self._cache[key] = self._compile(text, name)
            if len(self._cache) > self._cached:
                self._cache.popitem(last=False)
        self._cache.move_to_end(key)
        past = self._past(found.checksum) if self._past is not None else None
        if past is None:
            return found
        return msgspec.structs.replace(found, success_rate=past.success_rate, alternatives=past.alternatives)

    def compile_file(self, path: Path) -> CompiledScript:
        """Compile a file."""
        return self.compile(read_script(path), str(path))

    def _compile(self, text: str, name: str) -> CompiledScript:
        plain = read_commands(text, name, self._target)
        if plain is not None:
            return self._finish(name, Coder().write(plain, {}), Measure(self._target, {}, {}), plain, [])
        parsed = parse(text)
        checker = Checker(self._target, whole=not parsed.problems)
        checker.check(parsed.body)
        planner = Planner(self._target, checker)
        main = [] if parsed.problems or checker.failed else planner.plan(parsed.body)
        problems = _joined(parsed.problems, checker.problems)
        if not any(problem.severity == "error" for problem in problems) and not main:
            problems.append(Problem(1, 1, 1, "the script does nothing", "write a statement, such as PRESS A"))
        if any(problem.severity == "error" for problem in problems):
            raise refusal(problems, text, name)
        if self._optimise:
            main = Optimiser(main, planner.routines).optimise(main, checker.ranks)
        measure = Measure(self._target, planner.routines, checker.ranks)
        return self._finish(name, Coder().write(main, planner.routines), measure, main, problems)

    def _finish(
        self, name: str, code: list[Instruction], measure: Measure, main: Body, problems: list[Problem]
    ) -> CompiledScript:
        fewest, most, least, longest = measure.extent(main)
        timing = self._target.timing
        return CompiledScript(
            name=name,
            checksum=_checksum(code),
            instructions=tuple(code),
            frames=Bounds(least, longest),
            ticks=Bounds(fewest, most),
            seconds=None if timing is None else (round(least / timing.rate, 3), round(longest / timing.rate, 3)),
            memory_bytes=size_in_memory(code),
            complexity=1 + sum(it.op in BRANCHING for it in code),
            failure_points=tuple(failure_points(code)),
            checkpoints=tuple(dict.fromkeys(it.text for it in code if it.op == "checkpoint")),
            dependencies=Dependencies(
                world=self._target.world,
                buttons=tuple(sorted({it.text for it in code if it.op in ("press", "play", "hold", "release")})),
                names=asked_names(code),
                addresses=asked_addresses(code),
                routines=tuple(sorted({it.text for it in code if it.op == "call"})),
            ),
            warnings=tuple(problems),
        )


def read_script(path: Path) -> str:
    """Return the text of a script; a file that can't be read is named."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as problem:
        raise ScriptError(f"{path}: {problem.strerror}; name a file that can be read") from None
    except UnicodeDecodeError:
        raise ScriptError(f"{path}: not UTF-8 text; save it as UTF-8") from None


def read_commands(text: str, name: str, target: Target) -> Body | None:
    """Return a script that is nothing but commands, one per line; None for one in the button language."""
    commands: Body = []
    problems: list[Problem] = []
    for number, line in enumerate(text.split("\n"), 1):
        word = line.partition("#")[0].strip()
        if word:
            if not target.takes(word):
                problems.append(Problem(number, line.index(word) + 1, len(word), *target.refusal(word)))
            commands.append(Play(word, 1, number))
            if problems and commands[0].command[0] not in "[{":  # no statement begins so
                return None
    if problems:
        raise refusal(problems, text, name)
    return commands or None


def _joined(first: list[Problem], second: list[Problem]) -> list[Problem]:
    """Return all problems by place; what else is wrong with a line that can't be read is not known."""
    lines = {problem.line for problem in first}
    both = [*first, *(problem for problem in second if problem.line not in lines)]
    return sorted(dict.fromkeys(both), key=lambda problem: (problem.line, problem.column))


def _checksum(code: list[Instruction]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for it in code:
        digest.update(repr((it.op, it.text, it.number, it.hold, it.target)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
