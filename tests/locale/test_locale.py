"""Languages, countries and locales: what is taken, what is refused and how, and the way to a vendor's codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from babel import Locale
from babel.core import get_global
from hypothesis import given
from hypothesis import strategies as st

from searchport.errors import ErrorCode, SearchError
from searchport.locale import COUNTRIES, LANGUAGES, find_market, lookup, parse_country, parse_language, parse_locale, two_part

if TYPE_CHECKING:
    from collections.abc import Callable

# CLDR's regions that ISO 3166-1 does not assign: reserved, grouping, user-assigned.
CLDR_ONLY = frozenset({"AC", "CP", "CQ", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "XK", "ZZ"})


def refusal(parse: Callable[[str], object], text: object, path: str) -> str:
    with pytest.raises(SearchError) as caught:
        parse(text)  # type: ignore[arg-type]
    assert caught.value.code is ErrorCode.VALIDATION_ERROR
    (fault,) = caught.value.faults
    assert fault.path == path
    return fault.message


def test_languages_are_those_of_cldr_but_the_withdrawn() -> None:
    assert {code for code in map(str, Locale("en").languages) if len(code) == 2} - {"sh"} == LANGUAGES


def test_there_are_183_languages_and_249_countries() -> None:
    assert (len(LANGUAGES), len(COUNTRIES)) == (183, 249)


def test_countries_are_those_of_cldr_but_what_iso_does_not_assign() -> None:
    territories = map(str, Locale("en").territories)
    assert {code for code in territories if len(code) == 2 and code.isalpha()} - CLDR_ONLY == COUNTRIES


def test_no_country_is_one_that_cldr_replaced() -> None:
    assert not COUNTRIES & {*get_global("territory_aliases")}


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("en", "en"),
        ("EN", "en"),
        ("pt-br", "pt-BR"),
        ("ZH-hant-tw", "zh-Hant-TW"),
        ("es-419", "es-419"),
        ("fil", "fil"),
        ("zh-yue-HK", "zh-yue-HK"),
        ("sr-Latn-XK", "sr-Latn-XK"),
        ("SL-Rozaj-BISKE-1994", "sl-rozaj-biske-1994"),
        ("de-1996", "de-1996"),
        ("en-u-CA-Gregory-x-A-Foo", "en-u-ca-gregory-x-a-foo"),
    ],
)
def test_a_language_comes_out_in_canonical_case(text: str, tag: str) -> None:
    assert parse_language(text) == tag


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("jp", "ja"),
        ("jp-JP", "ja-JP"),
        ("English", "en"),
        ("eng", "en"),
        ("iw", "he"),
        ("en_US", "en-US"),
        ("en_us_posix", "en-US-posix"),
        ("en-UK", "en-GB"),
        ("en-USA", "en-US"),
        (" en", "en"),
        ("no-bok", "nb"),
        ("en-GB-oed", "en-GB"),
        ("zh-CHT", "zh-Hant"),
    ],
)
def test_a_refused_language_comes_with_the_one_that_is_meant(text: str, meant: str) -> None:
    assert refusal(parse_language, text, "$.language").endswith(f"; write {meant!r}")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "e",
        "x-foo",
        "i-klingon-x",
        "und",
        "und-US",
        "mul",
        "zxx",
        "qaa",
        "abcd",
        "abcdefghi",
        "-en",
        "en-",
        "en--US",
        "en-US-GB",
        "en-XQ",
        "en-1996-1996",
        "en-a-bb-a-cc",
        "en-a",
        "en-x",
        "zh-min",
        "ſe",
        "én",
        "e" * 101,
        "en-" * 5000,
        "en\x00",
    ],
)
def test_what_names_no_language_is_refused(text: str) -> None:
    assert "; write a BCP 47 tag" in refusal(parse_language, text, "$.language")


@pytest.mark.parametrize("value", [True, None, 7, b"en", ["en"]])
def test_a_language_that_is_no_string_is_refused(value: object) -> None:
    assert "is not a string" in refusal(parse_language, value, "$.language")


@pytest.mark.parametrize("text", ["US", "us", "uS"])
def test_a_country_comes_out_in_upper_case(text: str) -> None:
    assert parse_country(text) == "US"


@pytest.mark.parametrize(("text", "meant"), [("UK", "GB"), ("uk", "GB"), ("USA", "US"), ("EL", "GR"), ("ja", "JP")])
def test_a_refused_country_comes_with_the_one_that_is_meant(text: str, meant: str) -> None:
    assert refusal(parse_country, text, "$.country") == f"{text!r} is no ISO 3166-1 alpha-2 country; write {meant!r}"


@pytest.mark.parametrize("value", ["", "U", "EU", "XK", "ZZ", " US", "US\n", "ıt", "ﬁ", "Germany", "8", True, None, 7, b"US"])
def test_what_names_no_country_is_refused(value: object) -> None:
    assert "; write two letters" in refusal(parse_country, value, "$.country")


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("en-US", ("en-US", "US")),
        ("en", ("en", None)),
        ("es-419", ("es-419", None)),
        ("sr-Latn-xk", ("sr-Latn-XK", None)),
        ("zh-hant-tw", ("zh-Hant-TW", "TW")),
        ("de-ch-1996", ("de-CH-1996", "CH")),
    ],
)
def test_a_locale_is_a_language_and_its_country(text: str, locale: tuple[str, str | None]) -> None:
    assert parse_locale(text) == locale


@pytest.mark.parametrize(("text", "clause"), [("en_US", "write 'en-US'"), ("en-UK", "write 'en-GB'"), (None, "is not a string")])
def test_a_refused_locale_names_its_own_path(text: object, clause: str) -> None:
    assert clause in refusal(parse_locale, text, "$.locale")


@pytest.mark.parametrize(
    ("language", "supported", "code"),
    [
        ("en-US", {"en": "E", "en-GB": "B"}, "E"),
        ("en-GB-x-a", {"en": "E", "EN-gb": "B"}, "B"),
        ("en-u-ca-gregory", {"en-u": "wrong", "en": "E"}, "E"),
        ("pt", {"pt-BR": "B"}, None),
        ("de", {"en": "E"}, None),
        ("zh-Hant-TW", {"zh": "Z", "zh-hant": "T", "zh-hant-tw": "TW"}, "TW"),
        ("zh-Hant-TW", {"zh": "Z", "zh-hant": "T"}, "T"),
        ("zh-HK", {"zh": "Z", "zh-hant": "T", "zh-hans": "S"}, "T"),
        ("zh-SG", {"zh": "Z", "zh-hant": "T", "zh-hans": "S"}, "S"),
        ("zh-HK", {"zh": "Z", "zh-hk": "HK", "zh-hant": "T"}, "HK"),
        ("zh-HK", {"zh": "Z"}, "Z"),
        ("zh-HK", {"zh": "Z", "zh-TW": "T", "zh-CN": "S"}, "T"),
        ("zh-Hans", {"zh": "Z", "zh-TW": "T", "zh-CN": "S"}, "S"),
        ("zh", {"zh-hant": "T", "zh-hans": "S"}, "S"),
        ("nb-NO", {"no": "N"}, "N"),
        ("no", {"nb": "N"}, "N"),
    ],
)
def test_a_language_finds_the_vendors_code_that_fits_best(language: str, supported: dict[str, str], code: str | None) -> None:
    assert lookup(language, supported) == code


@given(st.text("abcdexyzEN-_019ſé", max_size=20))
def test_a_language_that_parses_is_a_fixed_point(text: str) -> None:
    try:
        tag = parse_language(text)
    except SearchError:
        return
    assert parse_language(tag) == tag
    assert tag.lower() == text.lower()


@given(st.sampled_from(sorted(LANGUAGES)), st.sampled_from(["", "-Latn", "-hANS"]), st.sampled_from(sorted(COUNTRIES)))
def test_every_language_script_and_country_make_a_locale(language: str, script: str, country: str) -> None:
    tag, found = parse_locale(f"{language}{script}-{country}".upper())
    assert (tag.lower(), found) == (f"{language}{script}-{country}".lower(), country)
    assert lookup(tag, {language: "found"}) == "found"


@pytest.mark.parametrize(
    ("language", "country", "joined"),
    [
        (None, None, None),
        (None, "DE", None),
        ("de", None, "de"),
        ("de", "AT", "de-AT"),
        ("de-CH", None, "de-CH"),
        ("de-CH", "AT", "de-AT"),
        ("es-419", None, "es"),
        ("sr-Latn-RS", None, "sr-RS"),
        ("zh-Hant", None, "zh-TW"),
        ("zh-Hant-HK", None, "zh-HK"),
        ("zh-Hans", "SG", "zh-SG"),
    ],
)
def test_a_language_and_a_country_are_joined_to_two_parts(language: str | None, country: str | None, joined: str | None) -> None:
    assert two_part(language, country) == joined


MARKETS = {("en", "US"): "en-us", ("de", "CH"): "de-ch", ("fr", "CH"): "fr-ch", ("no", "NO"): "no-no", ("en", "GB"): "en-gb"}


@pytest.mark.parametrize(
    ("language", "country", "market", "ignored"),
    [
        (None, None, None, ()),
        ("en", None, "en-us", ()),
        ("en-GB", None, "en-gb", ()),
        ("en-AU", None, "en-us", ()),
        ("fr", "CH", "fr-ch", ()),
        (None, "CH", "de-ch", ()),
        ("it", "CH", "de-ch", ("language",)),
        ("en", "CH", "de-ch", ("language",)),
        ("nb", None, "no-no", ()),
        ("de", "AT", "de-ch", ("country",)),
        ("it", None, None, ("language",)),
        ("it-CH", None, None, ("language",)),
        (None, "IT", None, ("country",)),
        ("it", "IT", None, ("language", "country")),
    ],
)
def test_a_market_fits_both_else_the_country_else_the_language(
    language: str | None, country: str | None, market: str | None, ignored: tuple[str, ...]
) -> None:
    assert find_market(language, country, MARKETS) == (market, ignored)
