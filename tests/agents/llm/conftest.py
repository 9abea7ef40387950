"""What tests of the language-model agent share."""

from __future__ import annotations

import pytest

SECRET = "sk-very-secret-0123456789"


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, SECRET)
