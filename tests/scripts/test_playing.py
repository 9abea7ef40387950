"""What a script plays: commands, loops, routines, conditions, checkpoints and failures."""

from __future__ import annotations

import json

import pytest

from ptp.errors import ScriptFailed
from ptp.scripts import Execution, ScriptCompiler
from tests.scripts.worlds import commands_of, compiled, played, target_of, world_of

PLAYS = [
    ("PRESS A", ["a"]),
    ("press a 10", ["a:10/26"]),
    ("PRESS NONE", ["none/24"]),
    ("WAIT 60", ["none/60"]),
    ("WAIT 3601", ["none/3600", "none/1"]),
    ("WAIT 0; PRESS A", ["a"]),
    ("MOVE UP 3", ["up", "up", "up"]),
    ("HOLD B; MOVE UP; WAIT 10; RELEASE B; WAIT 5", ["b+up:8/24", "b:10/10", "none/5"]),
    ("HOLD RIGHT; HOLD B; PRESS A 4; PRESS B", ["b+right+a:4/20", "b+right:24/24"]),
    ("REPEAT 2 { PRESS A; PRESS B }", ["a", "b", "a", "b"]),
    ("REPEAT 2 { REPEAT 2 { PRESS A }\nPRESS B }", ["a", "a", "b", "a", "a", "b"]),
    ("a\nb:5\na:10/130\n3", ["a", "b:5", "a:10/130", "3"]),
    ('PRESS 3 4; PRESS "1"; 5', ["start:4/20", "a", "up"]),
    ("PRESS A\na:10/130 # remark\nup", ["a", "a:10/130", "up"]),
    ("DEFINE tap(b, n) { PRESS b n; WAIT n }\ntap(A, 3); Tap(b, 4)", ["a:3/19", "none/3", "b:4/20", "none/4"]),
    ("DEFINE one(b) { two(b, 2) }\nDEFINE two(b, n) { MOVE b n }\none(LEFT)", ["left", "left"]),
    ("DEFINE f(n) { IF n > 2 { PRESS A } ELSE { PRESS B } }\nf(1); f(3)", ["b", "a"]),
    ("IF badges == 8 { PRESS A }\n# no\nELSE IF profile == \"tallgrass\" { PRESS B }\nELSE { PRESS START }", ["b"]),
    ("WHILE NOT in_battle AND profile == \"tallgrass\" MAX 2 { PRESS A }", ["a", "a"]),
    ("UNTIL (in_battle OR profile == \"tallgrass\") MAX 2 { PRESS A }\nPRESS B", ["b"]),
    ("IF [0xFFFF] >= 0 AND [0] < 256 { PRESS A }", ["a"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), PLAYS, ids=[text for text, _ in PLAYS])
def test_a_script_plays_what_it_says(text: str, expected: list[str]) -> None:
    assert commands_of(text) == expected


def test_any_command_of_a_world_is_a_button_and_a_tick_is_a_frame() -> None:
    text = "PRESS left 2; HOLD RIGHT; WAIT 2; PRESS left; HOLD left; WAIT 1; RELEASE left; WAIT 1"
    assert commands_of(text, "CartPole-v1") == ["left", "left", "right", "right", "left", "left", "right"]
    assert commands_of("MOVE north 2\npickup\nPRESS 3", "Taxi-v4") == ["north", "north", "pickup", "west"]
    assert commands_of('PRESS "[0.5]" 2', "Pendulum-v1") == ["[0.5]", "[0.5]"]
    assert commands_of("[0.5]\n[-1.0]  # back", "Pendulum-v1") == ["[0.5]", "[-1.0]"]


def test_a_condition_looks_at_the_state_of_each_moment() -> None:
    commands, how = played("REPEAT 20 { IF observation.2 > 0 { PRESS right } ELSE { PRESS left } }", "CartPole-v1")
    assert how.success
    assert {"left", "right"} == set(commands)
    assert len(commands) == 20


def test_a_value_that_is_not_known_meets_no_condition_and_not_its_opposite_either() -> None:
    _, how = played("PRESS A\nEXPECT map == 1", "tallgrass")
    assert how.failures[0].message == "EXPECT map == 1 failed: map is not known"
    _, how = played("PRESS A\nEXPECT NOT map == 1", "tallgrass")
    assert not how.success
    commands, how = played('PRESS A\nIF map == 1 OR profile == "tallgrass" { PRESS B }', "tallgrass")
    assert (commands, how.success) == (["a", "b"], True)


def test_a_failure_ends_the_script_or_is_only_noted() -> None:
    text = 'PRESS left\nEXPECT observation.0 > 99\nCHECKPOINT "on"\n'
    text += "UNTIL observation.0 > 99 MAX 2 { PRESS left }\nPRESS right"
    commands, how = played(text, "CartPole-v1")
    assert (commands, how.checkpoints, len(how.failures)) == (["left"], (), 1)
    assert how.failures[0].line == 2
    commands, how = played(text, "CartPole-v1", "continue")
    assert (commands, how.checkpoints) == (["left", "left", "left", "right"], ("on",))
    assert [failure.line for failure in how.failures] == [2, 4]
    assert "is not so after 2 rounds: observation.0 is " in how.failures[1].message


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ('observation.0 < "far"', "have no order"),
        ("observation.x < 1", "'x' is not in"),
        ("observation.0.deep < 1", "'deep' is not in"),
    ],
)
def test_a_question_that_makes_no_sense_ends_the_script_with_its_line(condition: str, message: str) -> None:
    commands, how = played(f"PRESS left\nIF {condition} {{ PRESS left }}\nPRESS right", "CartPole-v1", "continue")
    assert commands == ["left"]
    assert how.failures[0].line == 2
    assert message in how.failures[0].message


