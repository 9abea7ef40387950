"""The runs that the contract is checked on, played once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract.product import Product
from tests.contract.runs import Shelf


@pytest.fixture(scope="session")
def shelf(product: Product) -> Shelf:
    return product.shelf


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with Product.playing(tmp_path_factory.mktemp("contract")) as product:
        yield product
