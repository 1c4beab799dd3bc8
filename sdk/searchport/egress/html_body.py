"""A vendor's page, read by CSS selectors instead of regular expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from searchport.errors import ErrorCode, SearchError

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

__all__ = ["HtmlBody", "parse_html"]

_MOST_ROWS: Final = 1_000
# Lexbor takes the square of the depth: 10,000 nested elements cost 0.1 s, 50,000 cost 2.5 s. Result pages have about 1,000 tags.
_MOST_TAGS: Final = 10_000
_LONGEST: Final = 1024 * 1024


@attrs.frozen
class HtmlBody:
    """A read-only view of a page, or of one element of it; the counterpart of `JsonBody`.

    Every reader takes a CSS selector for elements under this one; the first counts, in the page's order. None, left out: this
    element itself. What is not there gives None, False or an empty list. No reader raises on what a vendor sent.
    """

    _node: LexborNode = attrs.field(repr=False)

    def rows(self, selector: str) -> list[HtmlBody]:
        """All elements that match, at most the first 1,000."""
        return [HtmlBody(node) for node in self._node.css(selector)[:_MOST_ROWS]]

    def has(self, selector: str) -> bool:
        """True where an element matches."""
        return self._node.css_first(selector) is not None

    def text(self, selector: str | None = None) -> str | None:
        """The element's text, white space trimmed at both ends: tags gone, references decoded once, so `text="plain"`."""
        node = self._find(selector)
        return None if node is None else node.text().strip()

    def attribute(self, name: str, selector: str | None = None) -> str | None:
        """An attribute's value, its references decoded once; an attribute without a value is an empty text."""
        node = self._find(selector)
        return None if node is None or name not in node.attributes else node.attributes[name] or ""

    def fields(self) -> dict[str, str]:
        """Names and values of the inputs under this element, a form; those without a name, such as its button, left out."""
        inputs = [row._node.attributes for row in self.rows("input")]
        return {name: held.get("value") or "" for held in inputs if (name := held.get("name"))}

    def _find(self, selector: str | None) -> LexborNode | None:
        return self._node if selector is None else self._node.css_first(selector)


def parse_html(text: str) -> HtmlBody:
    """A page as a body: what a browser would make of it, scripts not run.

    Raises SearchError (`provider_unavailable`) for a text without an element, and for one that is too large to be a page of
    results: more than a million characters or 10,000 tags.
    """
    from selectolax.lexbor import LexborHTMLParser  # here, not above: only providers without an API read HTML

    if len(text) > _LONGEST or text.count("<") > _MOST_TAGS:
        raise SearchError(ErrorCode.PROVIDER_UNAVAILABLE, reason="a page larger than results are")
    root = LexborHTMLParser(text.replace("\x00", "")).root if "<" in text else None
    if root is None:
        raise SearchError(ErrorCode.PROVIDER_UNAVAILABLE, reason="no HTML where a page was expected")
    return HtmlBody(root)
