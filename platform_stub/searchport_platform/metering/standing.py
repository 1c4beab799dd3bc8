"""The standing of some organizations: what their agents and they themselves have used, and what a further call may still take."""

from __future__ import annotations

from collections.abc import Collection
from math import inf
from typing import Self

import attrs
from sqlalchemy.ext.asyncio import AsyncConnection

from searchport.errors import SearchError
from searchport.request import SearchRequest
from searchport_platform.metering import budgets, caps, limits
from searchport_platform.metering.moments import Moment
from searchport_platform.metering.prices import WorstCase
from searchport_platform.tenancy.admission import Admission

__all__ = ["Ask", "Standing"]


@attrs.frozen(kw_only=True)
class Ask:
    """One call that passed every gate. worst_cases: of each provider that it can reach, the first asked first.

    longest_seconds: when its door's clients give up.
    """

    admission: Admission
    request: SearchRequest
    worst_cases: tuple[WorstCase, ...]
    longest_seconds: float = inf

    @property
    def deadline_seconds(self) -> float:
        """How long the whole call may take."""
        return min(self.admission.selection.deadline_seconds, self.longest_seconds)

    @property
    def organization(self) -> str:
        """The organization's id."""
        return self.admission.organization.id

    @property
    def agent(self) -> tuple[str, str]:
        """The organization's and the agent's id."""
        return self.organization, self.admission.agent.id

    @property
    def cost_microusd(self) -> int:
        """The most that it can cost: a provider that fails after its last page, then the next, and so on, is paid for each."""
        return sum(worst.cost_microusd for worst in self.worst_cases)


@attrs.define(kw_only=True)
class Standing:
    """What is used at one moment. used: agent -> searches today. spent: organization -> micro-USD this month.

    recent: organization -> when its last searches began, newest first, in milliseconds; only where its rate is limited.
    """

    moment: Moment
    used: dict[tuple[str, str], int] = attrs.field(factory=dict)
    spent: dict[str, int] = attrs.field(factory=dict)
    recent: dict[str, list[int]] = attrs.field(factory=dict)

    @classmethod
    async def read(cls, connection: AsyncConnection, asks: Collection[Ask], moment: Moment, *, lock: bool) -> Self:
        """The standing of everyone who asks. lock: nobody else counts until commit; their organizations are held already."""
        organizations = {ask.organization: ask.admission.organization for ask in asks}
        asked = {(organization, moment.month) for organization in organizations}
        spent = await budgets.read(connection, asked, lock=lock)
        used = await caps.read(connection, {(*ask.agent, moment.day) for ask in asks}, lock=lock)
        limited = {of: found.searches_per_minute for of, found in organizations.items() if found.searches_per_minute is not None}
        return cls(
            moment=moment,
            used={(organization, agent): searches for (organization, agent, _), searches in used.items()},
            spent={organization: spent[organization, month] for organization, month in asked},
            recent=await limits.read_recent(connection, limited, moment),
        )

    def refuse(self, ask: Ask) -> SearchError | None:
        """Why the call cannot be admitted; None where it can."""
        organization = ask.admission.organization
        return (
            caps.refuse(self.used[ask.agent], ask.admission.agent.max_searches_per_day, self.moment)
            or budgets.refuse(self.spent[organization.id], ask.cost_microusd, organization.monthly_budget_microusd, self.moment)
            or limits.refuse_rate(self.recent.get(organization.id, ()), organization.searches_per_minute, self.moment)
        )

    def take(self, ask: Ask) -> None:
        """Counts the call as admitted."""
        self.used[ask.agent] += 1
        self.spent[ask.organization] += ask.cost_microusd
        if ask.organization in self.recent:
            self.recent[ask.organization].insert(0, self.moment.milliseconds)

    async def write(self, connection: AsyncConnection, before: Standing) -> None:
        """Writes what was taken since `before`, which was read in this transaction. Raises CounterMovedError."""
        months = {
            (organization, self.moment.month): (before.spent[organization], spent - before.spent[organization])
            for organization, spent in self.spent.items()
            if spent != before.spent[organization]
        }
        days = {
            (*agent, self.moment.day): (before.used[agent], used - before.used[agent])
            for agent, used in self.used.items()
            if used != before.used[agent]
        }
        await budgets.reserve(connection, months)
        await caps.count(connection, days)

    def copy(self) -> Standing:
        """A standing that changes on its own."""
        recent = {organization: list(began) for organization, began in self.recent.items()}
        return attrs.evolve(self, used=dict(self.used), spent=dict(self.spent), recent=recent)
