"""What a caller is promised whoever answers: each claim is put to every provider that has a vendor, through the router."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from types import MappingProxyType
from typing import Any

import attrs
import pytest
from aiohttp.test_utils import TestClient, TestServer
from aiohttp.web import Application

from searchport import (
    ErrorCode,
    SearchContext,
    SearchError,
    SearchRequest,
    SearchResponse,
    define_toolkit,
    define_web_search,
)
from searchport.result import Envelope, render_envelope
from searchport.testing import FakeAnswer, FakeRequest, FakeWeb
from searchport_platform.doors.ops import OpsDoor
from searchport_platform.registry import Registry
from searchport_platform.routing.clients import HttpClients
from searchport_platform.routing.router import Route, Router

KEY = "canary-key-3b91"
OLD, DATED, UNDATED = "2001-02-03T04:05:06Z", "2999-01-01T00:00:00Z", None


@attrs.frozen
class Row:
    """A result as some vendor has it. date: what the page says of itself."""

    url: str
    title: str = "A title"
    text: str = "Some text"
    date: str | None = UNDATED


@attrs.frozen
class Vendor:
    """How to answer as a vendor, and where its request has what every vendor's has."""

    url: str
    render: Callable[[Sequence[Row]], dict[str, object]]
    window: str
    page_size: int
    read_key: Callable[[FakeRequest], str | None]
    settings: dict[str, object] = attrs.field(factory=dict)


def render_brave(rows: Sequence[Row]) -> dict[str, object]:
    found = [{"title": row.title, "url": row.url, "description": row.text, "page_age": row.date} for row in rows]
    return {"type": "search", "query": {"more_results_available": True}, "web": {"results": found}}


def render_google(rows: Sequence[Row]) -> dict[str, object]:
    found = [
        {"title": row.title, "link": row.url, "snippet": row.text, "pagemap": {"metatags": [{"date": row.date}]}} for row in rows
    ]
    return {"kind": "customsearch#search", "queries": {"nextPage": [{}]}, "items": found}


VENDORS = {
    "brave": Vendor(
        "https://api.search.brave.com/res/v1/web/search",
        render_brave,
        window="freshness",
        page_size=20,
        read_key=lambda request: request.headers.get("X-Subscription-Token"),
    ),
    "google-cse": Vendor(
        "https://www.googleapis.com/customsearch/v1",
        render_google,
        window="dateRestrict",
        page_size=10,
        read_key=lambda request: request.query.get("key"),
        settings={"cx": "0aa11"},
    ),
}
every_vendor = pytest.mark.parametrize("provider", VENDORS)
every_provider = pytest.mark.parametrize("provider", ["fake", *VENDORS])


@pytest.fixture
async def web() -> AsyncIterator[FakeWeb]:
    """Every vendor's address."""
    async with FakeWeb() as fake:
        yield fake


def build_router(web: FakeWeb, registry: Registry | None = None) -> Router:
    """A router that calls the fake web; a provider past its end is kept on, so that no claim here depends on today."""
    registry = registry or Registry.discover()
    return Router(registry=registry, clients=HttpClients(build=web.client), kept=frozenset(registry.toolkits))


async def search(
    web: FakeWeb, provider: str, query: str = "red pandas", *, key: str = KEY, seconds: float = 5, **options: Any
) -> Envelope:
    router = build_router(web)
    toolkit = router.registry.get(provider)
    settings = VENDORS[provider].settings if provider in VENDORS else {}
    credential = None if toolkit.is_keyless else key
    route = Route(toolkit=toolkit, credential=credential, settings=settings)
    return await router.dispatch(route, SearchRequest(query, **options), request_id="r1", deadline_seconds=seconds)


def answer(web: FakeWeb, provider: str, rows: Iterable[Row]) -> None:
    """Answers every page with the same rows, whatever it was asked for."""
    vendor = VENDORS[provider]
    web.answer(vendor.url, json=vendor.render(list(rows)))


def urls(envelope: Envelope) -> list[str]:
    return [result.url for result in envelope.results]


# The query is what the caller wrote.


