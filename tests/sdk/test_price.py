"""What a request costs by its model and its results."""

from decimal import Decimal

import pytest

from searchport.price import Price

PRICE = Price(Decimal(7), models={"deep": Decimal(12)}, usd_per_further_result=Decimal(1))


@pytest.mark.parametrize(
    ("model", "results", "usd"),
    [(None, 1, 7), (None, 10, 7), (None, 50, 47), ("deep", 10, 12), ("deep", 12, 14), ("unheard", 10, 7)],
)
def test_a_price_is_of_the_model_and_of_every_result_beyond_those_included(model: str | None, results: int, usd: int) -> None:
    assert PRICE.of(model, results) == usd


@pytest.mark.parametrize("price", [Price(Decimal(5)), PRICE])
def test_a_whole_price_has_no_mistake(price: Price) -> None:
    assert price.mistake is None


@pytest.mark.parametrize("usd", [5, Decimal(-1), Decimal("Infinity")])
def test_what_is_no_amount_is_named(usd: Decimal) -> None:
    assert Price(Decimal(5), models={"deep": usd}).mistake == f"deep is {usd!r}"
