"""Pages read by CSS selectors."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchport.egress import HtmlBody, parse_html
from searchport.errors import ErrorCode, SearchError

PAGE = parse_html("""
<!DOCTYPE html><html><body><div id="links">
<div class="hit wide"><a class="title" href="/l/?u=a%2Fb&amp;r=1">The <b>big</b> one &amp;amp; more</a>
<span> &nbsp; today </span></div>
<div class="hit"><a class="title" hidden>Second</a></div>
<form><input name="q" value="a &amp; b"><input type="submit" value="Next"><input name="s"></form>
</div></body></html>
""")


def test_rows_are_the_elements_that_match_in_their_order() -> None:
    assert [row.text(".title") for row in PAGE.rows(".hit")] == ["The big one &amp; more", "Second"]
    assert PAGE.rows(".nothing") == []


def test_a_reader_without_a_selector_reads_the_element_itself() -> None:
    title = PAGE.rows(".title")[1]
    assert title.text() == "Second"
    assert title.attribute("class") == "title"


def test_a_text_has_no_tags_and_its_references_are_decoded_once() -> None:
    assert PAGE.text(".title") == "The big one &amp; more"
    assert PAGE.text(".hit > span") == "today"


def test_an_attribute_is_decoded_once() -> None:
    assert PAGE.attribute("href", ".title") == "/l/?u=a%2Fb&r=1"
    assert PAGE.rows(".title")[1].attribute("hidden") == ""


def test_what_is_not_there_is_none() -> None:
    assert PAGE.text(".nothing") is None
    assert PAGE.attribute("href", ".nothing") is None
    assert PAGE.attribute("id", ".title") is None
    assert not PAGE.has(".nothing")
    assert PAGE.has("#links")


def test_a_row_is_searched_below_itself_alone() -> None:
    assert not PAGE.rows(".hit")[1].has("span")
    assert PAGE.rows(".hit")[1].rows(".title")[0].text() == "Second"


def test_a_forms_fields_are_its_inputs_with_a_name() -> None:
    assert PAGE.rows("form")[0].fields() == {"q": "a & b", "s": ""}


def test_at_most_a_thousand_rows_are_read() -> None:
    assert len(parse_html("<p>x</p>" * 1_001).rows("p")) == 1_000


@pytest.mark.parametrize("text", ["", "words", '{"results": []}'])
def test_a_text_without_an_element_is_no_page(text: str) -> None:
    with pytest.raises(SearchError, match="no HTML") as caught:
        parse_html(text)
    assert caught.value.code is ErrorCode.PROVIDER_UNAVAILABLE


@pytest.mark.parametrize("text", ["<p>" + "x" * 1024 * 1024, "<div>" * 10_001])
def test_a_page_larger_than_results_are_is_refused(text: str) -> None:
    with pytest.raises(SearchError, match="larger") as caught:
        parse_html(text)
    assert caught.value.code is ErrorCode.PROVIDER_UNAVAILABLE


@pytest.mark.parametrize("piece", ["<div>", "<b><div>", "<form><div>", "<table><b>", "<a><p>"])
def test_the_deepest_page_that_is_read_takes_less_than_a_second(piece: str) -> None:
    text = piece * (10_000 // piece.count("<"))
    started = time.perf_counter()
    parse_html(text).rows("div.hit")
    assert time.perf_counter() - started < 1


@given(st.text(alphabet="<>/=\"'&;# abdivsp\x00\ud800é!-", max_size=200))
def test_any_text_is_a_page_or_is_refused(text: str) -> None:
    try:
        page = parse_html(text)
    except SearchError as refusal:
        assert refusal.code is ErrorCode.PROVIDER_UNAVAILABLE
        return
    assert isinstance(page, HtmlBody)
    assert all(isinstance(row.text(), str) for row in page.rows("*"))
