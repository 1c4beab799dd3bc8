"""A folder of Markdown files, read as pages and found by their words."""

import gc
import logging
import os
import sqlite3
import string
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchport import manual
from searchport.markdown_index import MAX_FILE_BYTES, PASSAGE_CHARACTERS, MarkdownIndex, read_page, read_pages
from searchport.markup import plain_text


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def paths(index: MarkdownIndex, query: str, **options: Any) -> list[str]:
    return [match.path for match in index.find(query, **({"limit": 10} | options))]


# Pages


def test_a_title_is_the_front_matters() -> None:
    assert read_page("a", "---\ntitle: 'Red: pandas'\n---\n# Heading\n").title == "Red: pandas"


def test_a_title_is_else_the_first_heading() -> None:
    assert read_page("a", "Before.\n\n# Red *pandas*\n\n# Second\n").title == "Red pandas"


def test_a_title_is_else_the_files_name() -> None:
    assert read_page("guides/red-pandas", "## Only a section\n").title == "red-pandas"


def test_the_text_is_what_a_reader_sees() -> None:
    source = (
        "# T\n\nUn**expected** [link](x.md), `co<d>e`\nnext ![alt](i.png)\n\n- a\n- b\n\n"
        "| c | d |\n| - | - |\n| e | f |\n\n```\nx <y>\n```\n"
    )
    assert read_page("a", source).text == "Unexpected link, co<d>e next alt a b c d e f x <y>"


def test_html_is_text() -> None:
    assert read_page("a", "A <form> & one &amp; two\n\n<div>x</div>\n").text == "A <form> & one & two <div>x</div>"


def test_a_front_matter_is_no_text() -> None:
    assert read_page("a", "---\r\ntags: x\r\n---\r\nBody\r\n").text == "Body"


def test_a_line_of_a_front_matter_that_no_one_would_write_is_passed_over() -> None:
    assert read_page("a", f"---\nnote: x{' ' * 500_000}y\ntitle: T\n---\n").title == "T"


@pytest.mark.parametrize("source", ["---\nBody\n---\n", "---\ntitle: x\n", "\n---\ntitle: x\n---\n"])
def test_what_only_looks_like_a_front_matter_is_text(source: str) -> None:
    assert read_page("a", source).title == "a"


@pytest.mark.parametrize(
    ("front_matter", "date"),
    [
        ("date: 2026-09-20", "2026-09-20"),
        ("date: '20 septembre 2026'  # when", "20 septembre 2026"),
        ("Date: 2026-09-20 # when", "2026-09-20"),
        ("lastmod: 2026-09-21\npublished: 2026-09-20", "2026-09-20"),
        ("date: soon\nupdated: 2026-09-20", "2026-09-20"),
        ("date: 2026-09-20T10:00:00", "2026-09-20T10:00:00"),
        ("date: 09/20/2026", "09/20/2026"),
        ("date:", None),
        ("due: 2026-09-20", None),
    ],
)
def test_a_date_is_the_front_matters_own_text(front_matter: str, date: str | None) -> None:
    assert read_page("a", f"---\nx: y\n{front_matter}\n---\n").date == date


@pytest.mark.parametrize("age", ["today", "2 days ago"])
def test_an_age_is_no_date_since_no_one_knows_when_it_was_written(age: str) -> None:
    assert read_page("a", f"---\ndate: {age}\n---\n").date is None


def test_pages_are_named_by_their_place(tmp_path: Path) -> None:
    write(tmp_path, {"b.md": "", "a/b c.md": "", "a/x.txt": "", "A.MD": ""})
    assert {page.path for page in read_pages(tmp_path)} == {"A", "b", "a/b c"}


def test_what_is_no_page_is_left_out_with_one_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    outside = write(tmp_path / "outside", {"secret.md": "secret"})
    folder = write(tmp_path / "in", {"a.md": "a", "latin.md": b"caf\xe9", "large.md": b"x" * (MAX_FILE_BYTES + 1)})
    (folder / "link.md").symlink_to(outside / "secret.md")
    (folder / "gone.md").symlink_to(outside / "gone.md")
    (folder / "linked").symlink_to(outside)
    os.mkfifo(folder / "pipe.md")
    with caplog.at_level(logging.WARNING):
        assert [page.path for page in read_pages(folder)] == ["a"]
    (record,) = caplog.records
    assert record.getMessage().startswith("6 left out")


def test_a_file_of_the_largest_size_is_a_page(tmp_path: Path) -> None:
    assert len(list(read_pages(write(tmp_path, {"a.md": "x" * MAX_FILE_BYTES})))) == 1


def test_a_link_inside_the_folder_is_a_page(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "a"})
    (tmp_path / "b.md").symlink_to(tmp_path / "a.md")
    assert [page.path for page in read_pages(tmp_path)] == ["a", "b"]


