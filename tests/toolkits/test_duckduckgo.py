"""DuckDuckGo: its exact requests, its pages, its ways to say no."""

import tomllib
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from aioresponses import aioresponses

from searchport import ErrorCode, SearchError, SearchRequest, SearchResponse
from searchport.egress import AddressPolicy, HttpClient
from searchport.published_date import normalize, not_before
from searchport.testing import ask, vendor_wire
from searchport_toolkits.duckduckgo import toolkit

FIND = "https://html.duckduckgo.com/html/"
NOW = datetime(2026, 9, 20, 12, tzinfo=UTC)
PLAIN = {"b": "", "q": "red pandas", "kl": "wt-wt", "df": ""}
SCENARIOS = tomllib.loads((Path(__file__).parent / "answers" / "duckduckgo.toml").read_text("utf-8"))["answers"]
EMPTY = '<div id="links"><div class="result result--no-result"><div class="no-results__container"></div></div></div>'
NEXT = """<form action="/html/" method="post"><input type="submit" value="Next"><input type="hidden" name="q" value="red pandas">
<input type="hidden" name="s" value="10"><input type="hidden" name="nextParams" value=""><input type="hidden" name="v" value="l">
<input type="hidden" name="dc" value="10"><input type="hidden" name="vqd" value="4-1&amp;2"></form>"""


def card(
    href: str = "https://a.example/", title: str = "t", snippet: str = "", extras: str = "", classes: str = "web-result"
) -> str:
    return (
        f'<div class="result results_links {classes}"><div class="links_main result__body"><h2 class="result__title">'
        f'<a rel="nofollow" class="result__a" href="{href}">{title}</a></h2><div class="result__extras">'
        f'<div class="result__extras__url"><span class="result__icon"></span><a class="result__url" href="{href}">a</a>'
        f'{extras}</div></div><a class="result__snippet" href="{href}">{snippet}</a></div></div>'
    )


def page(*cards: str, form: str = "") -> str:
    return f'<!DOCTYPE html><html><body><div id="links" class="results">{"".join(cards)}{form}</div></body></html>'


async def search(wire: aioresponses, *pages: str, status: int = 200, query: str = "red pandas", **options: Any) -> SearchResponse:
    for body in pages:
        wire.post(FIND, status=status, body=body, content_type="text/html; charset=UTF-8")
    async with HttpClient(AddressPolicy()) as http:
        return await ask(toolkit, SearchRequest(query, **options), http=http, now=NOW)


def sent(wire: aioresponses) -> list[dict[str, str]]:
    return [
        dict(parse_qsl(call.kwargs["data"].decode(), keep_blank_values=True))
        for calls in wire.requests.values()
        for call in calls
    ]


def urls(response: SearchResponse) -> Iterable[str | None]:
    return [result.url for result in response.results]


async def test_a_plain_search_is_the_form_of_the_first_page_with_a_browsers_headers() -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY)
        assert sent(wire) == [PLAIN]
        ((call,),) = wire.requests.values()
    headers = call.kwargs["headers"]
    assert headers.pop("User-Agent").startswith("Mozilla/5.0 (")
    assert headers == {
        "Content-Type": "application/x-www-form-urlencoded",
        "Accept": "text/html",
        "Accept-Language": "en-US,en;q=0.5",
        "Referer": "https://html.duckduckgo.com/",
        "Sec-Fetch-Dest": "document",
        "Sec-Fetch-Mode": "navigate",
        "Sec-Fetch-Site": "same-origin",
        "Sec-Fetch-User": "?1",
    }


async def test_every_option_has_its_field() -> None:
    with vendor_wire() as wire:
        response = await search(wire, EMPTY, recency="week", language="fr", country="ca", site="example.org", freshness="P7D")
        assert sent(wire) == [PLAIN | {"kl": "ca-fr", "df": "w"}]
        assert response.ignored == ()


@pytest.mark.parametrize(("recency", "df"), [("day", "d"), ("week", "w"), ("month", "m"), ("year", "y")])
async def test_a_recency_is_its_letter(recency: str, df: str) -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY, recency=recency)
        assert sent(wire) == [PLAIN | {"df": df}]


