"""The Custom Search drop-in: Google's own client unmodified, and our own provider behind it."""

import asyncio
import html
from collections.abc import AsyncIterator, Callable
from typing import Any

import attrs
import pytest
from google.api_core.client_options import ClientOptions
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError

from searchport import ErrorCode, Recency, Safe, SearchError, SearchRequest, SearchResult
from searchport_platform.doors.compat import answers
from searchport_platform.registry import Registry
from searchport_platform.routing.clients import HttpClients
from searchport_platform.routing.router import Route, Router

PATH = "/compat/google/customsearch/v1"


@pytest.fixture
def call(place: Any) -> Callable[..., Any]:
    """One `cse().list` of an unmodified client; `call(q="tea", num=3)`."""

    async def called(*, key: str | None = None, path: str = "cse", **given: Any) -> dict[str, Any]:
        def run() -> dict[str, Any]:
            options = ClientOptions(api_endpoint=f"{place.url}/compat/google/")
            with build("customsearch", "v1", developerKey=key or place.token, client_options=options) as service:
                resource = service.cse() if path == "cse" else service.cse().siterestrict()
                return resource.list(**given).execute()

        return await asyncio.to_thread(run)

    return called


async def get(place: Any, token: str | None = None, **given: str) -> tuple[int, dict[str, Any]]:
    async with place.client.get(PATH, params={"key": token or place.token, **given}) as response:
        return response.status, await response.json()


async def test_googles_client_gets_the_organizations_results(place: Any, call: Any) -> None:
    place.ours.pages(3, snippet="About <form> & so on", published_date="2026-09-20")
    answer = await call(q="tea", cx="acme")
    assert answer["items"][0] == {
        "kind": "customsearch#result",
        "title": "Page 1",
        "htmlTitle": "Page 1",
        "link": "https://pages.example/1",
        "displayLink": "pages.example",
        "snippet": "About <form> & so on",
        "htmlSnippet": "About &lt;form&gt; &amp; so on",
        "formattedUrl": "https://pages.example/1",
        "htmlFormattedUrl": "https://pages.example/1",
        "pagemap": {"metatags": [{"article:published_time": "2026-09-20"}]},
    }


async def test_the_path_of_listed_sites_is_the_same_search(call: Any) -> None:
    assert len((await call(path="siterestrict", q="tea", cx="acme"))["items"]) == 3


async def test_a_query_too_long_for_a_url_comes_as_a_form(place: Any, call: Any) -> None:
    query = "größe & " * 240
    assert (await call(q=query, cx="acme"))["queries"]["request"][0]["searchTerms"] == query
    assert [request.query for request in place.ours.asked] == [query]


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({}, {"q": "tea"}),
        ({"X-HTTP-Method-Override": "POST"}, {"q": "tea"}),
        ({"X-HTTP-Method-Override": "GET", "Content-Type": "application/json"}, '{"q": "tea"}'),
    ],
)
async def test_no_other_post_is_served(place: Any, headers: dict[str, str], body: Any) -> None:
    async with place.client.post(PATH, params={"key": place.token}, headers=headers, data=body) as response:
        assert (response.status, response.headers["Allow"]) == (405, "GET")
    assert place.ours.asked == []


async def test_no_results_is_an_answer_without_items(place: Any, call: Any) -> None:
    place.ours.outcome = []
    answer = await call(q="tea", cx="acme")
    assert "items" not in answer
    assert answer["searchInformation"]["totalResults"] == "0"


async def test_every_text_is_escaped_where_it_is_html(place: Any, call: Any) -> None:
    place.ours.outcome = [SearchResult("1 < 2 & 3", "https://pages.example/?a=1&b=2", snippet='"<script>"')]
    (item,) = (await call(q="tea", cx="acme"))["items"]
    for plain, marked in (("title", "htmlTitle"), ("snippet", "htmlSnippet"), ("formattedUrl", "htmlFormattedUrl")):
        assert item[marked] == html.escape(item[plain])
        assert "<" not in item[marked]


async def test_an_offset_is_a_slice_of_more(place: Any, call: Any) -> None:
    place.ours.pages(50)
    answer = await call(q="tea", cx="acme", num=10, start=21)
    assert [f"https://pages.example/{n}" for n in range(21, 31)] == [item["link"] for item in answer["items"]]
    assert [request.max_results for request in place.ours.asked] == [30]
    assert (answer["queries"]["nextPage"][0]["startIndex"], answer["queries"]["previousPage"][0]["startIndex"]) == (31, 11)


