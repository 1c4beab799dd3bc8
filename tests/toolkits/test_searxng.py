"""SearXNG: its exact requests, its answers, its errors."""

import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from aioresponses import aioresponses

from searchport import ErrorCode, SearchError, SearchRequest, SearchResponse
from searchport.egress import AddressPolicy, HttpClient
from searchport.testing import FakeWeb, ask, vendor_wire
from searchport_toolkits.searxng import toolkit

FIND = "https://search.example/search"
SETTINGS = {"base_url": "https://search.example"}
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
EMPTY: dict[str, Any] = {"query": "q", "results": [], "answers": [], "unresponsive_engines": []}
PLAIN = {"q": "red pandas", "format": "json", "pageno": "1", "language": "all"}
SCENARIOS = tomllib.loads((Path(__file__).parent / "answers" / "searxng.toml").read_text("utf-8"))["answers"]


async def search(
    wire: aioresponses,
    *answers: object,
    query: str = "red pandas",
    base_url: str = "https://search.example",
    status: int = 200,
    **options: Any,
) -> SearchResponse:
    for answer in answers:
        wire.post(f"{base_url.rstrip('/')}/search", payload=answer, status=status)
    async with HttpClient(AddressPolicy()) as http:
        return await ask(toolkit, SearchRequest(query, **options), http=http, settings={"base_url": base_url}, now=NOW)


def sent(wire: aioresponses) -> list[dict[str, str]]:
    return [dict(parse_qsl(call.kwargs["data"].decode())) for calls in wire.requests.values() for call in calls]


def found(*rows: dict[str, Any], **members: Any) -> dict[str, Any]:
    return EMPTY | {"results": list(rows)} | members


async def test_a_plain_search_is_a_form_with_the_headers_that_its_limiter_checks() -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY)
        assert sent(wire) == [PLAIN]
        ((call,),) = wire.requests.values()
        assert {name: value for name, value in call.kwargs["headers"].items() if name != "User-Agent"} == {
            "Content-Type": "application/x-www-form-urlencoded",
            "Accept": "application/json, text/html;q=0.1",
            "Accept-Language": "en",
        }


async def test_what_its_limiter_checks_of_the_client_is_sent_too() -> None:
    """An agent that no block list names, and an encoding without a weight."""
    async with FakeWeb() as web:
        web.answer(FIND, json=EMPTY)
        await ask(toolkit, SearchRequest("q"), http=web.client(), settings=SETTINGS)
        (request,) = web.requests
    assert request.headers["User-Agent"].startswith("searchport/")
    assert "gzip" in request.headers["Accept-Encoding"].replace(" ", "").split(",")


async def test_every_option_has_its_field() -> None:
    with vendor_wire() as wire:
        response = await search(
            wire, EMPTY, recency="month", language="de", country="at", safe="strict", site="example.org", freshness="P7D"
        )
        assert sent(wire) == [PLAIN | {"language": "de-AT", "time_range": "month", "safesearch": "2"}]
        assert response.ignored == ()


@pytest.mark.parametrize(
    ("options", "sent_as"),
    [
        ({"recency": "day"}, {"time_range": "day"}),
        ({"recency": "week"}, {"time_range": "week"}),
        ({"recency": "year"}, {"time_range": "year"}),
        ({"freshness": "P2D"}, {"time_range": "week"}),
        ({"safe": "off"}, {"safesearch": "0"}),
        ({"safe": "moderate"}, {"safesearch": "1"}),
        ({"language": "fil"}, {"language": "fil"}),
        ({"language": "pt-BR"}, {"language": "pt-BR"}),
        ({"language": "zh-Hant"}, {"language": "zh-TW"}),
        ({"language": "zh-Hans-SG"}, {"language": "zh-SG"}),
        ({"language": "es-419"}, {"language": "es"}),
    ],
)
async def test_an_option_is_spelt_as_searxng_does(options: dict[str, Any], sent_as: dict[str, str]) -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY, **options)
        assert sent(wire) == [PLAIN | sent_as]


async def test_a_country_without_a_language_is_named_as_ignored() -> None:
    with vendor_wire() as wire:
        assert (await search(wire, EMPTY, country="DE")).ignored == ("country",)
        assert sent(wire) == [PLAIN]


@pytest.mark.parametrize(
    ("query", "sent_as"),
    [
        ("<3 python", r"\<3 python"),
        (":de cars", r"\:de cars"),
        ("who !g\u00a0!!x\tis", "who \\!g\u00a0\\!!x\tis"),
        ("max 8", r"\max 8"),
        (" range 2026", r"\range 2026"),
        ("random uuid", r"\random uuid"),
        ("a:b c<d wow! the max 8", "a:b c<d wow! the max 8"),
        ('"quoted" text', '"quoted" text'),
    ],
)
async def test_its_own_query_words_are_text(query: str, sent_as: str) -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY, query=query)
        assert sent(wire)[0]["q"] == sent_as


@pytest.mark.parametrize("base_url", ["https://example.com/searx", "https://example.com/searx/"])
async def test_the_path_of_the_base_url_is_kept(base_url: str) -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY, base_url=base_url)
        assert [str(url) for _, url in wire.requests] == ["https://example.com/searx/search"]


