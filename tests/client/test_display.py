"""What a notebook shows: hostile pages write titles, URLs and snippets, and none of it may become more than text."""

import asyncio
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from searchport.client import AsyncClient, SearchAnswer

from .conftest import ANSWER, Recorder

TAGS = {"div", "p", "b", "table", "thead", "tbody", "tr", "th", "td", "a", "bdi", "br", "small", "ul", "li"}
ATTRIBUTES = {"class", "style", "href", "rel", "target"}

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=https://evil.example/pixel.png onerror=alert(1)>",
    "</td></tr></table></div><iframe srcdoc='<b>x'>",
    "\"><svg onload=alert(1)>",
    "' onmouseover='alert(1)",
    "&lt;script&gt; &amp; &#x3c;b&#x3e;",
    "<!-- --><style>*{display:none}</style>",
    "[click](javascript:alert(1)) ![x](https://evil.example/p.png)",
    "](https://evil.example) [y",
    "`code` **bold** _it_ ~~no~~ # head | cell | <https://evil.example>",
    "$\\href{javascript:alert(1)}{x}$ $$\\unicode{x202e}$$ \\(x\\)",
    "one\n\n# two\n\n1. three\n\n```\nfour\n```\n\n---\n| a |\n|---|",
    "https://evil.example www.evil.example me@evil.example",
    "\u202edlrow\u2066 \u200bhidden",
    "bell\x07 null\x00 escape\x1b[31m",
    "half \ud83d a pair",
    "\\",
    "",
]  # fmt: skip

BAD_URLS = [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "//evil.example/x",
    "/relative",
    "",
    "https://",
    "https://user:pass@evil.example/",
    "https://good.example\\@evil.example/",
    "https://evil.example/\nx",
    " https://evil.example/",
    "https://evil.example/a b",
    "http://[::1",
]

ODD_URLS = [
    'https://x.example/"onmouseover="alert(1)',
    "https://x.example/'><script>alert(1)</script>",
    "https://x.example/a)b](c)<d>`e`*f*_g_|h&amp;i$j$\\k~l~",
    "https://x.example/?q=1&copy=2#<x>",
    "HTTPS://X.example/%00",
]


class Page(HTMLParser):
    """Tags, attributes and the text of a page."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.other: list[str] = []
        self.open: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.other.append(data)

    def handle_decl(self, decl: str) -> None:
        self.other.append(decl)

    def handle_pi(self, data: str) -> None:
        self.other.append(data)

    def links(self) -> list[dict[str, str | None]]:
        return [attrs for tag, attrs in self.tags if tag == "a"]


async def answer(title: str = "t", url: str = "https://x.example/", snippet: str | None = "s", **fields: Any) -> SearchAnswer:
    hit = {"rank": 1, "title": title, "url": url, "snippet": snippet}
    return await AsyncClient(transport=Recorder(ANSWER | {"results": [hit]} | fields)).search("tea")


def check_html(source: str) -> Page:
    """Only our own tags and attributes, each closed, whatever the texts were."""
    page = Page(source)
    assert page.open == []
    assert page.other == []
    assert {tag for tag, _ in page.tags} <= TAGS
    assert {name for _, attrs in page.tags for name in attrs} <= ATTRIBUTES
    assert all(attrs.get("style") in (None, "text-align: left; vertical-align: top") for _, attrs in page.tags)
    for link in page.links():
        assert (link["rel"], link["target"]) == ("noopener noreferrer nofollow", "_blank")
        assert (link["href"] or "").lower().startswith(("http://", "https://"))
    source.encode()
    return page


def check_markdown(source: str, *, links: int) -> str:
    """No markup but the list, our emphasis and the results' own links, in a renderer that takes HTML too."""
    parser = MarkdownIt("gfm-like", {"html": True, "linkify": False})
    blocks = parser.parse(source)
    assert {token.type for token in blocks} <= {
        "paragraph_open", "paragraph_close", "inline", "ordered_list_open", "ordered_list_close", "bullet_list_open",
        "bullet_list_close", "list_item_open", "list_item_close",
    }  # fmt: skip
    inside = [child for token in blocks for child in token.children or ()]
    assert {child.type for child in inside} <= {
        "text", "text_special", "strong_open", "strong_close", "link_open", "link_close", "hardbreak", "softbreak",
    }  # fmt: skip
    targets = [str(child.attrs["href"]) for child in inside if child.type == "link_open"]
    assert len(targets) == links
    assert all(target.lower().startswith(("http://", "https://")) for target in targets)
    # Renderers that make links of bare addresses look for these.
    assert re.search(r"://|www\.", re.sub(r"\]\(<(\\.|[^\\>])*>\)", "", source)) is None
    source.encode()
    return "".join(child.content for child in inside)


