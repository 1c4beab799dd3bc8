"""Asking a toolkit in a test, with everything the platform would give it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from searchport.egress import Deadline
from searchport.request import SearchRequest
from searchport.result import SearchResponse
from searchport.toolkit import S, Toolkit

if TYPE_CHECKING:
    from searchport.egress import HttpClient

__all__ = ["ask"]


async def ask(
    toolkit: Toolkit[S],
    request: SearchRequest,
    *,
    http: HttpClient,
    credential: str | None = "test-key",
    settings: Mapping[str, object] | None = None,
    model: str | None = None,
    public_url: str | None = None,
    now: datetime | None = None,
    deadline_seconds: float = 5,
) -> SearchResponse:
    """What the toolkit returns for `request`, all pages joined, before any guarantee.

    http: from `FakeWeb.client()`, or an HttpClient under `vendor_wire`. settings: stored values, as an admin would give them.
    public_url: scheme, host and port of the server that the call would come through.
    Raises SearchError, as a call on the platform would.
    """
    web_search = toolkit.web_search
    web_search.check(request)
    built, _ = toolkit.build_settings(settings or {}, request.provider_options)
    deadline = Deadline.after(deadline_seconds)
    return await web_search.fetch(
        request,
        http=web_search.bind(http, deadline=deadline),
        settings=built,
        credential=None if toolkit.is_keyless else credential,
        now=now or datetime.now(UTC),
        deadline=deadline,
        model=model,
        public_url=public_url,
    )