@pytest.mark.parametrize(
    "base_url", ["", "search.example", "ftp://search.example", "https://a.example/?token=x", "https://u:p@a.example"]
)
async def test_a_base_url_that_is_none_is_refused_without_showing_it(base_url: str) -> None:
    with vendor_wire() as wire, pytest.raises(SearchError, match=r"settings\.base_url") as caught:
        await search(wire, base_url=base_url)
    assert caught.value.code is ErrorCode.PROVIDER_NOT_CONFIGURED
    assert "token" not in str(caught.value)
    assert "u:p" not in str(caught.value)


async def test_only_an_operator_sets_the_base_url() -> None:
    with vendor_wire() as wire, pytest.raises(SearchError, match=r"providerOptions\.base_url"):
        await search(wire, provider_options={"base_url": "https://evil.example"})
    with pytest.raises(SearchError, match="only an operator"):
        toolkit.check_settings({"base_url": "https://evil.example"}, of_operator=False)


async def test_further_rows_are_on_further_pages_and_a_last_page_may_lack_engines() -> None:
    page = found({"url": "https://a.example/", "title": "t"})
    with vendor_wire() as wire:
        response = await search(wire, page, found(unresponsive_engines=[["bing", "timeout"]]), max_results=50)
        assert [form["pageno"] for form in sent(wire)] == ["1", "2"]
        assert len(response.results) == 1


async def test_three_pages_are_the_most() -> None:
    page = found({"url": "https://a.example/", "title": "t"})
    with vendor_wire() as wire:
        await search(wire, page, page, page, max_results=50)
        assert len(sent(wire)) == 3


async def test_rows_beside_engines_that_failed_are_an_answer() -> None:
    page = found({"url": "https://a.example/"}, unresponsive_engines=[["bing", "timeout"]])
    with vendor_wire() as wire:
        assert len((await search(wire, page)).results) == 1


async def test_engines_that_failed_are_counted_once_each() -> None:
    with vendor_wire() as wire, pytest.raises(SearchError, match="no rows, and 2 of its engines failed") as caught:
        await search(wire, found(unresponsive_engines=[["bing", "timeout"], ["bing", "CAPTCHA"], ["brave", "timeout"]]))
    assert caught.value.code is ErrorCode.PROVIDER_UNAVAILABLE


async def test_both_shapes_of_a_row_are_read_and_what_is_no_web_page_is_left_out() -> None:
    page = found(
        {"template": "default.html", "title": "A", "content": "a", "url": "https://a.example/", "positions": [1, 2]},
        {"title": "B", "url": "https://b.example/", "positions": ""},
        {"template": "keyvalue.html", "title": "", "url": None, "kvmap": {}},
        {"template": "images.html", "title": "I", "url": "https://i.example/", "img_src": "https://i.example/i.png"},
    )
    with vendor_wire() as wire:
        response = await search(wire, page)
    assert [(result.title, result.url, result.snippet) for result in response.results] == [
        ("A", "https://a.example/", "a"),
        ("B", "https://b.example/", None),
    ]


@pytest.mark.parametrize(
    ("given", "handed_over"),
    [
        ("2026-11-28T07:45:00+00:00", "2026-11-28T07:45:00+00:00"),
        ("2026-11-28T00:00:00", "2026-11-28T00:00:00"),
        ("2024-01-01T00:00:00", "2024-01"),
        ("2024-03-30T07:45:00", "2024-03-30T07:45:00"),
        ("2024-03-30T00:00:00", "2024-03"),
        ("2026-02-28T00:00:00", "2026-02"),
        ("2025-11-30T00:00:00", "2025"),
        ("2026-12-01T00:00:00", "2026"),
        ("2026-11-30T00:00:00+00:00", "2026-11-30T00:00:00+00:00"),
        ("last week", "last week"),
        (None, None),
    ],
)
async def test_a_midnight_on_todays_day_proves_no_day(given: str | None, handed_over: str | None) -> None:
    """Adapters fill what a date leaves open from the server's day, which may be the 30th or the 1st at noon in UTC."""
    with vendor_wire() as wire:
        (result,) = (await search(wire, found({"url": "https://a.example/", "publishedDate": given}))).results
    assert result.published_date == handed_over


@pytest.mark.parametrize("case", SCENARIOS, ids=lambda case: case["scenario"])
async def test_what_is_no_page_of_results_has_its_meaning(case: dict[str, Any]) -> None:
    with vendor_wire() as wire:
        wire.post(FIND, status=case.get("status", 200), body=case.get("body", ""), headers=case.get("headers"))
        async with HttpClient(AddressPolicy()) as http:
            if case["expect"] == "empty":
                assert list((await ask(toolkit, SearchRequest("red pandas"), http=http, settings=SETTINGS)).results) == []
                return
            with pytest.raises(SearchError) as caught:
                await ask(toolkit, SearchRequest("red pandas"), http=http, settings=SETTINGS)
    assert (caught.value.code, caught.value.provider) == (case["expect"], "searxng")


@pytest.mark.parametrize(("status", "words"), [(403, r"search\.formats"), (429, r"too many requests, or headers.*pass_ip")])
async def test_a_refusal_names_the_setting_to_change(status: int, words: str) -> None:
    with vendor_wire() as wire, pytest.raises(SearchError, match=words):
        await search(wire, {}, status=status)