@every_vendor
@pytest.mark.parametrize(
    "query", ['an "unbalanced quote', "site:a.example OR -b", "intitle:x !bang", " padded  twice ", "\u3000日本"]
)
async def test_a_query_reaches_the_vendor_to_the_letter(web: FakeWeb, provider: str, query: str) -> None:
    answer(web, provider, [])
    await search(web, provider, query)
    assert [request.query["q"] for request in web.requests] == [query]


@every_vendor
async def test_no_other_option_is_written_into_the_query(web: FakeWeb, provider: str) -> None:
    answer(web, provider, [])
    await search(web, provider, site="a.example", recency="day", freshness="P1D", language="de", country="DE", safe="strict")
    assert [request.query["q"] for request in web.requests] == ["red pandas"]


@every_vendor
async def test_any_time_sends_no_window(web: FakeWeb, provider: str) -> None:
    answer(web, provider, [])
    await search(web, provider)
    assert [VENDORS[provider].window in request.query for request in web.requests] == [False]


# Guarantees hold whatever the vendor did with the option.


@every_vendor
async def test_a_vendor_that_sends_more_than_it_was_asked_for_is_cut(web: FakeWeb, provider: str) -> None:
    answer(web, provider, [Row(f"https://a.example/{n}") for n in range(30)])
    envelope = await search(web, provider, max_results=4)
    assert (len(envelope.results), envelope.filter_report.over_count) == (4, 26)


@every_vendor
async def test_fewer_results_than_asked_for_are_a_success(web: FakeWeb, provider: str) -> None:
    answer(web, provider, [Row("https://a.example/")])
    assert urls(await search(web, provider, max_results=5)) == ["https://a.example/"]


@every_vendor
async def test_a_site_holds_on_label_boundaries_though_the_vendor_ignores_it(web: FakeWeb, provider: str) -> None:
    inside = ["https://example.com/", "https://DOCS.example.com/a"]
    outside = ["https://notexample.com/", "https://example.com.b.example/", "https://b.example/?u=example.com"]
    answer(web, provider, map(Row, [*outside, *inside]))
    envelope = await search(web, provider, site="example.com")
    assert (urls(envelope), envelope.filter_report.off_site) == (inside, 3)


@every_vendor
async def test_freshness_holds_though_the_vendor_ignores_it(web: FakeWeb, provider: str) -> None:
    answer(web, provider, [Row("https://old.example/", date=OLD), Row("https://new.example/", date=DATED)])
    envelope = await search(web, provider, freshness="P7D")
    assert (urls(envelope), envelope.filter_report.too_old) == (["https://new.example/"], 1)


@every_vendor
async def test_undated_results_go_under_freshness_and_the_answer_says_how_many(web: FakeWeb, provider: str) -> None:
    answer(web, provider, [Row("https://official.example/")])
    envelope = await search(web, provider, freshness="P7D")
    assert (urls(envelope), envelope.filter_report.undated) == ([], 1)


@every_vendor
@pytest.mark.parametrize("date", [OLD, UNDATED])
async def test_age_matters_under_freshness_alone(web: FakeWeb, provider: str, date: str | None) -> None:
    answer(web, provider, [Row("https://official.example/", date=date)])
    assert urls(await search(web, provider)) == ["https://official.example/"]


@every_vendor
async def test_pages_that_overlap_give_each_address_once(web: FakeWeb, provider: str) -> None:
    size = VENDORS[provider].page_size
    answer(web, provider, [Row(f"https://a.example/{n}") for n in range(size)])
    envelope = await search(web, provider, max_results=2 * size)
    assert (len(web.requests), len(envelope.results), envelope.filter_report.duplicate) == (2, size, size)


@every_vendor
@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/latest", "http://localhost/", "http://10.0.0.1:99/", "http://2130706433/"]
)
async def test_a_result_inside_the_network_is_dropped_whoever_found_it(web: FakeWeb, provider: str, url: str) -> None:
    answer(web, provider, [Row(url)])
    envelope = await search(web, provider)
    assert (urls(envelope), envelope.filter_report.refused_address) == ([], 1)