@pytest.mark.parametrize(
    ("options", "kl", "ignored"),
    [
        ({"country": "GB"}, "uk-en", ()),
        ({"country": "SI"}, "sl-sl", ()),
        ({"language": "ja"}, "jp-jp", ()),
        ({"language": "ko"}, "kr-kr", ()),
        ({"language": "sv"}, "se-sv", ()),
        ({"language": "nb"}, "no-no", ()),
        ({"language": "en-GB"}, "uk-en", ()),
        ({"language": "en"}, "us-en", ()),
        ({"language": "pt-BR"}, "br-pt", ()),
        ({"language": "zh-Hant"}, "tw-tzh", ()),
        ({"language": "zh", "country": "HK"}, "hk-tzh", ()),
        ({"language": "nl", "country": "BE"}, "be-nl", ()),
        ({"language": "ca", "country": "ES"}, "es-ca", ()),
        ({"language": "it", "country": "CH"}, "ch-de", ("language",)),
        ({"language": "de", "country": "LU"}, "de-de", ("country",)),
        ({"language": "sw"}, "wt-wt", ("language",)),
        ({"country": "KE"}, "wt-wt", ("country",)),
        ({"language": "sw", "country": "KE"}, "wt-wt", ("country", "language")),
    ],
)
async def test_a_language_and_a_country_are_one_region(options: dict[str, Any], kl: str, ignored: tuple[str, ...]) -> None:
    with vendor_wire() as wire:
        assert (await search(wire, EMPTY, **options)).ignored == ignored
        assert sent(wire) == [PLAIN | {"kl": kl}]


async def test_safe_search_is_refused_since_these_pages_have_none() -> None:
    with vendor_wire() as wire, pytest.raises(SearchError) as caught:
        await search(wire, safe="off")
    assert caught.value.code is ErrorCode.UNSUPPORTED_OPTION
    assert not wire.requests


@pytest.mark.parametrize(
    ("query", "sent_as"),
    [("who is !g", 'who is "!g"'), (r"\futureme", r'"\futureme"'), ("wow! a!b", "wow! a!b"), ("site:x -y", "site:x -y")],
)
async def test_words_that_lead_to_another_site_are_quoted(query: str, sent_as: str) -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY, query=query)
        assert sent(wire)[0]["q"] == sent_as


@pytest.mark.parametrize("query", ["x" * 500, "!" + "x" * 497 + "y"])
async def test_a_query_that_is_too_long_is_refused_before_anything_is_sent(query: str) -> None:
    with vendor_wire() as wire, pytest.raises(SearchError, match=r"\$\.query") as caught:
        await search(wire, query=query)
    assert caught.value.code is ErrorCode.VALIDATION_ERROR
    assert not wire.requests


async def test_the_next_page_takes_every_hidden_field_of_the_form_but_the_query() -> None:
    first = page(*[card(f"https://a.example/{number}") for number in range(9)], form=NEXT.replace("red pandas", "other words"))
    with vendor_wire() as wire:
        response = await search(
            wire, first, page(card("https://b.example/"), form=NEXT), max_results=50, country="DE", recency="day"
        )
        assert sent(wire)[1] == {
            "q": "red pandas",
            "s": "10",
            "nextParams": "",
            "v": "l",
            "dc": "10",
            "vqd": "4-1&2",
            "kl": "de-de",
            "df": "d",
        }
        assert len(sent(wire)) == 2
        assert len(response.results) == 10


async def test_without_the_form_there_is_no_next_page() -> None:
    with vendor_wire() as wire:
        await search(wire, page(card(), form="<form action='/html/'><input name=q></form>"), max_results=50)
        assert len(sent(wire)) == 1


async def test_the_form_behind_the_rows_counts_where_one_leads_back() -> None:
    back = NEXT.replace('value="Next"', 'value="Previous"').replace('name="s" value="10"', 'name="s" value="0"')
    with vendor_wire() as wire:
        await search(wire, page(card(), form=back + NEXT), EMPTY, max_results=50)
        assert sent(wire)[1]["s"] == "10"


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("https://news.example.org/a?id=1&amp;p=100%25", "https://news.example.org/a?id=1&p=100%25"),
        (
            "https://duckduckgo.com/l/?uddg=https%3A%2F%2Fnews.example.org%2Fa%3Fid%3D1%26p%3D100%2525&amp;rut=0f",
            "https://news.example.org/a?id=1&p=100%25",
        ),
        ("//duckduckgo.com/l/?uddg=https%3A%2F%2Fnews%2Dsite.example%2Fa&amp;rut=0f", "https://news-site.example/a"),
        ("/l/?kh=-1&amp;uddg=https%3A%2F%2Fwiki.example.net%2Ftidal", "https://wiki.example.net/tidal"),
        ("//wiki.example.net/tidal", "https://wiki.example.net/tidal"),
        ("https://other.example/l/?uddg=https%3A%2F%2Fa.example%2F", "https://other.example/l/?uddg=https%3A%2F%2Fa.example%2F"),
        ("https://duckduckgo.com/about", "https://duckduckgo.com/about"),
        ("https://duckduckgo.com/l/?rut=0f", "https://duckduckgo.com/l/?rut=0f"),
        ("http://[broken", "http://[broken"),
    ],
)
async def test_a_link_is_unwrapped_and_decoded_once(href: str, url: str) -> None:
    with vendor_wire() as wire:
        assert urls(await search(wire, page(card(href)))) == [url]


