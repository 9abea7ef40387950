"""The file of the compiled part: whatever lies there, no process ends by it, and a run says what is wrong."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import lz4.block
import pytest

BUILD = Path(__file__).parents[3] / "native" / "build.py"
NAME = f"_native{sysconfig.get_config_var('EXT_SUFFIX')}"
RUN = """
import sys, ptp
ptp.__path__ = [sys.argv[1], *ptp.__path__]
from ptp.worlds import find_world, make_world
from ptp.worlds.gameboy.states import native_problem
world = make_world(find_world("tallgrass"))
world.load(world.save())
print(native_problem()); print(*world.remarks)
"""


def built() -> bytes:
    spec = find_spec("ptp._native")
    if spec is None or spec.origin is None:
        pytest.skip("the native part is not built: no C compiler")
    return Path(spec.origin).read_bytes()


def with_digest(data: bytes) -> bytes:
    return data + sha256(data).digest()


FILES: dict[str, Callable[[], bytes]] = {
    "nonsense": lambda: b"nonsense",
    "empty": lambda: b"",
    "cut off early": lambda: built()[:20_000],
    "cut off in the middle": lambda: built()[: len(built()) // 2],
    "cut off at its end": lambda: built()[:-1],
    "changed": lambda: built()[:5000] + bytes([built()[5000] ^ 1]) + built()[5001:],
    "another module": lambda: Path(lz4.block._block.__file__).read_bytes(),
    "another module that looks whole": lambda: with_digest(Path(lz4.block._block.__file__).read_bytes()),
    "nonsense that looks whole": lambda: with_digest(b"nonsense"),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_file_that_is_not_what_was_built_stands_back(tmp_path: Path, kind: str) -> None:
    (tmp_path / NAME).write_bytes(FILES[kind]())
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path)], capture_output=True, text=True, env=without_flag()
    )
    assert done.returncode == 0, (done.returncode, done.stderr)  # a negative one is a signal
    problem, remark = done.stdout.splitlines()
    assert remark == f"states are saved without the native part, which takes longer: {problem}"
    if "looks whole" not in kind:
        assert problem == f"{NAME} is not whole, or not what was built; run `make setup`"


def without_flag() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PTP_NATIVE"}


def test_a_run_that_is_told_to_do_without_says_so_and_can_rewind(tmp_path: Path) -> None:
    def ptp(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "ptp", *words, "--data-dir", str(tmp_path)],
            capture_output=True, text=True, check=True, env=os.environ | {"PTP_NATIVE": "0"},
        )  # fmt: skip

    ptp("run", "--world", "tallgrass", "--tick-rate-base", "0", "--max-ticks", "60", "-q")
    (log,) = tmp_path.glob("records/*/run.log")
    notices = [line["message"] for line in map(json.loads, log.read_text().splitlines()) if line["level"] == "warning"]
    assert notices == ["states are saved without the native part, which takes longer: PTP_NATIVE is 0"]
    assert "went back to tick 50" in ptp("rewind", "10").stdout
    ptp("resume", "latest", "--max-ticks", "60", "-q")
    assert ptp("replay", "latest", "--verify").stdout.startswith("equal: 60 ticks")


def test_where_the_compiler_fails_the_build_says_its_last_line_and_does_no_harm(tmp_path: Path) -> None:
    build = runpy.run_path(str(BUILD))
    scope = build["main"].__globals__
    scope["TARGET"] = tmp_path / "_native.so"
    scope["TARGET"].write_bytes(b"of an older PyBoy")
    scope["_missing"] = lambda: None
    scope["_compiler"] = lambda: [sys.executable, "-c", "import sys; sys.exit('no room left')"]
    said = build["main"]()
    assert said.startswith("The native part can't be built (no room left).")
    assert "\n" not in said
    assert not scope["TARGET"].exists()
