"""What a vendor's requests cost, as its toolkit declares it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

import attrs

__all__ = ["Price"]


@attrs.frozen(kw_only=True)
class Price:
    """US dollars for a thousand requests, of a vendor for which one number is not the whole truth.

    usd: without a model, and of models that are not listed. models: model -> its own number. usd_per_further_result: added for
    every result that a request asks for beyond `included_results`.
    """

    usd: Decimal = attrs.field(kw_only=False)
    models: Mapping[str, Decimal] = attrs.field(factory=dict)
    usd_per_further_result: Decimal = Decimal(0)
    included_results: int = 10

    def of(self, model: str | None, results: int) -> Decimal:
        """US dollars for a thousand requests of one model, each for so many results."""
        further = max(0, results - self.included_results)
        return self.models.get(model or "", self.usd) + self.usd_per_further_result * further

    @property
    def mistake(self) -> str | None:
        """What is wrong with it, None where nothing is."""
        amounts = {"usd": self.usd, "usd_per_further_result": self.usd_per_further_result, **self.models}
        wrong = [name for name, amount in amounts.items() if not _is_amount(amount)]
        return f"{wrong[0]} is {amounts[wrong[0]]!r}" if wrong else None


def _is_amount(amount: object) -> bool:
    return isinstance(amount, Decimal) and amount.is_finite() and amount >= 0
