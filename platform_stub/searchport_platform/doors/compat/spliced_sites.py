"""A site that a client has written into the query, in the one form that LiteLLM writes.

Here a query is literal text, so that such a request would look for the words of its operators. It is read back where it has
exactly LiteLLM's form, and is the `site` option then.
"""

from __future__ import annotations

import re

from searchport.errors import SearchError
from searchport.site import Site

__all__ = ["take_site"]

_SPLICED = re.compile(r"\((?P<query>.+)\) (?:AND )?\((?P<sites>site:[^\s()]+(?: OR site:[^\s()]+)*)\)", re.DOTALL)


def take_site(query: str) -> tuple[str, Site | None]:
    """The query without `(site:…)` after it, and the site: `(q) AND (site:a)` for Brave, `(q) (site:a)` for Serper.

    Raises SearchError (`validation_error` at `$.q`) for several sites, and for one that is no host name.
    """
    match = _SPLICED.fullmatch(query)
    if match is None:
        return query, None
    sites = [site.removeprefix("site:") for site in match["sites"].split(" OR ")]
    if len(sites) > 1:
        raise SearchError.invalid("$.q", f"names {len(sites)} sites; one is allowed")
    try:
        return match["query"], Site.parse(sites[0])
    except SearchError as error:
        raise SearchError.invalid("$.q", f"its site: {error.faults[0].message}") from None
