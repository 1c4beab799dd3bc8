"""Prices: what a vendor's request costs, as declared or as the operator's table says; money is whole micro-USD."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from searchport_platform.registry import AnyToolkit

__all__ = ["MICROUSD", "Prices", "PricesError", "WorstCase", "parse_usd", "write_usd"]

MICROUSD = 1_000_000
"""Micro-USD in a US dollar."""

RETRIES = 1
"""Requests that one call may send to one provider again, as `routing.resilience.RetryOnce` allows; each is paid for."""

_LARGEST_PRICE = 1_000_000
_EXAMPLE = '{"brave": 3.5}'


class PricesError(ValueError):
    """A price table that cannot be used; its text says what is allowed."""


@attrs.frozen(kw_only=True)
class WorstCase:
    """The most that asking one provider can take.

    vendor_requests: one for each page. cost_microusd: of these, and of the one that is sent again where a vendor fails.
    """

    provider: str
    vendor_requests: int
    cost_microusd: int
    usd_per_1000: Decimal

    def cost_of(self, vendor_requests: int) -> int:
        """What so many requests cost, in micro-USD, rounded up."""
        return math.ceil(self.usd_per_1000 * vendor_requests * MICROUSD / 1_000)


@attrs.frozen
class Prices:
    """The operator's table, provider id -> US dollars for 1,000 requests, over what the toolkits declare."""

    table: Mapping[str, Decimal] = attrs.field(factory=lambda: MappingProxyType({}))

    @classmethod
    def parse(cls, text: str) -> Prices:
        """The table in a JSON object, every number exact; empty text is an empty table. Raises PricesError."""
        if not text.strip():
            return cls()
        try:
            loaded = json.loads(text, parse_float=Decimal, parse_int=Decimal, parse_constant=_refuse_constant)
        except (ValueError, InvalidOperation, RecursionError):
            loaded = None
        if not isinstance(loaded, dict):
            raise PricesError(f"not a JSON object from provider id to US dollars for 1,000 requests, such as {_EXAMPLE}")
        for provider, price in loaded.items():
            if not isinstance(price, Decimal) or not 0 <= price <= _LARGEST_PRICE:
                raise PricesError(f"the price of {provider[:64]!r} is no number from 0 to {_LARGEST_PRICE:,}")
        return cls(MappingProxyType(loaded))

    def of(self, toolkit: AnyToolkit, model: str | None, results: int) -> Decimal:
        """US dollars for 1,000 requests, each for so many results; zero where nobody names a price."""
        declared = toolkit.web_search.price
        return self.table.get(toolkit.id, Decimal(0) if declared is None else declared.of(model, results))

    def worst_case(self, toolkit: AnyToolkit, max_results: int, *, model: str | None = None) -> WorstCase:
        """The most that a call for `max_results` can take of one provider."""
        pages = toolkit.web_search.page_limit(max_results)
        price = self.of(toolkit, model, min(max_results, toolkit.web_search.page_size))
        worst = WorstCase(provider=toolkit.id, vendor_requests=pages, cost_microusd=0, usd_per_1000=price)
        return attrs.evolve(worst, cost_microusd=worst.cost_of(pages + RETRIES))


def _refuse_constant(name: str) -> Decimal:
    raise ValueError(f"{name} is no price")


def parse_usd(value: object) -> int:
    """A number or text of US dollars with at most six decimals, as micro-USD. Raises ValueError."""
    try:
        amount = Decimal(str(value)) if isinstance(value, str | int | float) and not isinstance(value, bool) else None
    except InvalidOperation:
        amount = None
    if amount is None or not amount.is_finite() or not 0 <= amount <= 1_000_000_000 or amount * MICROUSD % 1:
        raise ValueError("expected US dollars from 0 to 1,000,000,000 with at most six decimals")
    return int(amount * MICROUSD)


def write_usd(microusd: int) -> str:
    """Micro-USD as text of US dollars, two decimals or as many as it takes: `12.50`, `0.000125`."""
    whole, part = divmod(abs(microusd), MICROUSD)
    decimals = f"{part:06d}".rstrip("0").ljust(2, "0")
    return f"{'-' if microusd < 0 else ''}{whole}.{decimals}"
