"""Whatever the text is: a result, or mistakes with their places; and the optimiser and the formatter change nothing."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ptp.errors import ScriptError
from ptp.scripts import Execution, ScriptCompiler, format_script
from ptp.scripts.syntax import parse
from ptp.worlds import World
from tests.scripts.worlds import target_of, world_of

STATEMENTS = "PRESS press MOVE WAIT HOLD RELEASE REPEAT UNTIL WHILE IF ELSE DEFINE MAX CHECKPOINT EXPECT AND OR NOT"
NAMES = "A b UP left map x n go in_battle battle.enemy.hp observation.0 a:10/130 a:1 none/5 é Infinity [1e999]"
SIGNS = '{ } ( ) [ ] , ; == = < 0 1 3 60 0xD35E -1 2.5 99999999 "here" "'
WORDS = [*STATEMENTS.split(), *NAMES.split(), *SIGNS.split(), "# remark", "\n", "\n", "\t", "\r\n", "\x00"]
TEXTS = st.one_of(
    st.text(max_size=200),
    st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join),
    st.lists(st.sampled_from(WORDS), max_size=60).map("".join),
)


def check_places(wrong: ScriptError, text: str) -> None:
    lines = text.split("\n")
    assert wrong.problems
    for problem in wrong.problems:
        assert problem.message
        assert problem.suggestion
        assert 1 <= problem.line <= len(lines)
        assert 1 <= problem.column <= len(lines[problem.line - 1]) + 1


def outcome(text: str, world: str) -> None:
    """Compile a text and play a little of it."""
    target = target_of(world)
    try:
        script = ScriptCompiler(target).compile(text)
    except ScriptError as wrong:
        check_places(wrong, text)
        return
    execution, state = Execution(script, target, "continue"), world_of(world).state(None)
    for _ in range(50):
        command = execution.next(state).command
        if command is None:
            break
        target.parse(command)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS)
def test_any_text_is_compiled_or_refused_with_places(text: str) -> None:
    outcome(text, "tallgrass")


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS)
def test_any_text_is_compiled_or_refused_in_a_world_without_frames(text: str) -> None:
    outcome(text, "CartPole-v1")


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS)
def test_formatting_changes_neither_the_statements_nor_what_is_formatted(text: str) -> None:
    try:
        formatted = format_script(text)
    except ScriptError:
        return
    assert repr(parse(formatted)).casefold() == repr(parse(text)).casefold()
    assert format_script(formatted) == formatted


# -- scripts that are right ------------------------------------------------------------------------------------

BUTTONS = st.sampled_from(["A", "B", "START", "SELECT", "UP", "DOWN", "LEFT", "RIGHT"])
COUNTS = st.integers(0, 4)
SIMPLE = st.one_of(
    st.builds("PRESS {}".format, BUTTONS),
    st.builds("PRESS {} {}".format, BUTTONS, st.integers(1, 9)),
    st.builds("WAIT {}".format, st.integers(0, 40)),
    st.builds("MOVE {} {}".format, st.sampled_from(["UP", "DOWN", "LEFT", "RIGHT"]), COUNTS),
    st.builds("HOLD {}".format, BUTTONS),
    st.builds("RELEASE {}".format, BUTTONS),
    st.builds("tap({}, {})".format, BUTTONS, COUNTS),
    st.sampled_from(["nothing()", "a", "b:3", "none/7", "a+b:2/9", "# remark", "", 'CHECKPOINT "here"']),
)
CONDITIONS = st.sampled_from(['profile == "tallgrass"', "in_battle", "map == 1", "[0xC000] > 3", "NOT in_battle"])


def blocks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    body = st.lists(inner, max_size=4).map(lambda lines: "{\n" + "\n".join(lines) + "\n}")
    return st.one_of(
        st.builds("REPEAT {} {}".format, st.integers(1, 3), body),
        st.builds("IF {} {}".format, CONDITIONS, body),
        st.builds("IF {} {} ELSE {}".format, CONDITIONS, body, body),
        st.builds("UNTIL {} MAX {} {{ WAIT 1\n{}\n}}".format, CONDITIONS, st.integers(1, 3), inner),
    )


DEFINITIONS = "DEFINE tap(b, n) { REPEAT n { PRESS b; WAIT n }\nWAIT n }\nDEFINE nothing() { WAIT 0 }\n"
SCRIPTS = st.lists(st.recursive(SIMPLE, blocks, max_leaves=8), min_size=1, max_size=8).map(
    lambda lines: DEFINITIONS + "\n".join(lines) + "\nWAIT 1\n"
)


class Watched:
    """An emulator that notes what is down in each frame; it stands for both sides of the environment's own."""

    def __init__(self, env: Any) -> None:
        self._pyboy, self._states, self.memory = env.pyboy, env._states, env.pyboy.memory
        self._down: set[str] = set()
        self.inputs: list[frozenset[str]] = []

    def button_press(self, button: str) -> None:
        self._down.add(button)
        self._pyboy.button_press(button)

    def button_release(self, button: str) -> None:
        self._down.discard(button)
        self._pyboy.button_release(button)

    def tick(self, frames: int, render: bool) -> None:
        self.inputs += [frozenset(self._down)] * frames
        self._states.tick(frames, render)


