"""The gates on coverage hold what they say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.coverage_gates import GATES, covered, main

SOURCE = Path(__file__).parent.parent / "src" / "ptp"


def measured(percent: float) -> dict[str, object]:
    files = [str(path.relative_to(SOURCE.parent.parent)) for path in SOURCE.rglob("*.py")]
    summary = {"covered_lines": percent, "num_statements": 60, "covered_branches": 0, "num_branches": 40}
    return {"files": {file: {"summary": summary} for file in files}}


def test_every_part_has_files_and_its_gate(tmp_path: Path) -> None:
    report = tmp_path / "coverage.json"
    for percent, code in ((96, 0), (94, 1), (79, 1)):
        report.write_text(json.dumps(measured(percent)))
        assert main(report) == code


def test_what_is_promised_for_each_part() -> None:
    promised = {"flags": 95, "config": 90, "snapshots": 90, "ingest": 85, "export": 80, "web": 85, "versions": 90}
    promised["adapter"] = 95
    assert {part: gate for part, (gate, _) in GATES.items() if part != "everything"} == promised


def test_a_part_without_files_is_an_error() -> None:
    with pytest.raises(SystemExit, match="no file is measured"):
        covered({}, ("nothing/*",))