async def test_the_number_of_results_is_the_one_that_was_found(place: Any, call: Any) -> None:
    place.ours.pages(14)
    first, second = await call(q="tea", num=10), await call(q="tea", num=10, start=11)
    assert [first["searchInformation"]["totalResults"], second["searchInformation"]["totalResults"]] == ["10", "14"]
    assert [len(first["items"]), len(second["items"])] == [10, 4]
    assert ("nextPage" in first["queries"], "nextPage" in second["queries"]) == (True, False)


async def test_the_last_page_that_is_served_names_no_next_one(place: Any, call: Any) -> None:
    place.ours.pages(50)
    answer = await call(q="tea", num=10, start=41)
    assert (len(answer["items"]), "nextPage" in answer["queries"]) == (10, False)


@pytest.mark.parametrize(("limit", "start"), [(50, 42), (50, 100), (15, 11)])
async def test_a_page_beyond_the_maximum_is_refused(place: Any, limit: int, start: int) -> None:
    await place.select("ours", max_results=limit)
    status, body = await get(place, q="tea", num="10", start=str(start))
    assert (status, body["error"]["status"]) == (400, "INVALID_ARGUMENT")
    assert f"$.start: this page ends at result {start + 9}" in body["error"]["message"]
    assert place.ours.asked == []


async def test_a_count_above_the_organizations_maximum_is_refused_by_its_name_here(place: Any) -> None:
    await place.select("ours", max_results=5, default_results=5)
    status, body = await get(place, q="tea", num="10")
    assert (status, "$.num: 10 is above" in body["error"]["message"]) == (400, True)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"dateRestrict": "d1"}, {"recency": Recency.DAY}),
        ({"dateRestrict": "w"}, {"recency": Recency.WEEK}),
        ({"dateRestrict": "d3"}, {"freshness": "P3D"}),
        ({"dateRestrict": "w2"}, {"freshness": "P14D"}),
        ({"dateRestrict": "m6"}, {"freshness": "P186D"}),
        ({"dateRestrict": "y2"}, {"freshness": "P732D"}),
        ({"siteSearch": "Example.com"}, {"site": "example.com"}),
        ({"siteSearch": "example.com", "siteSearchFilter": "i"}, {"site": "example.com"}),
        ({"safe": "off"}, {"safe": Safe.OFF}),
        ({"safe": "medium"}, {"safe": Safe.MODERATE}),
        ({"safe": "active"}, {"safe": Safe.STRICT}),
        ({"safe": "high"}, {"safe": Safe.STRICT}),
        ({"lr": "lang_de"}, {"language": "de"}),
        ({"lr": "lang_iw"}, {"language": "he"}),
        ({"hl": "pt-BR"}, {"language": "pt-BR"}),
        ({"hl": "fr", "lr": "lang_zh-TW"}, {"language": "zh-TW"}),
        ({"gl": "uk"}, {"country": "GB"}),
        ({"gl": "de", "num": 3}, {"country": "DE", "max_results": 3}),
    ],
)
async def test_an_honoured_parameter_reaches_the_provider(
    place: Any, call: Any, given: dict[str, Any], expected: dict[str, Any]
) -> None:
    await call(q="tea", cx="acme", **given)
    assert place.ours.asked == [SearchRequest("tea", **expected)]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"num": "11"}, "num"),
        ({"num": "0"}, "num"),
        ({"num": "3.0"}, "num"),
        ({"num": "٣"}, "num"),
        ({"start": "0"}, "start"),
        ({"start": "101"}, "start"),
        ({"dateRestrict": "d0"}, "dateRestrict"),
        ({"dateRestrict": "h3"}, "dateRestrict"),
        ({"dateRestrict": "y99999"}, "dateRestrict"),
        ({"siteSearch": "https://example.com/"}, "siteSearch"),
        ({"siteSearch": "example.com", "siteSearchFilter": "e"}, "siteSearchFilter"),
        ({"safe": "on"}, "safe"),
        ({"lr": "de"}, "lr"),
        ({"lr": "lang_de|lang_fr"}, "lr"),
        ({"gl": "usa"}, "gl"),
        ({"alt": "media"}, "alt"),
        ({"searchType": "image"}, "searchType"),
        ({"exactTerms": "green tea"}, "exactTerms"),
        ({"sort": "date"}, "sort"),
        ({"fields": "items(link)"}, "fields"),
    ],
)
async def test_what_would_change_the_results_unseen_is_refused_by_name(place: Any, given: dict[str, str], name: str) -> None:
    status, body = await get(place, q="tea", **given)
    assert (status, body["error"]["errors"][0]["reason"]) == (400, "badRequest")
    assert f"$.{name}: " in body["error"]["message"]
    assert place.ours.asked == []