@every_vendor
async def test_no_look_up_tells_anyone_what_was_found(web: FakeWeb, provider: str) -> None:
    answer(web, provider, [Row("https://found.example/")])
    await search(web, provider)
    assert "found.example" not in web.resolver.looked_up


@every_vendor
async def test_a_hidden_instruction_is_removed_and_counted(web: FakeWeb, provider: str) -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    answer(web, provider, [Row("https://a.example/", title=f"Tea{hidden}", text=f"Green\u202e tea{hidden}")])
    envelope = await search(web, provider)
    (result,) = envelope.results
    assert (result.title, result.snippet, envelope.filter_report.hidden_characters) == ("Tea", "Green tea", 9)


@every_vendor
async def test_every_row_is_returned_or_counted(web: FakeWeb, provider: str) -> None:
    kept = [Row(f"https://example.com/{n}", date=DATED) for n in range(4)]
    lost = [
        Row("ftp://example.com/"),
        Row("http://127.0.0.1/"),
        Row("https://b.example/"),
        Row("https://example.com/o", date=OLD),
        Row("https://example.com/u"),
    ]
    answer(web, provider, [*lost, *kept, kept[0]])
    envelope = await search(web, provider, site="example.com", freshness="P1D", max_results=3)
    report = attrs.asdict(envelope.filter_report)
    dropped = ("malformed", "refused_address", "off_site", "too_old", "undated", "duplicate", "over_count")
    assert [report[name] for name in dropped] == [1] * 7
    assert len(envelope.results) == 3


async def test_a_highlight_inside_a_word_leaves_the_word(web: FakeWeb) -> None:
    answer(web, "brave", [Row("https://a.example/", text="un<strong>expected</strong> <b>kettle</b>.")])
    assert (await search(web, "brave")).results[0].snippet == "unexpected kettle."


async def test_what_a_plain_text_vendor_writes_is_read_as_text(web: FakeWeb) -> None:
    answer(web, "google-cse", [Row("https://a.example/", text="The <form> element &amp; its\nuse")])
    assert (await search(web, "google-cse")).results[0].snippet == "The <form> element &amp; its use"


async def test_the_time_of_a_crawl_is_no_published_date(web: FakeWeb) -> None:
    crawled = {"url": "https://a.example/", "page_fetched": "2026-09-20T08:15:00Z", "fetched_content_timestamp": 1789891200}
    web.answer(VENDORS["brave"].url, json={"web": {"results": [crawled]}})
    assert (await search(web, "brave")).results[0].published_date is None


# A failure is never an empty answer.


@every_vendor
@pytest.mark.parametrize("status", [301, 400, 401, 402, 403, 404, 408, 418, 422, 429, 500, 502, 503, 504])
async def test_no_status_of_failure_is_an_empty_answer(web: FakeWeb, provider: str, status: int) -> None:
    vendor = VENDORS[provider]
    web.answer(vendor.url, json=vendor.render([]), status=status)
    with pytest.raises(SearchError):
        await search(web, provider)


@every_vendor
async def test_a_bot_wall_is_an_error(web: FakeWeb, provider: str) -> None:
    web.answer(VENDORS[provider].url, text="<!doctype html><title>Are you human?</title>")
    with pytest.raises(SearchError) as caught:
        await search(web, provider)
    assert caught.value.code is ErrorCode.PROVIDER_UNAVAILABLE


@every_vendor
async def test_nothing_found_is_a_success_with_nothing_in_it(web: FakeWeb, provider: str) -> None:
    answer(web, provider, [])
    assert urls(await search(web, provider)) == []


@every_vendor
async def test_a_vendor_that_hangs_is_cut_off_at_the_deadline(web: FakeWeb, provider: str) -> None:
    web.stall(VENDORS[provider].url)
    with pytest.raises(SearchError) as caught:
        await search(web, provider, seconds=0.2)
    assert caught.value.code is ErrorCode.UPSTREAM_TIMEOUT


