"""Every mistake is found at once, with its place and what to write instead."""

from __future__ import annotations

import pytest

from ptp.errors import ScriptError
from ptp.scripts import Problem
from tests.scripts.worlds import compiled

CLOSED = "remove it, or open a block with {"
MISTAKES = [
    ("PRES A", 1, 1, "no statement named 'PRES'", "did you mean PRESS?"),
    ("PRESS", 1, 6, "PRESS is not complete", "write PRESS BUTTON [FRAMES]"),
    ("PRESS A 5 6", 1, 11, "unexpected '6'", "write PRESS BUTTON [FRAMES]"),
    ("REPEAT 3 { PRESS A B C }", 1, 22, "unexpected 'C'", "write PRESS BUTTON [FRAMES]"),
    ("IF map = 3 {\nPRESS A\n}", 1, 8, "= can't compare", "write == for equal"),
    ("PRESS A\n}", 2, 1, "this } closes nothing", CLOSED),
    ("ELSE { PRESS A }", 1, 1, "ELSE has no IF before it", "write it behind the } of an IF"),
    ("IF map == 1 { PRESS A } ELS { PRESS B }", 1, 25, "no statement named 'ELS'", "did you mean ELSE?"),
    ('CHECKPOINT "here', 1, 12, "this text has no closing quote", 'end it with " on the same line'),
    ("REPEAT 2 {\n  WAIT 1", 1, 10, "this { is never closed", "write } on a line of its own behind the block"),
    ("PRESS STRAT", 1, 7, "no button named 'STRAT'", "did you mean START?"),
    ("strat", 1, 1, "no command named 'strat'", "did you mean start?"),
    ("PRESS A; a:9/5", 1, 10, "command 'a:9/5' is not one this world takes",
     "allowed: none, a, b, start, select, up, down, left, right, and :1 to :24 after a button, or :HOLD/ALL, as in "
     "a:10/130 and none/60, with at most 3600 frames in all"),
    ("PRESS A 99999", 1, 9, "99999 is out of range for frames to hold a button", "write 1 to 3,584"),
    ("PRESS A 0", 1, 9, "0 is out of range for frames to hold a button", "write 1 to 3,584"),
    ("WAIT -1", 1, 6, "-1 is out of range for frames to wait", "write 0 to 216,000"),
    ("WAIT 2.5", 1, 6, "2.5 is not a whole number of frames to wait", "write 0 to 216,000"),
    ("WAIT soon", 1, 6, "'soon' is not a number of frames to wait", "write a number from 0 to 216,000"),
    ("MOVE A 3", 1, 6, "A is not a direction", "move UP, DOWN, LEFT, RIGHT, or write PRESS A"),
    ("REPEAT 1000001 { PRESS A }", 1, 8, "1000001 is out of range for times", "write 0 to 1,000,000"),
    ("UNTIL map == 3 { PRESS A }", 1, 1, "UNTIL has no bound", "write UNTIL map == 3 MAX 50 { ... }"),
    ("WHILE x < 3 MAX 5 { EXPECT x > 1 }", 1, 1, "nothing in this WHILE plays, so its condition can't change",
     "press or wait in its block"),
    ("WHILE 1 == 1 MAX 5 { PRESS A }", 1, 1, "1 == 1 never changes",
     "ask for something of the state, or write REPEAT"),
    ("EXPECT mapp == 3", 1, 8, "tallgrass has no state named 'mapp'", "did you mean map?"),
    ("EXPECT screen == overworld", 1, 18, "tallgrass has no state named 'overworld'",
     'write "overworld" if it is a text, or a name of its state'),
    ("EXPECT [0x1FFFF] == 1", 1, 9, "0x1FFFF is not an address", "write [0x0000] to [0xFFFF]"),
    ('EXPECT "a" < 1', 1, 1, "\"a\" < 1 can't be compared: 'a' and 1 have no order",
     "compare a number with a number"),
    ("EXPECT 1 > 2\nPRESS A", 1, 1, "EXPECT 1 > 2 always fails", "ask for something of the state"),
    ("IF 1 == 2 { PRESS A }", 1, 13, "this never runs, because of IF 1 == 2", "remove it, or change the condition"),
    ("IF 1 == 1 { PRESS A } ELSE { PRESS B }", 1, 30, "this never runs, because of IF 1 == 1",
     "remove it, or change the condition"),
    ("UNTIL 1 == 1 MAX 3 { PRESS A }", 1, 22, "this never runs, because of UNTIL 1 == 1",
     "remove it, or change the condition"),
    ("REPEAT 0 { PRESS A }", 1, 12, "this never runs, because of REPEAT 0", "remove it, or change the condition"),
    ("go(1)", 1, 1, "no routine named 'go'", "write DEFINE NAME() { ... }"),
    ("DEFINE walk() { PRESS A }\nwlak()", 2, 1, "no routine named 'wlak'", "did you mean walk?"),
    ("DEFINE tap(b, n) { PRESS b n }\ntap(A)", 2, 1, "tap is given 1 arguments and takes 2", "write tap(b, n)"),
    ("DEFINE a() { b() }\nDEFINE b() { a() }\na()", 2, 14, "a calls itself: a -> b -> a",
     "write a loop with REPEAT, UNTIL or WHILE"),
    ("DEFINE t() { WAIT 1 }\nDEFINE T() { WAIT 2 }\nt()", 2, 8, "'T' is defined in line 1 already",
     "give it another name"),
    ("DEFINE t(n, N) { WAIT n }\nt(1, 2)", 1, 13, "'N' is the name of two arguments", "give each a name of its own"),
    ("REPEAT 2 { DEFINE t() { WAIT 1 } }", 1, 12, "DEFINE stands in a block", "move it out of every block"),
    ("DEFINE t(n) { WAIT n }\nt(A)", 1, 20, "n = 'A' is not a number in range", "call it with 0 to 216,000"),
    ('DEFINE t(b) { PRESS b }\nt("jump")', 1, 21, "b = 'jump' is not a button",
     "tallgrass takes none, a, b, start, select, up, down, left, right"),
    ("DEFINE t(b) { MOVE b }\nt(A)", 1, 20, "b = a is not a direction",
     "move UP, DOWN, LEFT, RIGHT, or write PRESS b"),
    ('CHECKPOINT "../up"', 1, 12, "\"../up\" can't name a checkpoint",
     "use up to 80 letters, digits, spaces, and - _ + . between them"),
    ("# nothing\n", 1, 1, "the script does nothing", "write a statement, such as PRESS A"),
]  # fmt: skip