async def test_every_fault_is_told_at_once(place: Any) -> None:
    _, body = await get(place, q="tea", num="99", sort="date", nun="1")
    assert [name for name in ("$.num", "$.sort", "$.nun") if name not in body["error"]["message"]] == []


async def test_a_parameter_given_twice_is_refused(place: Any) -> None:
    async with place.client.get(f"{PATH}?q=tea&q=coffee&key={place.token}") as response:
        assert response.status == 400
    assert place.ours.asked == []


@pytest.mark.parametrize("query", ["q=%ff", "q=%ed%a0%80", "q=" + "&a=1" * 201])
async def test_what_is_no_text_is_refused(place: Any, query: str) -> None:
    from yarl import URL

    url = URL(f"{place.url}{PATH}?key={place.token}&{query}", encoded=True)
    async with place.client.session.get(url) as response:
        assert (response.status, response.headers["X-Error-Code"]) == (400, "validation_error")


async def test_an_engine_id_is_the_organization_or_nothing(place: Any) -> None:
    status, body = await get(place, q="tea", cx="017576662512468239146:omuauf_lfve")
    assert (status, body["error"]["status"]) == (403, "PERMISSION_DENIED")
    assert "'acme'" in body["error"]["message"]
    assert (await get(place, q="tea", cx="beta"))[0] == 403
    assert (await get(place, q="tea", cx="acme"))[0] == 200
    assert (await get(place, q="tea"))[0] == 200


FAILURES = [
    (ErrorCode.PROVIDER_NOT_CONFIGURED, 400, "FAILED_PRECONDITION", "failedPrecondition"),
    (ErrorCode.FORBIDDEN, 403, "PERMISSION_DENIED", "forbidden"),
    (ErrorCode.DAILY_CAP_REACHED, 429, "RESOURCE_EXHAUSTED", "dailyLimitExceeded"),
    (ErrorCode.BUDGET_EXCEEDED, 429, "RESOURCE_EXHAUSTED", "quotaExceeded"),
    (ErrorCode.RATE_LIMITED, 429, "RESOURCE_EXHAUSTED", "rateLimitExceeded"),
    (ErrorCode.PROVIDER_UNAUTHORIZED, 502, "UNAVAILABLE", "backendError"),
    (ErrorCode.PROVIDER_RATE_LIMITED, 503, "UNAVAILABLE", "backendError"),
    (ErrorCode.UPSTREAM_TIMEOUT, 504, "DEADLINE_EXCEEDED", "backendError"),
    (ErrorCode.STORAGE_UNAVAILABLE, 503, "UNAVAILABLE", "backendError"),
    (ErrorCode.INTERNAL_ERROR, 500, "INTERNAL", "backendError"),
]


@pytest.mark.parametrize(("code", "status", "name", "reason"), FAILURES)
async def test_googles_client_raises_its_own_error(
    place: Any, call: Any, code: ErrorCode, status: int, name: str, reason: str
) -> None:
    place.ours.outcome = SearchError(code)
    with pytest.raises(HttpError) as raised:
        await call(q="tea", cx="acme")
    assert (raised.value.resp.status, raised.value.resp["x-error-code"]) == (status, code)
    assert raised.value.error_details == [{"message": raised.value.reason, "domain": "global", "reason": reason}]
    assert code.meaning in raised.value.reason
    assert f'"status": "{name}"' in raised.value.content.decode()


async def test_a_wrong_key_and_a_missing_one_are_told_as_google_tells_them(place: Any, call: Any) -> None:
    with pytest.raises(HttpError, match=r"API key not valid\. Please pass a valid API key\.") as wrong:
        await call(q="tea", key="spt_wrong")
    async with place.client.get(PATH, params={"q": "tea"}) as missing:
        body = await missing.json()
    assert (wrong.value.resp.status, missing.status, body["error"]["status"]) == (400, 403, "PERMISSION_DENIED")


