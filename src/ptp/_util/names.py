"""Names that people give to what is kept in files."""

from __future__ import annotations

import re

ALLOWED = "letters, digits, spaces, and - _ + . between them"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _+.-]*")


def can_be_typed(name: str, longest: int = 100) -> bool:
    """Whether a name stays in its folder and can be typed again."""
    return len(name) <= longest and _NAME.fullmatch(name) is not None and ".." not in name
