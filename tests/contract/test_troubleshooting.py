"""The troubleshooting guide speaks of messages that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.contract.audit import texts

PAGE = Path(__file__).parents[2] / "docs" / "troubleshooting.md"
MESSAGES = re.findall(r"^\| `(.+?)` \|", PAGE.read_text(), flags=re.M)


@pytest.mark.parametrize("message", MESSAGES)
def test_a_quoted_message_is_one_that_ptp_says(message: str) -> None:
    for part in filter(None, (part.strip(" ;:(") for part in message.split("…"))):
        assert part in texts(), part


def test_every_row_has_message_cause_and_remedy() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ") and "---" not in line]
    assert all(line.count(" | ") == 2 for line in rows)
    assert len(MESSAGES) == len([line for line in rows if not line.startswith("| message")]) > 30