async def test_a_toolkit_that_hangs_without_a_request_is_cut_off_too(web: FakeWeb) -> None:
    with pytest.raises(SearchError) as caught:
        await search(web, "fake", "slow: red pandas", seconds=0.1)
    assert caught.value.code is ErrorCode.UPSTREAM_TIMEOUT


@every_vendor
async def test_one_hung_search_holds_up_no_other(web: FakeWeb, provider: str) -> None:
    vendor, released = VENDORS[provider], asyncio.Event()

    async def respond(request: FakeRequest) -> FakeAnswer:
        if request.query["q"] == "slow":
            await released.wait()
        return FakeAnswer(vendor.render([Row("https://a.example/")]))

    web.handle(vendor.url, respond)
    router = build_router(web)
    route = Route(toolkit=router.registry.get(provider), credential=KEY, settings=vendor.settings)
    hung = asyncio.create_task(router.dispatch(route, SearchRequest("slow"), request_id="r1"))
    quick = await asyncio.gather(*(router.dispatch(route, SearchRequest("q"), request_id="r2") for _ in range(20)))
    assert not hung.done()
    assert [len(envelope.results) for envelope in quick] == [1] * 20
    released.set()
    await hung


# What a call costs, and what it tells.


@every_vendor
async def test_a_call_costs_no_more_requests_than_its_declaration_says(web: FakeWeb, provider: str) -> None:
    """Not even where every result is dropped."""
    answer(web, provider, [Row("https://off.example/")])
    envelope = await search(web, provider, site="example.com", max_results=50)
    limit = Registry.discover().get(provider).web_search.page_limit(50)
    assert (len(web.requests), limit) == (50 // VENDORS[provider].page_size + (50 % VENDORS[provider].page_size > 0),) * 2
    assert envelope.attempts[0].vendor_requests == limit


@every_provider
async def test_an_answer_names_who_gave_it(web: FakeWeb, provider: str) -> None:
    if provider in VENDORS:
        answer(web, provider, [])
    envelope = await search(web, provider)
    assert envelope.provider == provider
    assert [(attempt.provider, attempt.outcome) for attempt in envelope.attempts] == [(provider, "ok")]


async def test_another_provider_changes_no_field_of_the_answer(web: FakeWeb) -> None:
    for provider in VENDORS:
        answer(web, provider, [Row("https://a.example/", date=DATED)])
    rendered = [render_envelope(await search(web, provider)) for provider in ("fake", *VENDORS)]
    results: list[Any] = [answer["results"] for answer in rendered]
    assert len({tuple(answer) for answer in rendered}) == 1
    assert len({tuple(result[0]) for result in results}) == 1


@every_provider
async def test_every_answer_says_that_its_words_are_data_of_strangers(web: FakeWeb, provider: str) -> None:
    if provider in VENDORS:
        answer(web, provider, [])
    rendered = render_envelope(await search(web, provider))
    assert rendered["untrusted"] is True
    assert "not instructions" in str(rendered["untrustedNote"])


@every_vendor
async def test_a_key_is_in_nothing_that_a_caller_receives(web: FakeWeb, provider: str) -> None:
    answer(web, provider, [Row("https://a.example/")])
    envelope = await search(web, provider)
    assert KEY not in json.dumps(render_envelope(envelope)) + repr(envelope)


async def test_a_keyless_provider_is_asked_without_a_key_and_without_a_network(web: FakeWeb) -> None:
    assert len((await search(web, "fake")).results) == 3
    assert (web.requests, web.resolver.looked_up) == ([], [])


@every_vendor
async def test_calls_at_the_same_time_bring_each_its_own_key(web: FakeWeb, provider: str) -> None:
    vendor = VENDORS[provider]

    async def respond(request: FakeRequest) -> FakeAnswer:
        return FakeAnswer(vendor.render([Row(f"https://a.example/{vendor.read_key(request)}")]))

    web.handle(vendor.url, respond)
    keys = [f"key-{n}" for n in range(10)]
    envelopes = await asyncio.gather(*(search(web, provider, key=key) for key in keys))
    assert [urls(envelope) for envelope in envelopes] == [[f"https://a.example/{key}"] for key in keys]


async def test_a_refused_option_names_the_providers_that_can_honour_it(web: FakeWeb) -> None:
    lacking = define_toolkit(id="lacking", name="Lacking", credential_ref=None)

    @define_web_search(lacking, recency=None, unsupported={"safe"})
    async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
        raise NotImplementedError

    others = {name: toolkit for name, toolkit in Registry.discover().toolkits.items() if name in {"brave", "fake"}}
    router = build_router(web, Registry(MappingProxyType({"lacking": lacking, **others})))
    with pytest.raises(SearchError) as caught:
        await router.dispatch(Route(toolkit=lacking), SearchRequest("q", safe="strict"), request_id="r1")
    assert caught.value.code is ErrorCode.UNSUPPORTED_OPTION
    assert caught.value.alternatives == ("brave", "fake")


# The stateless wire.


async def post(web: FakeWeb, payload: dict[str, object]) -> dict[str, Any]:
    app = Application()
    app.add_routes(OpsDoor(build_router(web), token="", version="0").routes())
    async with TestClient(TestServer(app, host="127.0.0.1")) as client:
        response = await client.post("/ops/search", json=payload)
        body: dict[str, Any] = await response.json()
        return body


def ops(provider: str, **fields: object) -> dict[str, object]:
    auth = {"type": "header", "name": "X-Key", "value": KEY}
    return {"provider": provider, "query": "q", "providerOptions": VENDORS[provider].settings, "auth": auth} | fields


@every_vendor
async def test_a_count_beyond_the_maximum_is_asked_for_as_the_maximum(web: FakeWeb, provider: str) -> None:
    vendor = VENDORS[provider]
    pages = iter(range(100))

    async def respond(_: FakeRequest) -> FakeAnswer:
        number = next(pages)
        return FakeAnswer(vendor.render([Row(f"https://a.example/{number}/{n}") for n in range(vendor.page_size)]))

    web.handle(vendor.url, respond)
    body = await post(web, ops(provider, count=1_000))
    assert len(body["results"]) == 50
    assert len(web.requests) == -(-50 // vendor.page_size)


@every_vendor
@pytest.mark.parametrize("name", ["base_url", "baseUrl", "endpoint", "url", "host", "FIND", "origin"])
async def test_no_caller_chooses_where_a_key_is_sent(web: FakeWeb, provider: str, name: str) -> None:
    answer(web, provider, [])
    options = VENDORS[provider].settings | {name: "https://evil.example/"}
    body = await post(web, ops(provider, providerOptions=options))
    assert body["ignored"] == [f"providerOptions.{name}"]
    assert [request.url.split("?")[0] for request in web.requests] == [VENDORS[provider].url]
    assert "evil" not in web.requests[0].url


@every_vendor
async def test_a_name_in_auth_does_not_choose_where_the_key_stands(web: FakeWeb, provider: str) -> None:
    answer(web, provider, [])
    auth = {"type": "header", "name": "X-Something-Else", "value": KEY}
    assert (await post(web, ops(provider, auth=auth)))["ok"] is True
    assert VENDORS[provider].read_key(web.requests[0]) == KEY
    assert "X-Something-Else" not in web.requests[0].headers


@every_vendor
async def test_an_answer_of_the_wire_holds_its_promised_fields_alone(web: FakeWeb, provider: str) -> None:
    answer(web, provider, [Row("https://a.example/", date=DATED), Row("https://b.example/")])
    body = await post(web, ops(provider))
    assert body.keys() == {"ok", "results", "contractVersion", "source"}
    assert [result.keys() - {"publishedDate"} for result in body["results"]] == [{"title", "url", "snippet", "rank"}] * 2
    assert [result["rank"] for result in body["results"]] == [1, 2]
    assert body["source"] == "external"


@every_vendor
async def test_another_version_of_the_wire_is_refused_before_anything_is_sent(web: FakeWeb, provider: str) -> None:
    body = await post(web, ops(provider, version="web-search@2"))
    assert (body["ok"], body["code"], web.requests) == (False, "validation_error", [])
