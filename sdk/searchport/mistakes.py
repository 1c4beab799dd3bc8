"""What can be wrong with a declared web search, found when its module is imported."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from searchport.errors import ErrorCode, SearchError
from searchport.price import Price
from searchport.request import MAX_QUERY, OPTION_NAMES, Recency
from searchport.wire import nearest

if TYPE_CHECKING:
    from searchport.web_search import WebSearch

__all__ = ["BEST_EFFORT", "CONTRACT", "Evidence", "Text", "find_mistakes"]

CONTRACT = "web-search@1"
"""The contract that this SDK speaks."""

Text: TypeAlias = Literal["html", "plain"]
"""What a vendor's titles and snippets are."""

Evidence: TypeAlias = Literal["recorded", "documentation"]
"""What a vendor's wire was learned from."""

_FLAGS = ("literal", "cacheable", "breaker")

BEST_EFFORT = frozenset({"recency", "language", "country"})
"""The options that an answer may say it ignored."""


def find_mistakes(declared: WebSearch[Any]) -> list[tuple[str, str]]:
    """What is wrong with a declaration, each with its fix."""
    mistakes = [*_find_option_mistakes(declared), *_find_recency_mistakes(declared), *_find_table_mistakes(declared)]
    if declared.contract != CONTRACT:
        mistakes.append((f"contract {declared.contract!r} is unknown", f"this SDK speaks {CONTRACT!r}"))
    mistakes += _find_function_mistakes(declared)
    if declared.text not in get_args(Text):
        mistakes.append((f"text {declared.text!r} is unknown", "write text='html' or text='plain'"))
    if declared.evidence not in (None, *get_args(Evidence)):
        mistakes.append((f"evidence {declared.evidence!r} is unknown", "write evidence='recorded' or evidence='documentation'"))
    for name in ("page_size", "max_pages", "max_query", "max_query_words"):
        value = getattr(declared, name)
        if value is not None and (type(value) is not int or value < 1):
            mistakes.append((f"{name} is {value!r}", "give a whole number from 1"))
    if type(declared.max_query) is int and declared.max_query > MAX_QUERY:
        mistakes.append((f"max_query is {declared.max_query}", f"the contract takes at most {MAX_QUERY}; leave it out"))
    mistakes += [(f"{name} is no boolean", "write True or False") for name in _FLAGS if type(getattr(declared, name)) is not bool]
    if declared.price is not None:
        mistake = declared.price.mistake if isinstance(declared.price, Price) else f"it is {declared.price!r}"
        mistakes += [(f"price_per_1000: {mistake}", "give a Decimal such as Decimal('5'), or a Price")] if mistake else []
    return mistakes


def _find_function_mistakes(declared: WebSearch[Any]) -> list[tuple[str, str]]:
    mistakes = []
    if not inspect.iscoroutinefunction(declared.function):
        mistakes.append(("its search function is not async", "write `async def search(request, context)`"))
    elif not _takes(declared.function, 2):
        mistakes.append(("its search function does not take two arguments", "write `async def search(request, context)`"))
    if declared.fetch_models is not None and not inspect.iscoroutinefunction(declared.fetch_models):
        mistakes.append(("its fetch_models is not async", "write `async def fetch_models(context)`"))
    for name, reader in (("read_refusal", declared.refusals.read), ("read_wait_seconds", declared.refusals.read_wait_seconds)):
        if reader is not None and (not callable(reader) or inspect.iscoroutinefunction(reader)):
            mistakes.append((f"its {name} is no plain function", f"write `def {name}(…)`"))
    return mistakes


def _takes(function: Callable[..., object], count: int) -> bool:
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    return True


def _find_table_mistakes(declared: WebSearch[Any]) -> list[tuple[str, str]]:
    mistakes = []
    for name in ("languages", "countries"):
        table, option = getattr(declared, name), {"languages": "language", "countries": "country"}[name]
        if table is not None and not all(isinstance(part, str) for pair in table.items() for part in pair):
            mistakes.append((f"{name} holds what is no text", "map tags to the vendor's codes, both texts"))
        if table is not None and option not in declared.native | declared.best_effort:
            mistakes.append((f"{name} is given, but {option!r} is listed nowhere", f'add it to best_effort={{"{option}"}}'))
    for key, meaning in declared.refusals.table.items():
        is_key = isinstance(key, str | int) or (isinstance(key, tuple) and tuple(map(type, key)) == (int, str))
        if isinstance(key, ErrorCode) or not is_key or not isinstance(meaning, ErrorCode | SearchError):
            fix = "map the vendor's status, code or (status, code) to an ErrorCode or a SearchError"
            mistakes.append((f"refusals holds {key!r}: {type(meaning).__name__}", fix))
    return mistakes


def _find_option_mistakes(declared: WebSearch[Any]) -> list[tuple[str, str]]:
    unknown = [
        (place, name)
        for place in ("unsupported", "native", "best_effort")
        for name in sorted(map(str, getattr(declared, place) - set(OPTION_NAMES)))
    ]
    options = f"the options are: {', '.join(OPTION_NAMES)}"
    return [
        *((f"{place} names the unknown option {name!r}", options + nearest(name, OPTION_NAMES)) for place, name in unknown),
        *(
            (f"{name!r} cannot be best effort", "honour it, or list it in `unsupported`")
            for name in sorted(declared.best_effort & set(OPTION_NAMES) - BEST_EFFORT)
        ),
        *(
            (f"{name!r} is unsupported and supported at once", "keep one of the two")
            for name in sorted(declared.unsupported & (declared.native | declared.best_effort))
        ),
        *(
            (f"{name!r} is native and best effort at once", "keep one of the two")
            for name in sorted(declared.native & declared.best_effort)
        ),
    ]


def _find_recency_mistakes(declared: WebSearch[Any]) -> list[tuple[str, str]]:
    if declared.recency is None:
        return []
    missing = [member.name for member in Recency if member not in declared.recency]
    if missing:
        names = ", ".join(f"Recency.{name}" for name in missing)
        return [(f"recency misses {names}", "map every member: to the vendor's value, or to None for a window it lacks")]
    odd = sorted(map(str, set(declared.recency) - set(Recency)))
    if odd:
        return [(f"recency maps {', '.join(odd)}", "map the members of Recency alone")]
    wrong = [r for r, value in declared.recency.items() if not (value is None or isinstance(value, str) or callable(value))]
    asynchronous = [r for r, value in declared.recency.items() if inspect.iscoroutinefunction(value)]
    return [
        *((f"recency[{r}] is no text", "give a text, a function of now, or None") for r in wrong),
        *((f"recency[{r}] is async", "write a plain function of now") for r in asynchronous),
    ]
