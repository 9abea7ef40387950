"""The rooms of the house, and the one way in which data flows through them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import ptp

SRC = Path(ptp.__file__).parent

# A room may import the rooms above it, never one below.
ROOMS = (
    "errors",
    "_util",
    "http",
    "records",
    "versioning",
    "config",
    "worlds",
    "scripts",
    "agents",
    "engine",
    "sinks",
    "snapshots",
    "recording",
    "frames",
    "replay",
    "retention",
    "runner",
    "runs",
    "api",
    "aggregation",
    "emulators",
    "web",
    "cli",
    "testing",
)


def room_of(path: Path) -> str:
    return path.relative_to(SRC).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            rooms |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("ptp.")}
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("ptp."):
            rooms.add(node.module.split(".")[1])
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path} has a relative import; write it out"
    return rooms


MODULES = [path for path in sorted(SRC.rglob("*.py")) if room_of(path) not in {"__init__", "__main__"}]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SRC)))
def test_a_module_imports_only_rooms_above_its_own(path: Path) -> None:
    room = room_of(path)
    above = set(ROOMS[: ROOMS.index(room) + 1])
    assert imported_rooms(path) <= above


def test_every_room_is_in_the_list() -> None:
    assert {room_of(path) for path in MODULES} == set(ROOMS)


def test_the_engine_does_no_input_or_output() -> None:
    forbidden = {"os", "pathlib", "sqlite3", "apsw", "socket", "subprocess", "logging", "io", "shutil", "time"}
    for path in (SRC / "engine").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert not {name.split(".")[0] for name in names} & forbidden, path
            assert not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open"), path


def test_nothing_is_pickled() -> None:
    for path in MODULES:
        assert "pickle" not in {name.split(".")[0] for name in imported_modules(path)}, path


def imported_modules(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def test_records_are_a_leaf_of_plain_data() -> None:
    allowed = {"ptp", "msgspec", "functools", "types", "typing", "__future__"}
    for path in (SRC / "records").glob("*.py"):
        assert imported_rooms(path) <= {"records", "errors", "_util"}
        assert {name.split(".")[0] for name in imported_modules(path)} <= allowed, path
