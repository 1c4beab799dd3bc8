"""Where the product's own manual stands: the Markdown pages that `/docs` serves, and that `local` searches by default."""

from __future__ import annotations

from pathlib import Path

__all__ = ["NOT_PAGES", "folder"]

NOT_PAGES = frozenset({"examples"})
"""Folders at the manual's top whose files are no pages of it."""

_HERE = Path(__file__).resolve()
# A wheel brings the pages along beside this module; in a source tree they stand at its root.
_PLACES = (_HERE.with_name("manual"), _HERE.parents[2] / "docs")


def folder() -> Path:
    """The manual's folder. Raises FileNotFoundError, naming the places where its `index.md` was looked for."""
    for place in _PLACES:
        if (place / "index.md").is_file():
            return place
    looked = ", ".join(str(place / "index.md") for place in _PLACES)
    raise FileNotFoundError(f"the manual's pages are not installed: there is none of {looked}; install searchport again")
