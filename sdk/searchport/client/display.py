"""An answer as a notebook shows it. Every text in it was written by strangers: nothing of it may become markup, script or
mathematics, or make a request to another server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

import attrs

from searchport.egress.policy import AddressPolicy

if TYPE_CHECKING:
    from .answer import SearchAnswer, SearchHit

__all__ = ["render_html", "render_markdown"]

_RELATION = "noopener noreferrer nofollow"
# Notebooks typeset what stands between dollar signs, and MathJax can make links and styles of it; these are the classes that it
# passes over (MathJax 3, `ignoreHtmlClass`; MathJax 2, `ignoreClass`).
_NO_MATHEMATICS = "tex2jax_ignore mathjax_ignore"
_LEFT = 'style="text-align: left; vertical-align: top"'

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_MARKDOWN = re.compile(r"[!-/:-@\[-`{-~]")  # CommonMark 0.31, section 2.4: any of these may stand behind a backslash
_LINKED = AddressPolicy(allow_private_addresses=True)


def render_html(answer: SearchAnswer) -> str:
    """One element, with no style sheet, script, image or id."""
    facts = "".join(f"<li>{_html(fact)}</li>" for fact in _facts(answer))
    head = "".join(f"<th {_LEFT}>{name}</th>" for name in ("", "Result", "Published"))
    rows = "".join(_html_row(hit) for hit in answer.results)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>" if answer.results else ""
    return (
        f'<div class="searchport-answer {_NO_MATHEMATICS}"><p><b>{_html(_summary(answer))}</b></p>{table}'
        f"<p><b>Untrusted.</b> {_html(answer.untrusted_note)}</p>{f'<ul>{facts}</ul>' if facts else ''}</div>"
    )


def _html_row(hit: SearchHit) -> str:
    title = f"<bdi>{_html(hit.title)}</bdi>"
    if _is_link(hit.url):
        title = f'<a href="{escape(hit.url)}" rel="{_RELATION}" target="_blank">{title}</a>'
    snippet = "" if hit.snippet is None else f"<br><bdi>{_html(hit.snippet)}</bdi>"
    where = f"<br><small><bdi>{_html(_address(hit.url))}</bdi></small>"
    return (
        f"<tr><td {_LEFT}>{hit.rank}</td><td {_LEFT}>{title}{where}{snippet}</td>"
        f"<td {_LEFT}>{_html(hit.published_date or '')}</td></tr>"
    )


def _html(text: str) -> str:
    return escape(_CONTROL.sub("\ufffd", text))


def render_markdown(answer: SearchAnswer) -> str:
    """A numbered list, with every ASCII punctuation mark of a stranger's text behind a backslash."""
    rows = "".join(f"{_markdown_row(hit)}\n" for hit in answer.results)
    facts = "".join(f"- {_markdown(fact)}\n" for fact in _facts(answer))
    parts = [f"**{_markdown(_summary(answer))}**\n", rows, f"**Untrusted.** {_markdown(answer.untrusted_note)}\n", facts]
    return "\n".join(part for part in parts if part)


def _markdown_row(hit: SearchHit) -> str:
    title = _markdown(hit.title) or _markdown(_address(hit.url))
    shown = f"[{title}](<{_MARKDOWN_TARGET.sub(_behind_backslash, hit.url)}>)" if _is_link(hit.url) else title
    details = [_address(hit.url), *([hit.published_date] if hit.published_date else [])]
    snippet = f"  \n   {_markdown(hit.snippet)}" if hit.snippet else ""
    return f"{hit.rank}. {shown} ({_markdown(', '.join(details))}){snippet}"


_MARKDOWN_TARGET = re.compile(r"[\\<>&`*_\[\]|$~]")  # what can end a target, start an entity, or pair with a mark outside of it


def _behind_backslash(mark: re.Match[str]) -> str:
    return f"\\{mark[0]}"


def _markdown(text: str) -> str:
    """On one line, since a line can begin a block."""
    return _MARKDOWN.sub(_behind_backslash, _CONTROL.sub("\ufffd", " ".join(text.split())))


# What both show


def _summary(answer: SearchAnswer) -> str:
    count = {0: "No results", 1: "1 result"}.get(len(answer), f"{len(answer)} results")
    return f"{count} for {answer.query!r} from {answer.provider}{', cached' if answer.cached else ''}"


def _facts(answer: SearchAnswer) -> Iterator[str]:
    """Why an answer is what it is: notices, what was ignored, who was asked before, and what the guarantees dropped."""
    yield from (notice.message for notice in answer.notices)
    if answer.ignored:
        yield f"Ignored by the provider: {', '.join(answer.ignored)}"
    if len(answer.attempts) > 1:
        yield f"Asked: {', '.join(f'{attempt.provider} ({attempt.outcome})' for attempt in answer.attempts)}"
    counts = [f"{count} {name.replace('_', ' ')}" for name, count in attrs.asdict(answer.filter_report).items() if count]
    if counts:
        yield f"Filter report: {', '.join(counts)}"


def _is_link(url: str) -> bool:
    """True for an http(s) URL with a host that every parser reads alike, without credentials."""
    return _LINKED.url_fault(url, any_port=True) is None and not re.search(r"\s", url)


def _address(url: str) -> str:
    """Where a link leads, whatever its title claims: the host as it is looked up (A-labels); any other text as it is, cut."""
    if not _is_link(url):
        return url[:120]
    from yarl import URL

    return URL(url).raw_host or ""
