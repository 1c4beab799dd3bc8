"""Web search as a toolkit capability: what an extension author imports."""

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
