"""What a search would do, as the platform's `dryRun` tells it."""

from __future__ import annotations

import attrs

from searchport.errors import ErrorCode

__all__ = ["PlanRefusal", "PlannedProvider", "SearchPlan"]


@attrs.frozen(kw_only=True)
class PlannedProvider:
    """A fallback that the search can reach. worst_case_microusd: the most it can cost, in millionths of a US dollar."""

    provider: str
    vendor_requests: int
    worst_case_microusd: int


@attrs.frozen(kw_only=True)
class PlanRefusal:
    """What the search would be refused with. detail: the error's text. retry_after: seconds; None: not said."""

    code: ErrorCode
    detail: str
    retry_after: float | None = None


@attrs.frozen(kw_only=True)
class SearchPlan:
    """What a search would do; nothing was sent, counted or written.

    provider: who would be asked first; None where a gate refuses the call. vendor_requests: the most requests to it.
    worst_case_microusd: the most that the search can cost, fallbacks included, in millionths of a US dollar.
    left_today: searches of the agent. left_this_month_microusd: None where no budget is set.
    refused: what it would be refused with; None: it would go out.
    """

    provider: str | None = None
    max_results: int | None = None
    vendor_requests: int
    worst_case_microusd: int
    fallbacks: tuple[PlannedProvider, ...] = ()
    left_today: int | None = None
    left_this_month_microusd: int | None = None
    refused: PlanRefusal | None = None
