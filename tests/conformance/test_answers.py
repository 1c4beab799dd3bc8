"""The answers file is read strictly: every mistake is told, with its place."""

from pathlib import Path

import pytest

from searchport.testing.conformance import Answers, AnswersError

PAGE = """
[page]
body = '{"hits": [{{rows}}], "next": {{cursor}}, "page": {{page}}}'
row = '{"t": {{title}}, "u": {{url}}, "d": {{date}}}'
[[dates]]
given = "2026-09-18"
published = "2026-09-18"
"""
NO_SHAPE = "is no published date; write YYYY-MM-DD or 2026-09-20T08:15:00Z, or leave it out"
SCENARIO = PAGE + '[[answers]]\nscenario = "s"\nexpect = "empty"\n'
HTML = """
format = "html"
[page]
body = '<ol>{{rows}}</ol>'
row = '<li><a href="/go?to={{url|quote}}">{{title}}</a><time>{{date}}</time><p>{{snippet}}</p></li>'
[[dates]]
given = "2026-09-18"
"""


def faults(text: str) -> list[str]:
    with pytest.raises(AnswersError) as caught:
        Answers.parse(text)
    return [str(fault) for fault in caught.value.faults]


def test_json_values_are_written_whole() -> None:
    answers = Answers.parse(PAGE)
    rows = answers.rows(1, 1)
    expected = '{"hits": [{"t": "Harbour lantern number 1", "u": "https://page-1.example.com/lantern/1", "d": "2026-09-18"}], '
    assert answers.write_page(rows, number=2) == expected + '"next": "cursor-2-4b1d", "page": 2}'


def test_rows_are_joined_with_commas_in_json() -> None:
    answers = Answers.parse(PAGE)
    assert "}, {" in answers.write_page(answers.rows(1, 2))


def test_urls_are_quoted_and_text_is_escaped_in_html() -> None:
    answers = Answers.parse(HTML)
    (row,) = answers.rows(1, 1)
    written = answers.write_row(row)
    assert 'href="/go?to=https%3A%2F%2Fpage-1.example.com%2Flantern%2F1"' in written
    assert "<time>2026-09-18</time>" in written


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["$.page: required, but not given"]),
        ("[page]\nbody = 'x'\nrow = 5", ["$.page.row: expected a text, got 5"]),
        (
            PAGE.replace("{{title}}", "{{titel}}"),
            [
                "$.page.row: {{titel}} is unknown here (known: crawled, date, rank, snippet, title, url, url|quote)",
                "$.page.row: it has no place for {{title}}",
            ],
        ),
        (PAGE.replace("[{{rows}}]", "[]"), ["$.page.body: it has no place for {{rows}}"]),
        (
            PAGE.replace('"t": {{title}}', '"t": "{{title}}"'),
            ["$.page.row: it gives no JSON once it is filled: Expecting ',' delimiter: line 1 column 9 (char 8)"],
        ),
        (
            PAGE + '[[answers]]\nscenario = "s"\nexpect = "emtpy"',
            ["$.answers[0].expect: 'emtpy' is neither 'empty' nor an error code; did you mean 'empty'?"],
        ),
        (SCENARIO + "retry_after = 3", ["$.answers[0].retry_after: an empty answer carries none"]),
        (SCENARIO + "status = 99", ["$.answers[0].status: 99 is no HTTP status from 200 to 599"]),
        (SCENARIO + SCENARIO.removeprefix(PAGE), ["$.answers[1].scenario: 's' is there twice"]),
        (
            PAGE + '[[dates]]\ngiven = "x"\npublished = "18.09.2026"',
            [f"$.dates[1].published: '18.09.2026' {NO_SHAPE}"],
        ),
        (
            PAGE + "[[dates]]\ngiven = 2026-09-18",
            ["$.dates[1].given: expected a text, a number or a boolean, got date; quote a date"],
        ),
        (PAGE + '[[dates]]\ngiven = "2026-09-18"', ["$.dates[1].given: '2026-09-18' is there twice"]),
        (PAGE.partition("[[dates]]")[0], ["$.dates: the row has a {{date}}, but no [[dates]] says what that field can hold"]),
        (PAGE.replace('"d": {{date}}', '"d": 1'), ["$.dates: the row has no place for {{date}}"]),
        (
            'fromat = "html"\n' + PAGE,
            ["$.fromat: unknown; did you mean 'format'? (known: format, settings, page, dates, answers, models)"],
        ),
        ('format = "xml"\n' + PAGE, ["$.format: 'xml' is neither 'json' nor 'html'"]),
        ("settings = 5\n" + PAGE, ["$.settings: expected a table, got 5"]),
    ],
)
def test_a_mistake_is_told_with_its_place(text: str, expected: list[str]) -> None:
    assert faults(text) == expected


def test_all_mistakes_are_told_together() -> None:
    text = PAGE + '[[dates]]\npublished = 5\n[[answers]]\nexpect = "empty"\nbdoy = ""'
    assert [fault.partition(":")[0] for fault in faults(text)] == [
        "$.dates[1].given", "$.dates[1].published", "$.answers[0].scenario", "$.answers[0].bdoy",
    ]  # fmt: skip


def test_what_is_no_toml_says_where() -> None:
    (fault,) = faults("[page\nbody = 1")
    assert "at line 1" in fault


def test_the_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "answers.toml"
    path.write_text("", encoding="utf-8")
    with pytest.raises(AnswersError, match=r"answers\.toml cannot be used:\n  \$\.page: required"):
        Answers.load(path)
