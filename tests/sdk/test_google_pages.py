"""What vendors of Google's result pages share: Google's windows, languages, countries, rows and failures."""

from datetime import UTC, datetime, timedelta

import pytest

from searchport import ErrorCode, Recency, locale
from searchport.country_names import COUNTRY_NAMES
from searchport.egress import JsonBody
from searchport.egress.faults import refusal_of
from searchport.egress.refusals import Refusals
from searchport.google_pages import (
    COUNTRIES,
    INTERFACE_LANGUAGES,
    REFUSALS,
    WINDOWS,
    WRITTEN_IN,
    has_more,
    read_failure,
    read_results,
)
from searchport.published_date import normalize, not_before

NOW = datetime(2026, 9, 20, 12, tzinfo=UTC)


def test_every_window_has_googles_word() -> None:
    assert {recency: WINDOWS[recency] for recency in Recency} == {
        Recency.DAY: "qdr:d",
        Recency.WEEK: "qdr:w",
        Recency.MONTH: "qdr:m",
        Recency.YEAR: "qdr:y",
    }


@pytest.mark.parametrize(
    ("language", "written_in", "interface"),
    [
        ("en-GB", "lang_en", "en"),
        ("he", "lang_iw", "iw"),
        ("nb", "lang_no", "no"),
        ("fil", "lang_tl", "tl"),
        ("pt-BR", "lang_pt", "pt"),
        ("zh-Hant", "lang_zh-TW", "zh-tw"),
        ("zh", "lang_zh-CN", "zh-cn"),
        ("sw", None, None),
    ],
)
def test_a_language_is_spelt_as_google_does(language: str, written_in: str | None, interface: str | None) -> None:
    assert locale.lookup(language, WRITTEN_IN) == written_in
    assert locale.lookup(language, INTERFACE_LANGUAGES) == interface


def test_the_list_of_languages_is_whole() -> None:
    assert len(WRITTEN_IN) == len(INTERFACE_LANGUAGES) == 42


def test_britain_alone_is_spelt_otherwise_than_by_its_iso_code() -> None:
    assert len(COUNTRIES) == 242
    assert {code: sent for code, sent in COUNTRIES.items() if sent != code.lower()} == {"GB": "uk"}


def test_a_country_that_google_does_not_know_has_no_code() -> None:
    """The vendors refuse a call for it, which no best-effort option may cause."""
    assert locale.COUNTRIES - set(COUNTRIES) == {"AX", "BL", "BQ", "CW", "MF", "SS", "SX"}


def test_every_named_country_is_an_iso_country_with_a_name_of_its_own() -> None:
    assert set(COUNTRY_NAMES) <= locale.COUNTRIES
    assert len(set(COUNTRY_NAMES.values())) == len(COUNTRY_NAMES)
    assert all(name == name.lower().strip() and "," not in name for name in COUNTRY_NAMES.values())
    assert [COUNTRY_NAMES[code] for code in ("GB", "KR", "BA", "ZW")] == [
        "united kingdom",
        "south korea",
        "bosnia and herzegovina",
        "zimbabwe",
    ]


@pytest.mark.parametrize(
    ("answer", "status", "code"),
    [
        ({"search_metadata": {"status": "Success"}}, 200, None),
        ({"search_metadata": {"status": "Success"}, "error": "words"}, 200, None),
        ({"search_metadata": {"status": "Error"}}, 200, ErrorCode.PROVIDER_UNAVAILABLE),
        ({"search_metadata": {"status": "Error"}, "error": "words"}, 200, ErrorCode.PROVIDER_UNAVAILABLE),
        ({"search_metadata": {"status": "Error"}, "error": "words"}, 400, ErrorCode.PROVIDER_REJECTED),
        ({"search_metadata": {"status": "Error"}, "error": "words"}, 429, ErrorCode.PROVIDER_RATE_LIMITED),
        ({"error": "words"}, 200, ErrorCode.PROVIDER_REJECTED),
        ({"error": "words"}, 401, ErrorCode.PROVIDER_UNAUTHORIZED),
        ({"error": None}, 200, None),
    ],
)
def test_an_error_text_is_a_failure_unless_the_search_succeeded(
    answer: dict[str, object], status: int, code: ErrorCode | None
) -> None:
    fault = refusal_of(status, JsonBody(answer), {}, Refusals(dict(REFUSALS), read=read_failure))
    assert (fault and fault.code) is code


@pytest.mark.parametrize(
    ("section", "more"), [({"next": "https://a.example/"}, None), ({"current": 1}, False), ({}, False), (None, None)]
)
def test_pages_end_where_a_section_names_no_next_one(section: dict[str, object] | None, more: bool | None) -> None:
    assert has_more(JsonBody({"pagination": section}), "pagination") is more


def test_a_row_is_a_title_a_link_a_snippet_and_googles_words_for_its_date() -> None:
    rows = JsonBody(
        [{"title": "t", "link": "https://a.example/", "snippet": "s", "date": "3 days ago"}, {"date": 5}, None]
    ).rows()
    assert [(row.title, row.url, row.snippet, row.published_date) for row in read_results(rows)] == [
        ("t", "https://a.example/", "s", "3 days ago"),
        (None, None, None, None),
        (None, None, None, None),
    ]


@pytest.mark.parametrize(
    ("shown", "day"),
    [
        ("Sep 18, 2026", "2026-09-18"),
        ("Mar 3, 2024", "2024-03-03"),
        ("May 1, 2025", "2025-05-01"),
        ("Sept 1, 2025", "2025-09-01"),
    ],
)
def test_a_day_as_google_shows_it_in_english_is_a_published_date(shown: str, day: str) -> None:
    assert normalize(shown) == day


@pytest.mark.parametrize(
    ("shown", "age"),
    [
        ("5 mins ago", timedelta(minutes=6)),
        ("1 hour ago", timedelta(hours=2)),
        ("5 hours ago", timedelta(hours=6)),
        ("3 days ago", timedelta(days=4)),
        ("2 weeks ago", timedelta(weeks=3)),
    ],
)
def test_an_age_as_google_shows_it_in_english_is_a_bound_and_no_date(shown: str, age: timedelta) -> None:
    assert normalize(shown) is None
    assert not_before(shown, NOW) == NOW - age
