"""What a route takes and answers, written beside its handler; `/openapi.json` is made of it.

A handler is described by one decorator; its docstring is the operation's summary, its name the operation's id:

    @describe(body=AGENT_BODY, answers={200: Answer("The agent.", AGENT)}, scope=Scope.ADMIN)
    async def put_agent(self, request): ...
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TypeVar

import attrs
from aiohttp import web

from searchport.errors import ErrorCode, Fault, SearchError, shorten
from searchport.wire import camel_case, nearest
from searchport_platform.tenancy.tokens import Scope

__all__ = [
    "ANY_TEXT",
    "COMMON",
    "VENDOR",
    "Answer",
    "Body",
    "Failures",
    "Operation",
    "Parameter",
    "Shape",
    "check_query",
    "describe",
    "find_operation",
]

_ATTRIBUTE = "__searchport_operation__"
F = TypeVar("F", bound=Callable[..., object])

COMMON = frozenset(
    {
        ErrorCode.VALIDATION_ERROR,
        ErrorCode.UNAUTHORIZED,
        ErrorCode.FORBIDDEN,
        ErrorCode.STORAGE_UNAVAILABLE,
        ErrorCode.INTERNAL_ERROR,
    }
)
"""What every route can answer that asks for a token."""

VENDOR = frozenset(
    {
        ErrorCode.PROVIDER_NOT_CONFIGURED,
        ErrorCode.PROVIDER_UNAUTHORIZED,
        ErrorCode.PROVIDER_REJECTED,
        ErrorCode.PROVIDER_RATE_LIMITED,
        ErrorCode.PROVIDER_UNAVAILABLE,
        ErrorCode.UPSTREAM_UNREACHABLE,
        ErrorCode.UPSTREAM_TIMEOUT,
    }
)
"""What a route can answer, too, that asks a vendor."""


@attrs.frozen
class Shape:
    """A named JSON Schema, a component of the description.

    uses: the shapes that it refers to by `ref`. example: makes a value that it fits, from what renders the real ones.
    """

    name: str
    build: Callable[[], dict[str, object]] = attrs.field(repr=False)
    uses: tuple[Shape, ...] = ()
    example: Callable[[], object] | None = attrs.field(default=None, kw_only=True, repr=False)

    @property
    def ref(self) -> dict[str, object]:
        """How another schema refers to it."""
        return {"$ref": f"#/components/schemas/{self.name}"}


ANY_TEXT = Shape("Text", lambda: {"type": "string"})


def _by_media_type(shape: Shape | Mapping[str, Shape] | None) -> Mapping[str, Shape]:
    return {"application/json": shape} if isinstance(shape, Shape) else dict(shape or {})


@attrs.frozen
class Answer:
    """A success, or a failure that has no code. contents: media type -> shape, or that of JSON; None: there is no body."""

    words: str
    contents: Mapping[str, Shape] = attrs.field(default=None, converter=_by_media_type)


@attrs.frozen
class Body:
    """A JSON body. examples: name -> a body that is answered with the operation's success; the tests send them."""

    shape: Shape
    examples: Mapping[str, object]


@attrs.frozen
class Parameter:
    """A query parameter, or a header."""

    name: str
    words: str
    schema: Mapping[str, object] = attrs.field(factory=lambda: {"type": "string"})
    place: str = "query"
    example: object = None


@attrs.frozen
class Failures:
    """How a door tells a failure: its shape, its media type, and its status for a code of the catalogue."""

    shape: Shape
    media: str = "application/problem+json"
    status: Callable[[ErrorCode], int] = attrs.field(default=lambda code: code.status, repr=False)


@attrs.frozen(kw_only=True)
class Operation:
    """What is told of a route. scope: what the token must allow; None: see `security`. codes: the failures it can answer."""

    id: str
    summary: str
    description: str
    tag: str
    answers: Mapping[int, Answer]
    body: Body | None
    parameters: tuple[Parameter, ...]
    codes: frozenset[ErrorCode]
    failures: Failures | None
    scope: Scope | None
    security: tuple[str, ...]

    @property
    def query_names(self) -> list[str]:
        """The query parameters that the route takes."""
        return [parameter.name for parameter in self.parameters if parameter.place == "query"]


def describe(
    tag: str,
    *,
    answers: Mapping[int, Answer],
    body: Body | None = None,
    parameters: tuple[Parameter, ...] = (),
    codes: frozenset[ErrorCode] = frozenset(),
    failures: Failures | None = None,
    scope: Scope | None = None,
    security: tuple[str, ...] = ("bearer",),
    identity: str | None = None,
) -> Callable[[F], F]:
    """Describes a handler. security: names of schemes of which one is needed; `""`: none. identity: where the name is taken."""

    def decorate(handler: F) -> F:
        summary, _, rest = (inspect.getdoc(handler) or "").partition("\n\n")
        operation = Operation(
            id=identity or camel_case(handler.__name__),
            summary=" ".join(summary.replace("`", "").split()).removesuffix(
                "."
            ),  # no Markdown there (OpenAPI 3.1, section 4.8.10)
            description=rest,
            tag=tag,
            answers=answers,
            body=body,
            parameters=parameters,
            codes=codes,
            failures=failures,
            scope=scope,
            security=security,
        )
        setattr(handler, _ATTRIBUTE, operation)
        return handler

    return decorate


def find_operation(handler: object) -> Operation | None:
    """The description of a handler, or of the one that it wraps; None where there is none."""
    found = getattr(handler, _ATTRIBUTE, None)
    return found if isinstance(found, Operation) else None


def check_query(request: web.Request, handler: object) -> None:
    """Refuses a query parameter that the handler is not described with, or that comes twice: one would be read as not given.

    Raises SearchError (`validation_error`) with every fault.
    """
    operation = find_operation(handler)
    known = [] if operation is None else operation.query_names
    faults = []
    for name in dict.fromkeys(request.query):
        if name not in known:
            listed = f" (known: {', '.join(known)})" if known else "; this route takes none"
            faults.append(Fault("$", f"unknown query parameter {shorten(name)}{nearest(name, known)}{listed}"))
        elif len(request.query.getall(name)) > 1:
            faults.append(Fault(f"$.{name}", "given more than once"))
    if faults:
        raise SearchError(ErrorCode.VALIDATION_ERROR, faults=faults[:20])
