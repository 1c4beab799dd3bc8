"""Plans: what a call would do. Nothing is sent, nothing is written."""

from __future__ import annotations

import attrs

from searchport.errors import SearchError
from searchport_platform.metering.prices import WorstCase
from searchport_platform.metering.standing import Ask, Standing

__all__ = ["Plan", "build_plan", "render_plan"]


@attrs.frozen(kw_only=True)
class Plan:
    """What a call would do.

    worst_cases: of each provider that it can reach, in order; empty where a gate refuses it. left_today: searches of the agent.
    left_this_month_microusd: None where no budget is set. refusal: what the call would be refused with; None: it would go out.
    """

    worst_cases: tuple[WorstCase, ...] = ()
    max_results: int | None = None
    left_today: int | None = None
    left_this_month_microusd: int | None = None
    refusal: SearchError | None = None

    @property
    def provider(self) -> str | None:
        """Who would be asked first."""
        return self.worst_cases[0].provider if self.worst_cases else None

    @property
    def vendor_requests(self) -> int:
        """The most requests to the first provider."""
        return self.worst_cases[0].vendor_requests if self.worst_cases else 0

    @property
    def cost_microusd(self) -> int:
        """The most that the call can cost, its fallbacks included."""
        return sum(worst.cost_microusd for worst in self.worst_cases)


def build_plan(ask: Ask, standing: Standing) -> Plan:
    """The plan of a call that passed every gate."""
    budget = ask.admission.organization.monthly_budget_microusd
    return Plan(
        worst_cases=ask.worst_cases,
        max_results=ask.request.max_results,
        left_today=max(0, ask.admission.agent.max_searches_per_day - standing.used[ask.agent]),
        left_this_month_microusd=None if budget is None else max(0, budget - standing.spent[ask.organization]),
        refusal=standing.refuse(ask),
    )


def render_plan(plan: Plan) -> dict[str, object]:
    """The plan as the platform API's JSON object; `refused` is null, or holds the error's code, text and wait."""
    error = plan.refusal
    worst, *fallbacks = plan.worst_cases or (None,)
    refused = error and {"code": str(error.code), "detail": str(error), "retryAfter": error.retry_after}
    return {
        "dryRun": True,
        "provider": plan.provider,
        "maxResults": plan.max_results,
        "vendorRequests": 0 if worst is None else worst.vendor_requests,
        "worstCaseMicrousd": plan.cost_microusd,
        "fallbacks": [_render(fallback) for fallback in fallbacks if fallback is not None],
        "leftToday": plan.left_today,
        "leftThisMonthMicrousd": plan.left_this_month_microusd,
        "refused": refused,
    }


def _render(worst: WorstCase) -> dict[str, object]:
    return {
        "provider": worst.provider,
        "vendorRequests": worst.vendor_requests,
        "worstCaseMicrousd": worst.cost_microusd,
    }
