"""The only way out of the process: what may be reached, and the client that reaches it.

Importing this package imports nothing of the HTTP stack: each name is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from searchport.lazy import lazy_names

if TYPE_CHECKING:
    from .client import HttpClient, TextAnswer
    from .deadline import Deadline
    from .html_body import HtmlBody, parse_html
    from .json_body import JsonBody
    from .policy import AddressPolicy, UrlFault
    from .refusals import Refusals

__all__ = [
    "AddressPolicy",
    "Deadline",
    "HtmlBody",
    "HttpClient",
    "JsonBody",
    "Refusals",
    "TextAnswer",
    "UrlFault",
    "parse_html",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "AddressPolicy": "policy",
        "Deadline": "deadline",
        "HtmlBody": "html_body",
        "HttpClient": "client",
        "JsonBody": "json_body",
        "Refusals": "refusals",
        "TextAnswer": "client",
        "UrlFault": "policy",
        "parse_html": "html_body",
    },
)
