"""Marginalia: its exact requests, its answers, its errors."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchport import ErrorCode, SearchError
from searchport_toolkits.marginalia import OPERATOR, read_words, toolkit

FIND = re.compile(r"^https://api2\.marginalia-search\.com/search\?")
EMPTY: dict[str, Any] = {"license": "CC-BY-NC-SA 4.0", "page": 1, "pages": 0, "results": []}
PLAIN = {"query": "red pandas", "count": "10"}


async def test_a_plain_search_sends_the_query_with_the_key_in_its_header(vendor: Any) -> None:
    await vendor.search(EMPTY)
    assert vendor.sent == [PLAIN]
    assert vendor.headers == {"API-Key": "KEY"}


async def test_every_option_has_its_parameter(vendor: Any) -> None:
    response = await vendor.search(EMPTY, max_results=50, language="en-GB", safe="strict")
    assert vendor.sent == [PLAIN | {"count": "50", "nsfw": "2", "lang": "en"}]
    assert response.ignored == ()


@pytest.mark.parametrize(("safe", "sent_as"), [("off", "0"), ("moderate", "1")])
async def test_safe_search_is_its_number(vendor: Any, safe: str, sent_as: str) -> None:
    await vendor.search(EMPTY, safe=safe)
    assert vendor.sent == [PLAIN | {"nsfw": sent_as}]


async def test_a_site_is_not_in_the_query_but_lets_a_domain_have_more_results(vendor: Any) -> None:
    await vendor.search(EMPTY, site="example.org")
    assert vendor.sent == [PLAIN | {"dc": "100"}]


@pytest.mark.parametrize(
    ("options", "ignored"),
    [({"language": "de"}, ("language",)), ({"country": "de"}, ("country",)), ({"recency": "week"}, ("recency",))],
)
async def test_what_it_lacks_is_named_as_ignored(vendor: Any, options: dict[str, Any], ignored: tuple[str, ...]) -> None:
    assert (await vendor.search(EMPTY, **options)).ignored == ignored
    assert vendor.sent == [PLAIN]


async def test_a_freshness_is_refused_since_no_row_has_a_date(vendor: Any) -> None:
    with pytest.raises(SearchError) as caught:
        await vendor.search(freshness="P7D")
    assert caught.value.code is ErrorCode.UNSUPPORTED_OPTION
    assert not vendor.wire.requests


@pytest.mark.parametrize(
    ("query", "sent_as"),
    [
        ("a+b & c=d?e#f/g 100% C#", "a+b & c=d?e#f/g 100% C#"),
        ("cats -dogs", "cats dogs"),
        ("cats - dogs", "cats dogs"),
        ("cats ?dogs", "cats dogs"),
        ("well-known why?", "well-known why?"),
        ("site:example.org tides", "site example.org tides"),
        ("$site:example.org", "site example.org"),
        ("SITE:example.org", "SITE example.org"),
        ("site:-x", "site x"),
        ("-site:x", "site x"),
        ("site:site:x", "site site x"),
        ("(site:x)", "site x"),
        ('"lang:de', "lang de"),
        ("“near:me”", "near me"),
        ("\\year>2020", "year 2020"),
        ("year=2020 size<9 rank<9 q>5 qs=RF_TITLE", "year 2020 size 9 rank 9 q 5 qs RF_TITLE"),
        ("sité:example.org", "sité example.org"),
        ("naïve café", "naïve café"),
        ("a,-b", "a b"),
        ("a\u00a0-b", "a b"),
        ("x:y yearly=1", "x:y yearly=1"),
        ("f(x) 'quoted'", "f x 'quoted'"),
    ],
)
async def test_what_the_vendor_would_act_upon_is_text(vendor: Any, query: str, sent_as: str) -> None:
    await vendor.search(EMPTY, query=query)
    assert vendor.sent[0]["query"] == sent_as


PIECES = st.sampled_from(
    ["site:", "q>", "year=", "-", "?", "$", "_", "(", ")", '"', ",", " ", "\\", ":", "x", "2020", "lang:", "“"]
)


@given(st.lists(PIECES, max_size=12).map("".join) | st.text())
def test_no_word_is_an_operator_and_no_letter_is_lost(query: str) -> None:
    words = list(read_words(query))
    assert [word for word in words if OPERATOR.match(word) or word[0] in '-?$_("“'] == []
    assert [letter for letter in query if letter.isalnum()] == [letter for letter in "".join(words) if letter.isalnum()]


@pytest.mark.parametrize("query", ["a:b " * 12, "site:x " * 6, '("?")', "-"])
async def test_more_words_than_it_takes_or_none_are_refused_before_anything_is_sent(vendor: Any, query: str) -> None:
    """It would answer the first with an empty list, as if it had looked."""
    with pytest.raises(SearchError, match=r"\$\.query") as caught:
        await vendor.search(query=query)
    assert caught.value.code is ErrorCode.VALIDATION_ERROR
    assert not vendor.wire.requests


async def test_rows_have_no_date(vendor: Any) -> None:
    rows = [{"url": "https://a.example/", "title": "A\n\tpage", "description": "What a <form> is & does", "quality": 2.3}]
    (result,) = (await vendor.search(EMPTY | {"results": rows})).results
    assert (result.title, result.snippet, result.published_date) == ("A\n\tpage", "What a <form> is & does", None)
    assert toolkit.web_search.text == "plain"


async def test_what_is_no_page_of_results_has_its_meaning(vendor: Any, answered: dict[str, Any]) -> None:
    await vendor.check(answered)
