"""Vendor text made plain: tags, references, hidden characters, white space, and cutting."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from searchport.markup import CleanText, clean, plain_text

CASE_FILE = Path(__file__).parents[1] / "cases" / "markup.jsonl"
CASES = [json.loads(line) for line in CASE_FILE.read_text("utf-8").splitlines()]
# `<scr` is directly followed by neither white space, `/` nor `>`: text. The script after it is never closed.
DECIDED_OTHERWISE = {"a <scr<script>ipt>x": "a <scr"}

# Default_Ignorable_Code_Point (DerivedCoreProperties.txt), written out here to check the module's table.
IGNORABLE = frozenset(
    chr(point)
    for first, last in (
        (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
        (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
        (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
    )
    for point in range(first, last + 1)
)  # fmt: skip
NEEDED_AT_TIMES = frozenset(
    [
        *"\u200c\u200d\ufe0e\ufe0f\u180b\u180c\u180d\u180f",
        *map(chr, (*range(0xE0100, 0xE01F0), *range(0xE0020, 0xE0080))),
    ]
)

TAGS = "< > </ <b> </b> <br> <script> </script> <style <!-- --> --!> <!D <? x-y <a href= & &lt &# &#x 8203 9999999999"
CHARACTERS = "\"'=; a01é字\u200d\x00\U0001f3f4\U000e0067\U000e007f\U0001f468\ufe0f\u0645\u094d\ud83d\ude00\u20e3"
MARKUP_PIECES = st.sampled_from([*TAGS.split(), *CHARACTERS])
RAW = st.one_of(st.text(st.characters(exclude_categories=[])), st.lists(MARKUP_PIECES, max_size=40).map("".join))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["why"])
def test_labelled_case_reads_as_its_label(case: dict[str, str]) -> None:
    assert plain_text(case["raw"]) == DECIDED_OTHERWISE.get(case["raw"], case["expected"])


@pytest.mark.parametrize("name", ["a", "span", "U", "wbr", "tt", "rb"])
def test_an_inline_element_leaves_nothing(name: str) -> None:
    assert plain_text(f"un<{name} class=x>expected</{name}>") == "unexpected"


@pytest.mark.parametrize("name", ["td", "H2", "video", "marquee", "x-badge", "font-face", "x-é"])
def test_any_other_element_leaves_a_space(name: str) -> None:
    assert plain_text(f"one<{name} class=x>two</{name}/>three") == "one two three"


@pytest.mark.parametrize(
    "text", ["List<String> x", "<y>", "a<ba>b", "<3", "<-", "<=", "</3>", "</>", "< b>", "<ſtrong>", "<b\xa0x>"]
)
def test_what_names_no_element_is_text(text: str) -> None:
    assert plain_text(text) == text.replace("\xa0", " ")


@pytest.mark.parametrize(
    "attributes",
    [
        "title='a > b'",
        'title="a > b"',
        "title = 'a > b' x",
        "a b='>' c=\">\"",
        "a=x\"y b='>'",
        "a/b='>'",
        "don't",
        "='",
    ],
)
def test_a_tag_ends_where_html_ends_it(attributes: str) -> None:
    assert plain_text(f"<a {attributes}>link</a>") == "link"


@pytest.mark.parametrize("cut", ["<b", "<b ", "<a href", "<a href=", "<a href='x>y", '<a href="x>y', "</b", "</stro", "</x-y"])
def test_a_tag_cut_by_the_end_goes_to_the_end(cut: str) -> None:
    assert plain_text(f"the quick {cut}") == "the quick"


@pytest.mark.parametrize("cut", ["<", "</", "<stro", "&am", "&#", "&#x"])
def test_what_could_have_become_markup_stays_text(cut: str) -> None:
    assert plain_text(f"the quick {cut}") == f"the quick {cut}"


@pytest.mark.parametrize(
    "unclosed", ["<!-- x <b>y</b>", "<script>x</scrip>y", "<style>p{}", "<!DOCTYPE x", "<?php x", "<script>x</script"]
)
def test_what_does_not_end_takes_the_rest_along(unclosed: str) -> None:
    assert plain_text(f"kept {unclosed}") == "kept"


@pytest.mark.parametrize("comment", ["<!---->", "<!-->", "<!--->", "<!-- a --!>", "<!-- <!-- -->", "<!--\n-- >-->"])
def test_a_comment_ends_where_html_ends_it(comment: str) -> None:
    assert plain_text(f"one {comment}two") == "one two"


def test_a_script_ends_only_at_its_own_end_tag() -> None:
    assert plain_text("a<script>'</style></scripts><b>'</SCRIPT\n>b") == "a b"


def test_a_reference_to_a_tag_is_not_a_tag() -> None:
    assert plain_text("&#60;script&#62;x&lt;/script>") == "<script>x</script>"


@pytest.mark.parametrize(
    ("reference", "character"),
    [
        ("&#" + "9" * 5_000 + ";", "\ufffd"),
        ("&#x" + "f" * 5_000 + ";", "\ufffd"),
        ("&#" + "0" * 5_000 + "65;", "A"),
        ("&#x110000;", "\ufffd"),
        ("&#xD800;", "\ufffd"),
        ("&#99999999", "\ufffd"),
        ("&#150;", "–"),
        ("&NotEqualTilde;", "\u2242\u0338"),
        ("&notit;", "¬it;"),
        ("&#٣;", "&#٣;"),
    ],
)
def test_a_reference_reads_as_in_html(reference: str, character: str) -> None:
    assert plain_text(f"x{reference}y") == f"x{character}y"


@pytest.mark.parametrize(
    "hidden", ["\x00", "\x1c", "\x7f", "\x9b", "\xad", "\u200b", "\u202e", "\u2066", "\ufeff", "\U000e0001", "\ufe05"]
)
def test_a_hidden_character_goes_and_is_counted(hidden: str) -> None:
    assert clean(f"ig{hidden}nore{hidden}{hidden}", html=False) == CleanText("ignore", 3)


@pytest.mark.parametrize("reference", ["&#8203;", "&#x200B;", "&shy;", "&zwj;", "&lrm;", "&#1;", "&#0;", "&#x7f;"])
def test_a_hidden_character_written_as_a_reference_is_counted(reference: str) -> None:
    assert clean(f"ig{reference}nore", html=True) == CleanText("ignore", 1)


@pytest.mark.parametrize(
    "text",
    [
        "می\u200cخواهم",  # Persian: no join
        "مِ\u200cخ",  # the same after a vowel mark
        "ක්\u200dෂ",  # Sinhala conjunct
        "ര്\u200d",  # Malayalam chillu, old spelling
        "র\u200d্য",  # Bengali ra and ya-phala
        "👨🏽\u200d💻",  # a skin tone before the joiner
        "🏳\ufe0f\u200d🌈",  # a selector before the joiner
        "🏴\u200d☠\ufe0f",
        "❤\ufe0f\u200d🔥 ✔\ufe0e",
        "1\ufe0f\u20e3 #\ufe0f\u20e3",  # keycaps
        "㊗\ufe0f 字\ufe0e",
        "葛\U000e0100城",  # ideographic variation sequence
        "ᠠ\u180b ᠭ\u200dᠠ",  # Mongolian
        "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",  # Scotland
        "⠁⠀⠃",  # Braille is text
    ],
)
def test_a_character_that_its_neighbours_need_stays(text: str) -> None:
    assert clean(text, html=True) == CleanText(text, 0)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("a\u200db\u200cc", "abc"),
        ("م\u200c z", "م z"),
        ("م\u200c\u200d\u200c\u200cخ", "م\u200cخ"),
        ("م\u200b\u200c\u200bخ", "م\u200cخ"),
        ("👨\u200dx", "👨x"),
        ("👨\u200c👨", "👨👨"),
        ("1\ufe0f2", "12"),
        ("😀\ufe0f\ufe0e\ufe0f", "😀\ufe0f"),
        ("😀\U000e0169\U000e0167", "😀"),
        ("字\U000e0100\U000e0101", "字\U000e0100"),
        ("a\u180bᠠ", "aᠠ"),
        ("🏴\U000e0067\U000e0062", "🏴"),
        ("🏴\U000e0069\U000e0067\U000e006e\U000e006f\U000e0072\U000e0065\U000e007f", "🏴"),
        ("😀\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "😀"),
    ],
)
def test_a_character_that_its_neighbours_do_not_need_goes(raw: str, text: str) -> None:
    assert clean(raw, html=True) == CleanText(text, len(raw) - len(text))


def test_a_surrogate_pair_is_its_character_and_a_lone_one_is_replaced() -> None:
    assert clean("\ud83d\ude00 \ude00\ud83d", html=True) == CleanText("😀 \ufffd\ufffd", 0)


def test_a_tag_smuggled_as_surrogate_pairs_is_removed() -> None:
    assert clean("hi\udb40\udc69", html=False) == CleanText("hi", 1)


def test_every_unicode_white_space_folds_to_one_space() -> None:
    spaces = "\t\n\v\f\r \x85\xa0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000"
    assert clean("".join(f"a{space}" for space in spaces) + spaces, html=False) == CleanText(" ".join("a" * len(spaces)), 0)


def test_plain_text_keeps_what_looks_like_markup() -> None:
    assert clean("the <form>  &amp; <!-- x", html=False) == CleanText("the <form> &amp; <!-- x", 0)


def test_no_more_than_16_000_characters_are_read() -> None:
    assert plain_text("ab " * 10_000) == plain_text(("ab " * 10_000)[:16_000])


@pytest.mark.parametrize(
    ("raw", "limit", "text"),
    [
        ("one two three", 13, "one two three"),
        ("one two three", 12, "one two"),
        ("one two three", 7, "one two"),
        ("one two three", 6, "one"),
        ("<p>one</p> two", 5, "one"),
        ("a " + "b" * 50, 40, "a"),
        ("b" * 50, 40, "b" * 40),
        ("検索 " + "字" * 50, 40, "検索 " + "字" * 37),
        ("漢字 " + "b" * 50, 40, "漢字"),
        ("👨\u200d👩\u200d👧", 4, "👨\u200d👩"),
        ("م\u200cخ", 2, "م"),
        ("🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", 4, "🏴"),
    ],
)
def test_a_limit_cuts_at_the_last_white_space_and_leaves_nothing_dangling(raw: str, limit: int, text: str) -> None:
    assert clean(raw, html=True, limit=limit).text == text


def test_a_cut_does_not_change_the_count_of_hidden_characters() -> None:
    assert clean("one two\u200bthree\u200b", html=True, limit=5) == CleanText("one", 2)


@given(RAW)
@example("&#" + "9" * 4_301)
def test_nothing_raises_and_nothing_hidden_comes_out(raw: str) -> None:
    text = plain_text(raw)
    seen = {*text}
    assert not seen & (IGNORABLE - NEEDED_AT_TIMES)
    assert not {character for character in seen if unicodedata.category(character) in ("Cc", "Cs")}


@given(RAW)
def test_plain_output_is_a_fixed_point(raw: str) -> None:
    once = clean(raw, html=False)
    assert clean(once.text, html=False) == CleanText(once.text, 0)


@given(RAW, st.integers(1, 60))
def test_a_limit_holds_and_its_text_is_a_fixed_point(raw: str, limit: int) -> None:
    cut = clean(raw, html=True, limit=limit).text
    assert len(cut) <= limit
    assert clean(cut, html=False) == CleanText(cut, 0)


@given(RAW)
def test_output_is_one_line_without_outer_space(raw: str) -> None:
    text = plain_text(raw)
    assert text == " ".join(text.split())


@given(st.text(st.characters(categories=["L", "N", "P", "Z"], exclude_characters="<&" + "".join(IGNORABLE))))
def test_ordinary_text_only_folds(raw: str) -> None:
    assert clean(raw, html=True) == CleanText(" ".join(raw.split()), 0)
