"""How long a script of 10,000 lines takes to compile: the first time, with its grammar, and from the cache."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.common import report, seconds
from ptp.scripts import ScriptCompiler, Target
from ptp.worlds import find_world, make_world

LINES = 10_000
COLD, CACHED = 1.0, 5.0
ROUNDS = 5
PART = """PRESS A {0}
WAIT 60
MOVE UP 3
# on the way
IF map == {0} AND NOT in_battle {{
    PRESS B
}} ELSE {{
    walk(UP, {0})
}}
EXPECT x > 3 OR [0xD35E] == {0}
"""


def make_text() -> str:
    """Return a script with every kind of statement that a long one is made of."""
    parts = "".join(PART.format(number % 40 + 1) for number in range(LINES // PART.count("\n") - 1))
    return f"DEFINE walk(side, times) {{\n    MOVE side times\n}}\n{parts}" + "WAIT 1\n" * (PART.count("\n") - 3)


def compile_times() -> tuple[float, float]:
    """Return the seconds of the first compilation in this process, and of the second."""
    world = make_world(find_world("tallgrass"))
    compiler, text = ScriptCompiler(Target(world.view())), make_text()
    assert text.count("\n") == LINES
    cold, cached = seconds(lambda: compiler.compile(text)), seconds(lambda: compiler.compile(text))
    world.close()
    return cold, cached


def main() -> None:
    if "--once" in sys.argv:
        print(*compile_times())
        return
    words = [sys.executable, "-m", "benchmarks.bench_script_compile", "--once"]
    outputs = [subprocess.run(words, check=True, capture_output=True, text=True).stdout for _ in range(ROUNDS)]
    cold, cached = (min(column) for column in zip(*(map(float, it.split()) for it in outputs), strict=True))
    report("script_compile_cold", cold, COLD, at_least=False, unit=f"s for {LINES:,} lines")
    report("script_compile_cached", cached * 1000, CACHED, at_least=False, unit=f"ms for {LINES:,} lines")


if __name__ == "__main__":
    main()
