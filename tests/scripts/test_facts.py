"""What is known of a script before it is played."""

from __future__ import annotations

import pytest

from ptp.scripts import Bounds, Past, ScriptCompiler
from tests.scripts.worlds import commands_of, compiled, target_of, world_of


@pytest.mark.parametrize(
    "text",
    [
        "PRESS A", "PRESS A 10", "WAIT 4000", "HOLD B; MOVE UP 3; WAIT 7", "a:10/130\nup:5\nnone/9\nb",
        "DEFINE t(n) { REPEAT n { PRESS A; WAIT n } }\nREPEAT 3 { t(2); t(3) }",
    ],
)  # fmt: skip
def test_straight_code_has_an_exact_number_of_frames(text: str) -> None:
    world, script = world_of("tallgrass"), compiled(text)
    frames = [world.env.codec.length(world.parse(command)) for command in commands_of(text)]  # type: ignore[attr-defined]
    assert (script.frame_count, script.ticks.exact) == (sum(frames), len(frames))


def test_code_with_branches_has_bounds() -> None:
    script = compiled(
        "WAIT 10\nIF in_battle { PRESS A } ELSE { WAIT 5 }\nUNTIL in_battle MAX 3 { WAIT 100 }\nREPEAT 2 { WAIT 1 }"
    )
    assert script.frames == Bounds(10 + 5 + 2, 10 + 24 + 300 + 2)
    assert script.ticks == Bounds(4, 7)
    assert script.frame_count is None
    assert script.seconds == (0.285, 5.626)


def test_a_world_without_frames_counts_ticks() -> None:
    script = compiled("HOLD left; WAIT 5; PRESS right 3; MOVE left 2", "CartPole-v1")
    assert (script.frame_count, script.ticks.exact, script.seconds) == (10, 10, None)


def test_a_script_says_what_it_needs_and_where_it_can_fail() -> None:
    script = compiled(
        'DEFINE t(b) { PRESS b; EXPECT [0xD35E] == 1 }\nt(A); t(B)\nCHECKPOINT "one"\n'
        'WHILE battle.enemy.hp > 0 MAX 9 { a:10/130 }\nIF x == 1 { CHECKPOINT "two" }'
    )
    assert script.checkpoints == ("one", "two")
    assert [(it.line, it.condition) for it in script.failure_points] == [
        (1, "EXPECT [0xD35E] == 1"),
        (4, "WHILE battle.enemy.hp > 0 MAX 9"),
    ]
    needs = script.dependencies
    assert (needs.world, needs.buttons) == ("tallgrass", ("a", "a:10/130", "b"))
    assert (needs.names, needs.addresses, needs.routines) == (("battle.enemy.hp", "x"), (0xD35E,), ("t",))
    assert script.complexity == 3
    assert script.memory_bytes > 500


def test_the_checksum_is_of_what_is_played() -> None:
    first = compiled("PRESS A\nWAIT 5")
    assert compiled("# a remark\npress a; wait 5").checksum == first.checksum
    assert compiled("PRESS A\nWAIT 6").checksum != first.checksum
    assert compiled("PRESS A\nWAIT 5\nEXPECT x == 1").checksum != compiled("PRESS A\nWAIT 5\nEXPECT x == 2").checksum


def test_what_is_known_of_earlier_executions_is_looked_up_each_time() -> None:
    known: dict[str, Past] = {}
    compiler = ScriptCompiler(target_of("tallgrass"), past=known.get)
    script = compiler.compile("PRESS A")
    assert (script.success_rate, script.alternatives) == (None, None)
    known[script.checksum] = Past(0.75, ("other",))
    script = compiler.compile("PRESS A")
    assert (script.success_rate, script.alternatives) == (0.75, ("other",))
