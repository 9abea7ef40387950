"""The compiled part: the same bytes as PyBoy's own way, or it stands back and says why."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import types
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ptp.errors import WorldError
from ptp.worlds import find_world, make_world
from ptp.worlds.gameboy import states
from ptp.worlds.gameboy.states import StockStates, open_states

BUILD = Path(__file__).parents[3] / "native" / "build.py"


@pytest.fixture
def env() -> Any:
    world = make_world(find_world("tallgrass"))
    yield world.env
    world.close()


@pytest.fixture
def fast(env: Any) -> Any:
    if find_spec("ptp._native") is None or os.environ.get("PTP_NATIVE") == "0":
        if os.environ.get("PTP_REQUIRE_ALL") and os.environ.get("PTP_NATIVE") != "0":
            pytest.fail("the native part is not built")
        pytest.skip("the native part is not built: no C compiler, or PTP_NATIVE=0")
    found = open_states(env.pyboy)
    assert states.native_problem() is None
    return found


def test_saved_states_are_byte_for_byte_those_of_pyboy(env: Any, fast: Any) -> None:
    stock = StockStates(env.pyboy)
    for action in range(60):
        env.advance(action % 8)
        assert fast.save() == stock.save()


def test_play_goes_on_equally_whichever_way_a_state_was_loaded(env: Any, fast: Any) -> None:
    stock = StockStates(env.pyboy)
    for action in range(40):
        env.advance(action % 8)
    state, futures = stock.save(), []
    for way in (stock, fast):
        assert way.load(state) == 0
        for action in range(30):
            env.advance(action % 8)
        futures.append((stock.save(), env.pixels.tobytes()))
    assert futures[0] == futures[1]


def test_a_state_that_ends_too_early_or_too_late_is_refused(env: Any, fast: Any) -> None:
    state = fast.save()
    with pytest.raises(EOFError):
        fast.load(state[:1000])
    assert fast.load(state + b"more") == 4
    with pytest.raises(WorldError, match="damaged or of another game"):
        env.load(state[:-1])


def begin_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget that the compiled part stood back, or was built, in this process."""
    monkeypatch.setattr(states, "_problem", None)
    monkeypatch.delenv("PTP_NATIVE", raising=False)


class Foreign(types.ModuleType):
    BUILT_FOR = "1.0"

    class States:
        def __init__(self, pyboy: Any) -> None:
            pass

        def save(self) -> bytes:
            return b"something else"


def test_one_that_was_built_for_another_pyboy_stands_back(env: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    begin_anew(monkeypatch)
    monkeypatch.setitem(sys.modules, "ptp._native", Foreign("ptp._native"))
    assert isinstance(open_states(env.pyboy), StockStates)
    assert "built for PyBoy 1.0" in str(states.native_problem())


def test_one_that_gives_other_bytes_stands_back(env: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    begin_anew(monkeypatch)
    foreign = Foreign("ptp._native")
    monkeypatch.setattr(Foreign, "BUILT_FOR", version("pyboy"))
    monkeypatch.setitem(sys.modules, "ptp._native", foreign)
    assert isinstance(open_states(env.pyboy), StockStates)
    assert "other bytes" in str(states.native_problem())


def test_a_broken_file_stands_back_and_a_run_says_so(tmp_path: Path) -> None:
    """In a process of its own, with a package whose compiled part is nonsense."""
    code = (
        "import sys, importlib.machinery, ptp\n"
        "ptp.__path__ = [*ptp.__path__, sys.argv[1]]\n"
        "sys.modules.pop('ptp._native', None)\n"
        "ptp.__path__.reverse()\n"
        "from ptp.worlds import find_world, make_world\n"
        "from ptp.worlds.gameboy.states import native_problem\n"
        "world = make_world(find_world('tallgrass'))\n"
        "print(native_problem()); print(*world.remarks)\n"
    )
    import sysconfig

    (tmp_path / f"_native{sysconfig.get_config_var('EXT_SUFFIX')}").write_bytes(b"nonsense")
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    problem, remark = done.stdout.splitlines()
    assert problem not in ("", "None")
    assert "without the native part" in remark


@pytest.mark.parametrize(
    ("missing", "said"),
    [("PATH", "there is no C compiler"), ("Cython", "Cython is not installed"), ("headers", "headers are missing")],
)
def test_where_something_is_missing_the_build_says_what_and_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str, said: str
) -> None:
    build = runpy.run_path(str(BUILD))
    scope = build["main"].__globals__
    scope["TARGET"] = tmp_path / "_native.so"
    scope["TARGET"].write_bytes(b"of an older PyBoy")
    if missing == "PATH":
        monkeypatch.setenv("PATH", str(tmp_path))
        scope["find_spec"] = lambda name: name
    elif missing == "headers":
        scope["find_spec"] = lambda name: name
        scope["sysconfig"] = types.SimpleNamespace(
            get_config_var=lambda name: sys.executable, get_path=lambda name: str(tmp_path)
        )
    else:
        scope["find_spec"] = lambda name: None if name == missing else name
    assert said in build["main"]()
    assert not scope["TARGET"].exists()