def test_hidden_names_and_folders_to_leave_out_are_passed_over(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(tmp_path, {".git/a.md": "", ".b.md": "", "examples/c.md": "", "d/examples/e.md": ""})
    assert [page.path for page in read_pages(tmp_path, leave_out={"examples"})] == ["d/examples/e"]
    assert caplog.records == []


# The index


def test_a_word_in_the_title_counts_more(tmp_path: Path) -> None:
    index = MarkdownIndex(write(tmp_path, {"a.md": "# Other\n\npandas pandas", "b.md": "# Pandas\n\nx", "c.md": "x"}))
    assert paths(index, "pandas") == ["b", "a"]


def test_the_words_found_are_marked(tmp_path: Path) -> None:
    index = MarkdownIndex(write(tmp_path, {"a.md": "# T\n\nThe red panda eats."}))
    (match,) = index.find("Pandas red", limit=1)
    assert match.snippet == "The <b>red</b> <b>panda</b> eats."


@pytest.mark.parametrize("text", ["A <form> and a </b> tag", "One &amp; two &lt; three", "`<b>` panda \x02 here \x03"])
def test_the_pages_text_reads_back(tmp_path: Path, text: str) -> None:
    index = MarkdownIndex(write(tmp_path, {"a.md": f"# T &amp; `<i>`\n\n```\n{text} panda\n```\n"}))
    (match,) = index.find("panda", limit=1)
    assert plain_text(match.snippet) == plain_text(f"{text} panda".replace("&", "&amp;").replace("<", "&lt;"))
    assert plain_text(match.title) == "T & <i>"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("pandas OR", ["a"]),
        ("NOT pandas", ["a"]),
        ("pandas*", ["a"]),
        ('"pandas', ["a"]),
        ("title:pandas", []),
        ("NEAR(pandas red)", ["a"]),
        ("body : red", ["a"]),
        ("web.search", ["b"]),
        ("Él", ["b"]),
        ("pand", []),
        ("* \" '' - ^ \0 ( ) { } : ; 🐼", []),
    ],
)
def test_a_query_is_literal_text(tmp_path: Path, query: str, found: list[str]) -> None:
    index = MarkdownIndex(
        write(tmp_path, {"a.md": "# A1\n\nred pandas", "b.md": "# B1\n\nel web.search", "c.md": "search the web"})
    )
    assert paths(index, query) == found


def test_a_long_page_is_found_once_with_its_best_passage(tmp_path: Path) -> None:
    filler = "filler " * (PASSAGE_CHARACTERS // 7)
    index = MarkdownIndex(write(tmp_path, {"a.md": f"# T\n\npanda {filler} red panda red panda {filler}", "b.md": filler}))
    (match,) = index.find("red panda", limit=10)
    assert "<b>red</b> <b>panda</b>" in match.snippet


def test_a_page_without_text_is_found_by_its_title(tmp_path: Path) -> None:
    assert paths(MarkdownIndex(write(tmp_path, {"a.md": "# Pandas\n"})), "pandas") == ["a"]


def test_pages_of_the_answer_join_without_gap_or_repeat(tmp_path: Path) -> None:
    index = MarkdownIndex(write(tmp_path, {f"{n}.md": "panda " * n for n in range(1, 8)}))
    whole = paths(index, "panda")
    assert len(whole) == 7
    assert whole == [path for offset in (0, 3, 6, 9) for path in paths(index, "panda", limit=3, offset=offset)]


def test_since_keeps_what_is_proven_to_be_no_older(tmp_path: Path) -> None:
    dates = {"a": "2026-09-20", "b": "2026-09-19", "c": "2026-09-20T10:00:00", "d": "soon"}
    index = MarkdownIndex(write(tmp_path, {f"{name}.md": f"---\ndate: {date}\n---\npanda" for name, date in dates.items()}))
    assert set(paths(index, "panda", since=datetime(2026, 9, 20, tzinfo=UTC))) == {"a"}
    assert set(paths(index, "panda", since=datetime(2026, 9, 19, tzinfo=UTC))) == {"a", "b", "c"}


@pytest.mark.parametrize("make", [lambda folder: None, lambda folder: folder.write_text(""), lambda folder: folder.mkdir()])
def test_a_folder_without_pages_is_an_error_until_it_has_some(tmp_path: Path, make: Callable[[Path], object]) -> None:
    folder = tmp_path / "docs"
    make(folder)
    index = MarkdownIndex(folder)
    with pytest.raises(OSError, match=r"docs|no Markdown"):
        index.find("panda", limit=1)
    if folder.is_file():
        folder.unlink()
    write(folder, {"a.md": "panda"})
    assert paths(index, "panda") == ["a"]


def test_a_blank_query_does_not_hide_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        MarkdownIndex(tmp_path / "none").find("*", limit=1)


def test_a_change_is_not_seen_once_the_index_is_built(tmp_path: Path) -> None:
    index = MarkdownIndex(write(tmp_path, {"a.md": "panda"}))
    index.build()
    write(tmp_path, {"b.md": "panda"})
    assert paths(index, "panda") == ["a"]


def test_threads_share_an_index(tmp_path: Path) -> None:
    index = MarkdownIndex(write(tmp_path, {f"{n}.md": f"panda word{n}" for n in range(30)}))
    with ThreadPoolExecutor(20) as threads:
        found = list(threads.map(lambda n: paths(index, f"word{n}"), range(30)))
    assert found == [[str(n)] for n in range(30)]


def test_an_index_that_is_dropped_closes_its_database(tmp_path: Path) -> None:
    index = MarkdownIndex(write(tmp_path, {"a.md": "panda"}))
    index.build()
    connection = index._connection
    del index
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")


INDEX = MarkdownIndex(manual.folder(), leave_out=manual.NOT_PAGES)


@given(st.text(max_size=2_000))
def test_no_text_is_a_syntax_error(query: str) -> None:
    try:
        INDEX.find(query, limit=3)
    except UnicodeEncodeError:
        assert not query.isprintable()  # a lone surrogate, which no request can hold


# English, Greek and Cyrillic letters: what the index keeps of them needs no table of Unicode to predict.
WORDS = st.text(
    alphabet=string.ascii_letters + string.digits + "αβγδεζηθικλμνξοπρστυφχψωабвгдежзийклмнопрстуфхцчшщъыьэюя", min_size=1
)


@given(words=st.lists(WORDS, min_size=1, max_size=30), data=st.data())
def test_a_pages_words_are_found(words: list[str], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = write(Path(name), {"a.md": "# Title\n\n```\n" + " ".join(words) + "\n```\n", "漢.md": ""})
        assert paths(MarkdownIndex(folder), data.draw(st.sampled_from(words)).swapcase()) == ["a"]
