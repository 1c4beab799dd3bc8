"""What a provider works with: the page, the window, the client and the settings of one call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Literal

import attrs

from searchport.errors import ErrorCode, SearchError
from searchport.request import Recency
from searchport.result import Cursor
from searchport.toolkit import S

if TYPE_CHECKING:
    from searchport.egress import Deadline, HttpClient

__all__ = ["Page", "SearchContext", "SearchModel", "Window", "fixed_models"]


@attrs.frozen
class SearchModel:
    """A tier or engine of a vendor that an admin can choose."""

    id: str
    name: str
    capability: Literal["webSearch"] = attrs.field(default="webSearch", init=False)


@attrs.frozen(kw_only=True)
class Page:
    """Which part of the answer to fetch.

    number: from 1. offset: results before this page, from 0. size: rows a page, the same on every page of a call.
    cursor: the `next_page` of the page before; None on the first.
    """

    number: int = 1
    offset: int = 0
    size: int
    cursor: Cursor | None = None


@attrs.frozen(kw_only=True)
class Window:
    """The vendor's window for one call. value: the vendor's own word for it. since: its beginning, for custom ranges."""

    recency: Recency
    value: str
    since: datetime


@attrs.frozen(kw_only=True)
class SearchContext(Generic[S]):
    """What a provider works with; it has no environment, no clock and no state of its own.

    http: the only way out. settings: an instance of the toolkit's settings class. model: the selected `SearchModel` id.
    window: what to send for recency and freshness; None: nothing. language, country: the vendor's codes. deadline: of the
    whole call. now: aware, UTC. public_url: scheme, host and port under which this server is reached; None where it
    serves nothing.
    """

    http: HttpClient
    page: Page
    settings: S
    now: datetime
    deadline: Deadline
    window: Window | None = None
    language: str | None = None
    country: str | None = None
    model: str | None = None
    public_url: str | None = None
    _credential: str | None = attrs.field(default=None, repr=False)

    @property
    def window_value(self) -> str | None:
        """The vendor's own word for the window; None where there is none to send."""
        return None if self.window is None else self.window.value

    @property
    def lower_country(self) -> str | None:
        """`country` in lower case, as some vendors spell it; None where there is none."""
        return None if self.country is None else self.country.lower()

    @property
    def credential(self) -> str:
        """The organization's key. Raises SearchError (`provider_not_configured`) where there is none."""
        if not self._credential:
            raise SearchError(ErrorCode.PROVIDER_NOT_CONFIGURED, reason="no key is stored")
        return self._credential

    @property
    def bearer(self) -> dict[str, str]:
        """The header of a vendor that takes the key as a bearer token (RFC 6750, section 2.1). Raises as `credential` does."""
        return {"Authorization": f"Bearer {self.credential}"}


def fixed_models(
    ids: str, names: Mapping[str, str] | None = None
) -> Callable[[SearchContext[Any]], Awaitable[list[SearchModel]]]:
    """The `fetch_models` of a vendor whose tiers only its documentation lists.

    ids: by white space, in the order to show. names: id -> words to show, where they are not the id's own: `deep-lite` is
    shown as "Deep lite".
    """
    shown = {id_: id_.replace("-", " ").replace("_", " ").capitalize() for id_ in ids.split()} | {**(names or {})}
    models = [SearchModel(id=id_, name=name) for id_, name in shown.items()]

    async def fetch_models(_: SearchContext[Any]) -> list[SearchModel]:
        return models

    return fetch_models