@pytest.mark.parametrize(
    "advert",
    [
        card("https://shop.example/", classes="result--ad result--ad--small"),
        card("https://duckduckgo.com/y.js?ad_domain=shop.example"),
        card("//duckduckgo.com/l/?uddg=https%3A%2F%2Fduckduckgo.com%2Fy.js%3Fad_domain%3Dshop.example"),
        card("/y.js?ad_domain=shop.example"),
    ],
)
async def test_an_advertisement_is_no_result(advert: str) -> None:
    with vendor_wire() as wire:
        assert urls(await search(wire, page(advert, card("https://a.example/")))) == ["https://a.example/"]


async def test_a_page_of_advertisements_alone_is_no_empty_answer() -> None:
    with vendor_wire() as wire, pytest.raises(SearchError) as caught:
        await search(wire, page(card("/y.js?ad_domain=shop.example")))
    assert caught.value.code is ErrorCode.PROVIDER_UNAVAILABLE
    assert caught.value.retry_after is None


async def test_cards_without_a_link_among_them_are_no_empty_answer() -> None:
    with vendor_wire() as wire, pytest.raises(SearchError, match="neither results nor"):
        await search(wire, page(card().replace("result__a", "result__new")))


async def test_titles_and_snippets_are_text_decoded_once() -> None:
    cards = [
        card(title="Harbour un<b>expected</b>", snippet="The operator&#x27;s &lt;form&gt; &amp;amp; more"),
        card().replace('class="result__snippet"', ""),
    ]
    with vendor_wire() as wire:
        first, second = (await search(wire, page(*cards))).results
    assert (first.title, first.snippet) == ("Harbour unexpected", "The operator's <form> &amp; more")
    assert (second.title, second.snippet) == ("t", None)


async def test_a_date_has_no_zone_and_is_handed_over_for_its_bound() -> None:
    dated = card(extras="<span>&nbsp; &nbsp; 2026-09-18T00:00:00.0000000</span>")
    with vendor_wire() as wire:
        first, second = (await search(wire, page(dated, card()))).results
    assert second.published_date is None
    assert normalize(first.published_date) is None
    assert not_before(first.published_date, NOW) == datetime(2026, 9, 17, 10, tzinfo=UTC)


@pytest.mark.parametrize("case", SCENARIOS, ids=lambda case: case["scenario"])
async def test_what_is_no_page_of_results_has_its_meaning(case: dict[str, Any]) -> None:
    with vendor_wire() as wire:
        wire.post(FIND, status=case.get("status", 200), body=case.get("body", ""), headers=case.get("headers"))
        async with HttpClient(AddressPolicy()) as http:
            if case["expect"] == "empty":
                assert list((await ask(toolkit, SearchRequest("red pandas"), http=http)).results) == []
                return
            with pytest.raises(SearchError) as caught:
                await ask(toolkit, SearchRequest("red pandas"), http=http)
    assert (caught.value.code, caught.value.provider) == (case["expect"], "duckduckgo")
    assert caught.value.retry_after == case.get("retry_after")


async def test_words_about_a_challenge_are_no_challenge() -> None:
    talk = card(title="anomaly-modal and challenge-form", snippet="form action anomaly.js, unfortunately bots use it too")
    with vendor_wire() as wire:
        assert len((await search(wire, page(talk))).results) == 1


async def test_rows_with_the_status_of_a_challenge_are_results() -> None:
    with vendor_wire() as wire:
        assert len((await search(wire, page(card()), status=202)).results) == 1


async def test_a_challenge_tells_nothing_of_the_query_that_its_form_repeats() -> None:
    with vendor_wire() as wire, pytest.raises(SearchError) as caught:
        await search(wire, '<form id="challenge-form" action="//duckduckgo.com/anomaly.js?q=secret+words"></form>', status=202)
    assert "secret" not in str(caught.value) + repr(caught.value)


def test_it_is_declared_as_a_risk() -> None:
    assert toolkit.is_keyless
    assert "unofficial" in (toolkit.risk or "")
