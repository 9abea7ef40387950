"""Any value that a setting may have."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ptp.config.setting import Setting

TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=20)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
OPTIONS = st.dictionaries(TEXT, st.recursive(st.none() | st.booleans() | NUMBERS | TEXT, st.lists, max_leaves=5))
TOGETHER = {"--verbose", "--quiet", "--tick-rate-budget", "--tick-rate-budget-limit"}
"""Settings whose values depend on each other."""


def value_of(item: Setting) -> st.SearchStrategy[Any]:
    kinds: dict[type, st.SearchStrategy[Any]] = {
        bool: st.booleans(),
        tuple: st.lists(st.sampled_from(item.choices or ("",)), unique=True).map(tuple),
        int: st.integers(int(item.least or 0), int(item.most or 10**9)),
        float: st.floats(item.least or 0, item.most or 1e20),
        dict: OPTIONS,
        str: st.sampled_from(item.choices) if item.choices else TEXT,
    }
    return st.none() | kinds[item.type] if item.optional else kinds[item.type]