def inputs_of(text: str, world: World, *, optimise: bool) -> tuple[list[frozenset[str]], list[str], bytes, int]:
    """Play a script from power-on: what is down in each frame, checkpoints, the state at the end, and its ticks."""
    env: Any = world.env
    target = target_of("tallgrass")
    world.reset(1)
    execution = Execution(ScriptCompiler(target, optimise=optimise).compile(text), target, "continue")
    checkpoints: list[str] = []
    own, watched, ticks = (env.pyboy, env._states), Watched(env), 0
    env.pyboy = env._states = watched
    try:
        while True:
            turn = execution.next(world.state(None))
            checkpoints += turn.checkpoints
            if turn.command is None:
                break
            world.step(target.parse(turn.command))
            ticks += 1
    finally:
        env.pyboy, env._states = own
    return watched.inputs, checkpoints, world.save(), ticks


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SCRIPTS)
def test_the_optimiser_changes_no_frame_no_input_and_no_byte_of_the_machine(text: str) -> None:
    world = world_of("tallgrass")
    plain = inputs_of(text, world, optimise=False)
    better = inputs_of(text, world, optimise=True)
    assert better[:3] == plain[:3]
    assert better[3] <= plain[3]
    script = ScriptCompiler(target_of("tallgrass")).compile(text)
    assert script.frames.low <= len(plain[0]) <= script.frames.high


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SCRIPTS)
def test_a_right_script_is_formatted_and_stays_right(text: str) -> None:
    formatted = format_script(text)
    compiler = ScriptCompiler(target_of("tallgrass"))
    assert compiler.compile(formatted).checksum == compiler.compile(text).checksum
    assert formatted.count("#") == text.count("#")


def test_the_optimiser_fuses_and_removes_what_has_no_effect() -> None:
    text = "WAIT 0\nWAIT 5; WAIT 6\nREPEAT 1 { PRESS A }\nPRESS A\nREPEAT 2 { REPEAT 3 { WAIT 1; PRESS B } }\n"
    text += "RELEASE A\nIF in_battle { }\nDEFINE nothing() { WAIT 0 }\nnothing()\nREPEAT 5 { }\nMOVE UP 0\n"
    text += "REPEAT 3 { MOVE UP }"
    script = ScriptCompiler(target_of("tallgrass")).compile(text)
    assert [(it.op, it.text, it.number) for it in script.instructions] == [
        ("wait", "", 11),
        ("press", "a", 2),
        ("enter", "", 0),
        ("count", "", 6),
        ("wait", "", 1),
        ("press", "b", 1),
        ("jump", "", 0),
        ("press", "up", 3),
        ("end", "", 0),
    ]


def test_waits_are_not_fused_where_something_may_be_held() -> None:
    script = ScriptCompiler(target_of("tallgrass")).compile("HOLD A; WAIT 5; WAIT 6")
    assert [it.number for it in script.instructions if it.op == "wait"] == [5, 6]


def test_comments_and_empty_lines_stay_where_they_were() -> None:
    text = """

# first
repeat  2 {press A ;press b;}   # twice


if x==1 and(y<2 or not in_battle){ # where
wait 5 ;; wait 6
}

# otherwise
else { go( UP,3 ) }
define go(d,n) {
move d n }
expect [0xd35e]!=3
"""
    assert (
        format_script(text)
        == """# first
REPEAT 2 { PRESS A; PRESS b } # twice

IF x == 1 AND (y < 2 OR NOT in_battle) { # where
    WAIT 5; WAIT 6
}

# otherwise
ELSE { go(UP, 3) }
DEFINE go(d, n) {
    MOVE d n }
EXPECT [0xd35e] != 3
"""
    )