@pytest.mark.parametrize("place", ["title", "snippet"])
@pytest.mark.parametrize("text", HOSTILE)
async def test_a_hostile_text_stays_text(place: str, text: str) -> None:
    shown = await answer(**{place: text})
    page = check_html(shown._repr_html_())
    assert len(page.links()) == 1
    check_markdown(shown._repr_markdown_(), links=1)
    if text.isprintable():
        assert text in page.text
        assert " ".join(text.split()) in check_markdown(shown._repr_markdown_(), links=1)


@pytest.mark.parametrize("text", HOSTILE)
async def test_the_platforms_own_texts_are_no_markup_either(text: str) -> None:
    shown = await answer(
        query=text,
        provider=text,
        notices=[{"code": "sunset", "message": text}],
        ignored=[text],
        attempts=[{"provider": text, "outcome": text}] * 2,
        cached=True,
    )
    check_html(shown._repr_html_())
    check_markdown(shown._repr_markdown_(), links=1)


@pytest.mark.parametrize("url", BAD_URLS)
async def test_what_is_no_web_address_is_no_link(url: str) -> None:
    shown = await answer(url=url)
    assert check_html(shown._repr_html_()).links() == []
    check_markdown(shown._repr_markdown_(), links=0)


@pytest.mark.parametrize("url", ODD_URLS)
async def test_a_link_leads_exactly_where_the_result_does(url: str) -> None:
    shown = await answer(url=url)
    (link,) = check_html(shown._repr_html_()).links()
    assert link["href"] == url
    check_markdown(shown._repr_markdown_(), links=1)
    parser = MarkdownIt("commonmark")
    parser.normalizeLink = lambda target: target  # type: ignore[method-assign]  # else the parser's own spelling is compared
    inside = [child for token in parser.parse(shown._repr_markdown_()) for child in token.children or ()]
    assert [child.attrs["href"] for child in inside if child.type == "link_open"] == [url]


async def test_nothing_is_fetched_from_another_server() -> None:
    shown = (await answer())._repr_html_()
    assert [word for word in ("src=", "url(", "<img", "<link", "@import", "srcset", "background") if word in shown] == []


async def test_no_mathematics_is_made_of_dollar_signs() -> None:
    page = check_html((await answer(title="$x$"))._repr_html_())
    assert {"tex2jax_ignore", "mathjax_ignore"} <= set((page.tags[0][1]["class"] or "").split())


async def test_each_text_is_isolated_from_the_direction_of_the_next() -> None:
    page = check_html((await answer(title="\u202e", snippet="\u202e"))._repr_html_())
    assert [tag for tag, _ in page.tags].count("bdi") == 3


async def test_the_host_is_shown_whatever_the_title_claims() -> None:
    shown = await answer(title="https://bank.example", url="https://xn--bnk-sma.example/bank.example")
    assert "xn--bnk-sma.example" in check_html(shown._repr_html_()).text
    assert "(xn--bnk-sma.example)" in check_markdown(shown._repr_markdown_(), links=1)
    unicode = await answer(url="https://bänk.example/")
    assert "xn--bnk-qla.example" in check_html(unicode._repr_html_()).text


async def test_what_explains_an_answer_is_shown() -> None:
    shown = await answer(
        cached=True,
        attempts=[{"provider": "brave", "outcome": "upstream_timeout"}, {"provider": "fake", "outcome": "ok"}],
        filterReport={"tooOld": 2, "undated": 1, "hiddenCharacters": 7},
    )
    for text in (Page(shown._repr_html_()).text, check_markdown(shown._repr_markdown_(), links=1)):
        for words in (
            "1 result for 'tea' from fake, cached",
            "Untrusted. Titles and snippets were written by the owners of the pages.",
            "It ends.",
            "Ignored by the provider: language",
            "Asked: brave (upstream_timeout), fake (ok)",
            "Filter report: 2 too old, 1 undated, 7 hidden characters",
        ):
            assert words in text


async def test_no_results_are_said_to_be_none() -> None:
    shown = await answer(results=[])
    assert "No results for 'tea' from fake" in check_html(shown._repr_html_()).text
    assert "<table>" not in shown._repr_html_()
    assert "No results for 'tea' from fake" in check_markdown(shown._repr_markdown_(), links=0)


TEXTS = st.text(st.characters() | st.sampled_from("<>&\"'`*_[]()!#|$\\~:/.-\n\t @"), max_size=40)


@given(TEXTS, TEXTS, st.sampled_from(["https://x.example/", "https://x.example/?", "javascript:", ""]), TEXTS)
def test_no_text_becomes_markup(title: str, snippet: str, start: str, rest: str) -> None:
    shown = asyncio.run(answer(title=title, snippet=snippet, url=start + rest))
    links = check_html(shown._repr_html_()).links()
    assert [link["href"] for link in links] in ([], [start + rest])
    check_markdown(shown._repr_markdown_(), links=len(links))
