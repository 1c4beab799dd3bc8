"""The options of a search as keyword arguments, checked before anything is sent."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, TypeAlias, TypedDict, TypeVar, cast, get_type_hints

import attrs

from searchport.errors import ErrorCode, Fault, SearchError
from searchport.freshness import Freshness
from searchport.request import Recency, Safe, SearchRequest
from searchport.site import Site
from searchport.wire import camel_case, structure

__all__ = ["SearchOptions", "build_payload", "with_options"]

F = TypeVar("F", bound=Callable[..., object])

RecencyName: TypeAlias = Literal["day", "week", "month", "year"]
SafeName: TypeAlias = Literal["off", "moderate", "strict"]


class SearchOptions(TypedDict, total=False):
    """Every option of `SearchRequest` but the query, parsed or as text; None means not given, as leaving it out does."""

    max_results: int | None
    recency: Recency | RecencyName | None
    freshness: Freshness | str | None
    site: Site | str | None
    language: str | None
    country: str | None
    safe: Safe | SafeName | None
    provider_options: Mapping[str, object] | None


def with_options(function: F) -> F:
    """The same function, whose signature shows each option by its name, for `help()` and completion in a notebook."""
    signature = inspect.signature(function)
    kept = [given for given in signature.parameters.values() if given.kind is not inspect.Parameter.VAR_KEYWORD]
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in get_type_hints(SearchOptions).items()
    ]
    function.__signature__ = signature.replace(parameters=[*kept, *options])  # type: ignore[attr-defined]  # PEP 362
    return function


def build_payload(query: str, options: Mapping[str, object]) -> dict[str, object]:
    """The platform API's JSON object; what is not given is left out, so that the organization's own defaults hold.

    Raises SearchError (`validation_error`) with every fault, each under the name of its argument: `$.max_results`.
    """
    faults = list(_find_unsendable(options.get("provider_options")))
    request = None
    try:
        request = structure({"query": query, **options}, SearchRequest)
    except SearchError as refusal:
        faults[:0] = refusal.faults
    if request is None or faults:
        raise SearchError(ErrorCode.VALIDATION_ERROR, faults=faults)
    names = [field.name for field in attrs.fields(SearchRequest) if field.name == "query" or options.get(field.name) is not None]
    return {camel_case(name): _render(getattr(request, name)) for name in names}


def _render(value: object) -> object:
    if isinstance(value, Mapping):
        return _copy(cast("Mapping[str, object]", value))
    return value if isinstance(value, int) else str(value)


def _copy(value: Mapping[str, object]) -> object:
    """Plain JSON of its own, the same for a platform in this process as for one behind HTTP."""
    copied: object = json.loads(json.dumps(dict(value), ensure_ascii=False, allow_nan=False).encode())
    return copied


def _find_unsendable(provider_options: object) -> Iterator[Fault]:
    if isinstance(provider_options, Mapping):
        try:
            _copy(provider_options)
        except (TypeError, ValueError, RecursionError):
            message = "holds something that JSON cannot carry; give texts, finite numbers, true, false, None, lists and mappings"
            yield Fault("$.provider_options", message)