def test_a_world_without_a_pause_cant_wait_once_nothing_is_held() -> None:
    commands, how = played("HOLD left; WAIT 1; RELEASE left; WAIT 1", "CartPole-v1")
    assert commands == ["left"]
    assert "has no command that does nothing" in how.failures[0].message


def test_a_loop_that_only_counts_is_ended() -> None:
    commands, how = played('REPEAT 1000000 { REPEAT 1000000 { EXPECT profile == "tallgrass" } }\nPRESS A', "tallgrass")
    assert commands == []
    assert "steps without a command" in how.failures[0].message


def test_an_execution_continues_from_any_saved_place() -> None:
    text = """
    DEFINE tap(b, n) { REPEAT n { PRESS b 2; WAIT 5 } }
    HOLD B
    REPEAT 3 { tap(A, 2); MOVE UP 2; WHILE profile == "tallgrass" MAX 2 { WAIT 3 } }
    RELEASE B
    WAIT 4000
    """
    target, state = target_of("tallgrass"), world_of("tallgrass").state(None)
    script = compiled(text)
    whole = Execution(script, target, "continue")
    places, commands = [], []
    while True:
        places.append(json.loads(json.dumps(whole.save())))
        command = whole.next(state).command
        if command is None:
            break
        commands.append(command)
    assert len(commands) == 26
    for index, place in enumerate(places):
        later = Execution(script, target, "continue")
        later.load(place)
        assert [later.next(state).command for _ in commands[index:]] == commands[index:]
        assert later.next(state).command is None


def test_a_place_in_another_script_is_refused() -> None:
    target = target_of("tallgrass")
    place = Execution(compiled("PRESS A"), target).save()
    other = Execution(compiled("PRESS B"), target)
    with pytest.raises(ScriptFailed, match="has changed since the snapshot"):
        other.load(place)
    with pytest.raises(ScriptFailed, match="not a place in a script"):
        other.load({**place, "position": -1})


def test_the_same_script_is_compiled_once_and_the_oldest_are_forgotten() -> None:
    compiler = ScriptCompiler(target_of("tallgrass"), cached=2)
    first = compiler.compile("PRESS A")
    assert compiler.compile("PRESS A") is first
    compiler.compile("PRESS B")
    assert compiler.compile("PRESS A") is first
    compiler.compile("PRESS START")
    compiler.compile("PRESS SELECT")
    assert compiler.compile("PRESS A") is not first
