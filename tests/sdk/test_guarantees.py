"""What holds for every answer, whatever a toolkit returned."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchport import (
    SearchContext,
    SearchRequest,
    SearchResponse,
    SearchResult,
    define_toolkit,
    define_web_search,
    guarantees,
    published_date,
)
from searchport.egress import AddressPolicy
from searchport.guarantees import Guaranteed

NOW = datetime(2026, 9, 20, 12, tzinfo=UTC)
URL = "https://example.com/a"


def declare(text: Any = "html") -> Any:
    toolkit = define_toolkit(id="acme", name="Acme", credential_ref=None)

    @define_web_search(toolkit, recency=None, text=text)
    async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
        raise NotImplementedError

    return toolkit.web_search


def apply(*rows: Any, answered_at: datetime = NOW, text: str = "html", **options: Any) -> Guaranteed:
    response = SearchResponse(list(rows), vendor="acme")
    request = SearchRequest("q", **options)
    return guarantees.apply(response, request, declare(text), AddressPolicy(), NOW, answered_at)


def row(url: Any = URL, *, title: Any = "A", snippet: Any = None, published_date: Any = None) -> SearchResult:
    return SearchResult(title, url, snippet=snippet, published_date=published_date)


def urls(kept: Guaranteed) -> list[str]:
    return [result.url for result in kept.results]


def test_results_keep_their_order_and_are_ranked_from_one() -> None:
    kept = apply(row("https://b.example/"), row("https://a.example/"))
    assert [(result.rank, result.url) for result in kept.results] == [
        (1, "https://b.example/"),
        (2, "https://a.example/"),
    ]


@pytest.mark.parametrize(
    "url", [URL, "http://example.com:8081/x?y=%20z#f", "HTTPS://EXAMPLE.com/%7Ea", "https://bücher.example/ü"]
)
def test_a_url_that_is_returned_is_never_edited(url: str) -> None:
    assert urls(apply(row(url))) == [url]


@pytest.mark.parametrize(
    "url",
    [
        None,
        5,
        "",
        "example.com",
        "/path",
        "ftp://example.com/",
        "javascript:alert(1)",
        "https://",
        "https://user:pass@example.com/",
        "https://user@example.com/",
        "https://exam ple.com/",
        "https://example.com/\n",
        "https://[::1",
        "https://example.com/" + "x" * 2_048,
    ],
)
def test_a_result_without_a_usable_url_is_dropped_as_malformed(url: Any) -> None:
    kept = apply(row(url), row())
    assert urls(kept) == [URL]
    assert kept.report.malformed == 1


@pytest.mark.parametrize("odd", [None, "text", {"url": URL}, 5])
def test_a_row_that_is_no_result_is_dropped_as_malformed(odd: Any) -> None:
    assert apply(odd).report.malformed == 1


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://10.0.0.8:9000/",
        "http://[::1]/",
        "http://169.254.169.254/latest/",
        "http://localhost/",
        "http://printer.local/",
        "http://intranet/",
    ],
)
def test_a_result_at_a_private_address_is_dropped_as_refused(url: str) -> None:
    assert apply(row(url)).report.refused_address == 1


def test_a_result_may_be_on_any_port() -> None:
    assert urls(apply(row("https://example.com:9999/"))) == ["https://example.com:9999/"]


def test_markup_goes_and_references_are_decoded_where_the_vendor_sends_html() -> None:
    (result,) = apply(row(title="un<strong>expected</strong>", snippet="a &amp; b<br>c")).results
    assert (result.title, result.snippet) == ("unexpected", "a & b c")


def test_plain_text_keeps_what_looks_like_markup() -> None:
    (result,) = apply(row(title="the <form> element", snippet="a &amp; b"), text="plain").results
    assert (result.title, result.snippet) == ("the <form> element", "a &amp; b")


@pytest.mark.parametrize("title", [None, "", "  ", "<b></b>", 5])
def test_a_missing_title_is_the_urls_host(title: Any) -> None:
    assert apply(row("https://docs.example.com/x", title=title)).results[0].title == "docs.example.com"


@pytest.mark.parametrize("snippet", [None, "", " ", "<p></p>", 5, ["x"]])
def test_a_snippet_that_says_nothing_is_absent(snippet: Any) -> None:
    assert apply(row(snippet=snippet)).results[0].snippet is None


def test_a_long_text_is_cut_at_white_space() -> None:
    (result,) = apply(row(title="word " * 100, snippet="words " * 400)).results
    assert result.title == ("word " * 60).strip()
    assert result.snippet == ("words " * 166).strip()


def test_hidden_characters_are_removed_and_counted() -> None:
    kept = apply(row(title="in\u200bvis\u202eible", snippet="\u2066x\u2069"))
    assert (kept.results[0].title, kept.results[0].snippet) == ("invisible", "x")
    assert kept.report.hidden_characters == 4


def test_a_date_has_one_of_two_shapes_or_is_absent() -> None:
    kept = apply(
        row("https://a.example/", published_date="Sep 18, 2026"),
        row("https://b.example/", published_date="2026-09-18 07:45:00 +0200"),
        row("https://c.example/", published_date="2026-09-18T07:45:00"),
        row("https://d.example/", published_date=1_789_891_200),
    )
    assert [r.published_date for r in kept.results] == ["2026-09-18", "2026-09-18T07:45:00+02:00", None, None]
    assert {r.date_basis for r in kept.results} == {None}


def test_site_keeps_the_host_and_what_is_under_it() -> None:
    kept = apply(
        row("https://example.com/"),
        row("https://docs.example.com/"),
        row("https://notexample.com/"),
        site="example.com",
    )
    assert urls(kept) == ["https://example.com/", "https://docs.example.com/"]
    assert kept.report.off_site == 1


def test_freshness_drops_undated_results() -> None:
    kept = apply(row(), row("https://b.example/", published_date="2 weeks after"), freshness="P7D")
    assert urls(kept) == []
    assert kept.report.undated == 2


def test_without_freshness_undated_results_stay() -> None:
    assert urls(apply(row())) == [URL]


@pytest.mark.parametrize(
    ("published", "basis"),
    [
        ("2026-09-13T12:00:00Z", "date-time"),
        ("2026-09-13T14:00:00+02:00", "date-time"),
        ("2026-09-14", "date"),
        ("Sep 14, 2026", "date"),
        ("2026-09-14T02:00:00", "bound"),
        ("5 days ago", "bound"),
    ],
)
def test_freshness_keeps_what_is_proven_fresh_and_says_by_what(published: str, basis: str) -> None:
    kept = apply(row(published_date=published), freshness="P7D")
    assert [result.date_basis for result in kept.results] == [basis]
    assert kept.report.kept_by_bound == (basis == "bound")
    assert (kept.results[0].published_date is None) == (basis == "bound")


@pytest.mark.parametrize(
    "published",
    ["2026-09-13T11:59:59Z", "2026-09-13", "2026-09-14T01:59:59", "7 days ago", "September 2026", "2026", "03/04/2026"],
)
def test_freshness_drops_what_may_be_older(published: str) -> None:
    assert apply(row(published_date=published), freshness="P7D").report.too_old == 1


def test_relative_ages_count_from_when_the_vendor_answered() -> None:
    """A cached answer grows older with its results."""
    two_days_ago = NOW - timedelta(days=2)
    assert apply(row(published_date="5 days ago"), freshness="P7D").results
    assert not apply(row(published_date="5 days ago"), freshness="P7D", answered_at=two_days_ago).results


def test_exact_duplicates_of_a_url_are_dropped() -> None:
    kept = apply(row(title="first"), row(title="second"), row(URL + "#x"))
    assert [result.title for result in kept.results] == ["first", "A"]
    assert kept.report.duplicate == 1


def test_results_are_cut_to_max_results() -> None:
    kept = apply(*(row(f"https://example.com/{n}") for n in range(5)), max_results=3)
    assert len(kept.results) == 3
    assert kept.report.over_count == 2


def test_the_first_guarantee_that_drops_a_result_counts_it() -> None:
    old_and_off_site = row("https://b.example/", published_date="2020-01-01")
    report = apply(old_and_off_site, old_and_off_site, site="example.com", freshness="P7D").report
    assert (report.off_site, report.too_old, report.duplicate) == (2, 0, 0)


def test_an_answer_of_a_hundred_thousand_rows_is_not_read_to_its_end() -> None:
    assert apply(*[row()] * 100_000).report.over_count == 99_800


ANYTHING = st.none() | st.integers() | st.text() | st.lists(st.text(), max_size=2)


@given(st.lists(st.builds(row, ANYTHING, title=ANYTHING, snippet=ANYTHING, published_date=ANYTHING) | ANYTHING, max_size=5))
def test_no_row_raises_and_every_row_is_kept_or_counted(rows: list[Any]) -> None:
    kept = apply(*rows, freshness="P7D", site="example.com")
    report = kept.report
    dropped = report.malformed + report.refused_address + report.off_site + report.too_old
    assert len(rows) == len(kept.results) + dropped + report.undated + report.duplicate + report.over_count


@given(
    st.integers(-10 * 86_400, 30 * 86_400),
    st.integers(0, 400),
    st.sampled_from(["T%H:%M:%SZ", "T%H:%M:%S", ""]),
)
def test_what_freshness_keeps_is_at_or_after_its_instant(seconds_ago: int, hours: int, shape: str) -> None:
    text = (NOW - timedelta(seconds=seconds_ago)).strftime("%Y-%m-%d" + shape)
    kept = apply(row(published_date=text), freshness=f"PT{hours + 1}H")
    since = NOW - timedelta(hours=hours + 1)
    bound = published_date.not_before(text, NOW)
    assert bound is not None
    assert bool(kept.results) == (bound >= since)
