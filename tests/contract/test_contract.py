"""The product keeps the contract, item by item."""

from __future__ import annotations

import pytest

from tests.contract.answers import differences
from tests.contract.audit import Absent, Item, items, read_contract
from tests.contract.coming import COMING
from tests.contract.product import Product

ITEMS = list(items(read_contract()))


@pytest.mark.parametrize("item", ITEMS, ids=str)
def test_a_promise_is_kept_or_is_known_to_come(item: Item, product: Product) -> None:
    outcome, why = item.outcome(product)
    if str(item).startswith(COMING):
        assert outcome == "missing", f"{item} is {outcome}: take it out of coming.py"
    else:
        assert outcome != "missing", why


def test_what_is_to_come_is_part_of_the_contract() -> None:
    assert [start for start in COMING if not any(str(item).startswith(start) for item in ITEMS)] == []


def test_no_item_stands_twice() -> None:
    names = [str(item) for item in ITEMS]
    assert len(names) == len(set(names)) > 500


def test_there_are_28_examples_of_runs() -> None:
    assert sum(item.kind == "example" for item in ITEMS) == 28


def test_an_item_is_missing_when_it_is_absent_or_wrong_and_later_only_when_it_is_absent(product: Product) -> None:
    def absent(_: Product) -> str | None:
        raise Absent("gone")

    def wrong(_: Product) -> str | None:
        return "is 3"

    assert Item("a", "b", absent).outcome(product) == ("missing", "gone")
    assert Item("a", "b", absent, later="Agents").outcome(product) == ("later", "Agents")
    assert Item("a", "b", wrong, later="Agents").outcome(product) == ("missing", "is 3")


def test_a_field_of_another_type_or_in_no_answer_is_found() -> None:
    answers = [{"a": {"b": 1}, "c": [{"d": None}]}, {"a": {}, "c": []}]
    assert differences(answers, "a.b", "int") is None
    assert differences(answers, "a.b", "str") == "is 1"
    assert differences(answers, "c[].d", "int") == "is in no answer"
    assert differences(answers, "c[].d", "int?") is None
    assert differences(answers, "c[].e", "int?") == "is in no answer"
