"""What became of a run: `report.json` for programs and `report.html` for people."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ptp._util.files import write_atomic
from ptp.recording.directory import RunDirectory
from ptp.recording.figures import make_report
from ptp.recording.page import render_page


def write_report(directory: RunDirectory) -> Path:
    """Write both forms of the report and return the path of the page."""
    report = make_report(directory)
    encoded = msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n"
    write_atomic(directory.path / "report.json", encoded)
    page = directory.path / "report.html"
    write_atomic(page, render_page(report, directory.path).encode())
    return page