def problems_of(text: str, world: str = "tallgrass") -> list[Problem]:
    with pytest.raises(ScriptError) as caught:
        compiled(text, world)
    return list(caught.value.problems)


@pytest.mark.parametrize(("text", "line", "column", "message", "suggestion"), MISTAKES, ids=lambda it: str(it)[:30])
def test_a_mistake_is_named_with_its_place_and_a_remedy(
    text: str, line: int, column: int, message: str, suggestion: str
) -> None:
    found = [(it.line, it.column, it.message, it.suggestion) for it in problems_of(text) if it.severity == "error"]
    assert found == [(line, column, message, suggestion)]


def test_all_mistakes_are_named_at_once_and_a_line_that_cant_be_read_hides_no_other() -> None:
    text = """PRES A
PRESS STRAT
IF map = 3 {
  WAIT
  PRESS JUMP
} ELSE {
  WAIT 2.5
}
} ELS {
EXPECT nonsense > 1
"""
    assert [(it.line, it.message) for it in problems_of(text)] == [
        (1, "no statement named 'PRES'"),
        (2, "no button named 'STRAT'"),
        (3, "= can't compare"),
        (4, "WAIT is not complete"),
        (5, "no button named 'JUMP'"),
        (7, "2.5 is not a whole number of frames to wait"),
        (9, "this } closes nothing"),
        (10, "tallgrass has no state named 'nonsense'"),
    ]


def test_the_message_shows_the_line_and_points_at_the_place() -> None:
    with pytest.raises(ScriptError) as caught:
        compiled("PRESS A\n\tPRESS STRAT 5\n")
    assert str(caught.value).splitlines() == [
        "script has 1 error",
        "script:2:8: no button named 'STRAT'; did you mean START?",
        "  2 |  PRESS STRAT 5",
        "    |        ^^^^^",
    ]


def test_a_long_line_is_shown_around_the_mistake() -> None:
    with pytest.raises(ScriptError) as caught:
        compiled("PRESS A; " * 100 + "PRESS STRAT; " + "PRESS B; " * 100)
    _, _, line, caret = str(caught.value).splitlines()
    assert len(line) <= 110
    assert line[caret.index("^") : caret.index("^") + 5] == "STRAT"


def test_a_routine_that_nobody_calls_is_only_a_warning() -> None:
    (warning,) = compiled("DEFINE spare() { WAIT 1 }\nPRESS A").warnings
    assert (warning.severity, warning.line, warning.message) == ("warning", 1, "nobody calls 'spare'")


def test_what_a_world_lacks_is_a_mistake_there_alone() -> None:
    assert [it.message for it in problems_of("EXPECT [0xD35E] == 1\nPRESS left", "CartPole-v1")] == [
        "CartPole-v1 has no memory to read"
    ]
    assert [it.message for it in problems_of("PRESS A\nEXPECT badges == 1", "CartPole-v1")] == [
        "no button named 'A'",
        "CartPole-v1 has no state named 'badges'",
    ]
    assert [it.message for it in problems_of("WAIT 5", "CartPole-v1")] == [
        "CartPole-v1 has no command that does nothing"
    ]


def test_a_wrong_line_of_a_plain_list_of_json_is_named() -> None:
    (problem,) = problems_of("[0.5]\n[0.5, 7]\n", "Pendulum-v1")
    assert (problem.line, problem.column, problem.length) == (2, 1, 8)


@pytest.mark.parametrize(
    "text",
    [
        "REPEAT 2 { " * 60 + "PRESS A" + " }" * 60,
        "EXPECT " + "(x == 1 AND (" * 60 + "y == 1" + "))" * 60,
        "IF x == 1 { WAIT 1 } " + "ELSE IF x == 2 { WAIT 1 } " * 5000,
        "IF x == 1 { } " + "ELSE IF x == 2 { } " * 60,
        "".join(f"DEFINE r{n}() {{ r{n + 1}() }}\n" for n in range(60)) + "DEFINE r60() { WAIT 1 }\nr0()",
        "EXPECT " + "(" * 100_000,
        "REPEAT 2 {" * 100_000,
    ],
)
def test_what_is_nested_too_deep_is_refused_and_never_breaks(text: str) -> None:
    assert any("deep" in it.message or "parenthes" in it.message or "complete" in it.message or "closed" in it.message
               for it in problems_of(text))  # fmt: skip


def test_calls_that_multiply_are_refused_before_they_fill_the_memory() -> None:
    names = ", ".join(f"a{n}" for n in range(30))
    shifted = ", ".join(f"a{n}" for n in range(29))
    chain = "".join(f"DEFINE r{n}({names}) {{ r{n + 1}(1, {shifted}); r{n + 1}(2, {shifted}) }}\n" for n in range(30))
    text = chain + f"DEFINE r30({names}) {{ WAIT a0 }}\nr0({', '.join(['1'] * 30)})"
    assert "more than 20,000 different calls" in problems_of(text)[0].message
