"""Web search as a toolkit capability: what an extension author imports.

Each name is loaded when it is first used; the HTTP stack only by what calls a vendor.
"""

from typing import TYPE_CHECKING

from searchport.lazy import lazy_names

if TYPE_CHECKING:
    from searchport.errors import ErrorCode, Fault, SearchError
    from searchport.freshness import Freshness
    from searchport.request import Recency, Safe, SearchRequest
    from searchport.result import SearchResponse, SearchResult
    from searchport.site import Site
    from searchport.toolkit import SEARCH_API_KEY, Sunset, Toolkit, define_toolkit, operator_only
    from searchport.web_search import SearchContext, SearchModel, define_web_search

__all__ = [
    "SEARCH_API_KEY",
    "ErrorCode",
    "Fault",
    "Freshness",
    "Recency",
    "Safe",
    "SearchContext",
    "SearchError",
    "SearchModel",
    "SearchRequest",
    "SearchResponse",
    "SearchResult",
    "Site",
    "Sunset",
    "Toolkit",
    "define_toolkit",
    "define_web_search",
    "operator_only",
]

_MODULES = ("client", "egress", "errors", "freshness", "guarantees", "locale", "markup", "published_date", "site", "testing")

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "SEARCH_API_KEY": "toolkit",
        "ErrorCode": "errors",
        "Fault": "errors",
        "Freshness": "freshness",
        "Recency": "request",
        "Safe": "request",
        "SearchContext": "web_search",
        "SearchError": "errors",
        "SearchModel": "web_search",
        "SearchRequest": "request",
        "SearchResponse": "result",
        "SearchResult": "result",
        "Site": "site",
        "Sunset": "toolkit",
        "Toolkit": "toolkit",
        "define_toolkit": "toolkit",
        "define_web_search": "web_search",
        "operator_only": "toolkit",
    }
    | dict.fromkeys(_MODULES, ""),
)