async def test_a_search_ends_before_the_clients_patience_does(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    await place.select("fake")
    assert answers.LONGEST_SECONDS < 10
    monkeypatch.setattr(answers, "LONGEST_SECONDS", 0.05)
    status, body = await get(place, q="slow: tea")
    assert (status, body["error"]["status"]) == (504, "DEADLINE_EXCEEDED")


@attrs.frozen
class RoundTrip:
    """Our own provider for Google, pointed at this door."""

    router: Router
    token: str = attrs.field(repr=False)

    async def find(self, query: str = "tea", **options: Any) -> Any:
        """The envelope of one search at the provider."""
        toolkit = self.router.registry.get("google-cse")
        route = Route(toolkit=toolkit, credential=self.token, settings={"cx": "acme"})
        return await self.router.dispatch(route, SearchRequest(query, **options), request_id="r")


@pytest.fixture
async def round_trip(place: Any) -> AsyncIterator[RoundTrip]:
    """The provider, with the operator's base URL set to this server."""
    async with HttpClients() as clients:
        origins, kept = {"google-cse": place.url}, frozenset({"google-cse"})
        yield RoundTrip(Router(registry=Registry.discover(), clients=clients, origins=origins, kept=kept), place.token)


async def test_our_own_provider_for_google_reads_the_same_results_back(place: Any, round_trip: RoundTrip) -> None:
    sent = place.ours.pages(3, snippet="About <form> & so on")
    found = await round_trip.find()
    assert [(r.title, r.url, r.snippet) for r in found.results] == [(r.title, r.url, r.snippet) for r in sent]


@pytest.mark.parametrize("date", ["2026-09-20", "2026-09-20T08:15Z", "2026-09-20T10:15:30.250+02:00", None])
async def test_a_date_survives_the_way_there_and_back(place: Any, round_trip: RoundTrip, date: str | None) -> None:
    place.ours.pages(2, published_date=date)
    assert [result.published_date for result in (await round_trip.find()).results] == [date, date]


async def test_our_own_provider_pages_up_to_fifty(place: Any, round_trip: RoundTrip) -> None:
    place.ours.pages(50)
    found = await round_trip.find(max_results=50)
    assert [f"https://pages.example/{n}" for n in range(1, 51)] == [result.url for result in found.results]
    assert [request.max_results for request in place.ours.asked] == [10, 20, 30, 40, 50]


async def test_our_own_provider_stops_where_the_results_end(place: Any, round_trip: RoundTrip) -> None:
    place.ours.pages(14)
    assert len((await round_trip.find(max_results=50)).results) == 14
    assert [request.max_results for request in place.ours.asked] == [10, 20]


@pytest.mark.parametrize(
    "options",
    [
        {"recency": "day"},
        {"freshness": "P3D"},
        {"site": "pages.example"},
        {"safe": "off"},
        {"language": "he"},
        {"country": "BR"},
    ],
)
async def test_an_option_survives_the_way_there(place: Any, round_trip: RoundTrip, options: dict[str, str]) -> None:
    await round_trip.find(**options)
    assert place.ours.asked == [SearchRequest("tea", **options)]


@pytest.mark.parametrize(
    ("behind", "before"),
    [
        (ErrorCode.DAILY_CAP_REACHED, ErrorCode.PROVIDER_RATE_LIMITED),
        (ErrorCode.BUDGET_EXCEEDED, ErrorCode.PROVIDER_RATE_LIMITED),
        (ErrorCode.RATE_LIMITED, ErrorCode.PROVIDER_RATE_LIMITED),
        (ErrorCode.PROVIDER_NOT_CONFIGURED, ErrorCode.PROVIDER_REJECTED),
        (ErrorCode.PROVIDER_UNAVAILABLE, ErrorCode.PROVIDER_UNAVAILABLE),
        (ErrorCode.UPSTREAM_TIMEOUT, ErrorCode.PROVIDER_UNAVAILABLE),
    ],
)
async def test_a_failure_survives_the_way_back(place: Any, round_trip: RoundTrip, behind: ErrorCode, before: ErrorCode) -> None:
    place.ours.outcome = SearchError(behind)
    with pytest.raises(SearchError) as raised:
        await round_trip.find()
    assert raised.value.code is before


async def test_a_wrong_token_is_the_vendors_refusal_of_the_key(round_trip: RoundTrip) -> None:
    with pytest.raises(SearchError) as raised:
        await attrs.evolve(round_trip, token="spt_wrong").find()
    assert raised.value.code is ErrorCode.PROVIDER_UNAUTHORIZED
