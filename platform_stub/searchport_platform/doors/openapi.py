"""`/openapi.json`, made of what stands beside each handler, and `/api/docs`, the page to browse it with.

The page is Swagger UI 5.35.0 (Apache-2.0), its files as they were published, served from the package: no other host is asked for
anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import attrs
from aiohttp import web
from apispec import APISpec

from searchport.errors import ErrorCode
from searchport_platform.doors.operations import Answer, Operation, Parameter, Shape, describe, find_operation
from searchport_platform.doors.request_id import HEADER

__all__ = ["OpenApiDoor", "build_description"]

OPENAPI_VERSION = "3.1.0"
PAGE = Path(__file__).parent / "api_docs"
_FILES = {
    "swagger-ui.css": "text/css",
    "swagger-ui-bundle.js": "text/javascript",
    "start.js": "text/javascript",
    "LICENSE": "text/plain",
    "NOTICE": "text/plain",
    "swagger-ui-bundle.js.LICENSE.txt": "text/plain",
}
"""Each with its media type: what a machine guesses from a name differs."""
_CACHED = {"Cache-Control": "public, max-age=300", "X-Content-Type-Options": "nosniff"}
_PAGE_HEADERS = _CACHED | {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
}

_INTRODUCTION = f"""Web search at the provider that the caller's organization chose.

Every answer bears `{HEADER}`: the caller's own where it sent one of 1 to 64 letters, digits and `._-`, else a new one. A
`traceparent` (W3C Trace Context) is taken into the log and sent to no vendor. `null` in a request means not given; an unknown
field or query parameter is refused by name. A failure is never an empty list of results.
"""

_PATH = {
    "organization": "The organization's id.",
    "provider": "The provider's id.",
    "agent": "The agent's id.",
    "token": "The token's id, which is no secret.",
}

_SCHEMES = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "A token of the platform, `spt_…`; what it needs is its scope.",
    },
    "opsToken": {
        "type": "http",
        "scheme": "bearer",
        "description": "The operator's SEARCHPORT_OPS_TOKEN; where there is none, callers on the server's own machine need none.",
    },
}

_TAGS = {
    "Search": "Searching, for the organization of the token.",
    "Search block": "Searching as a step of a workflow.",
    "Agent tool": "The tool that a model sees, for hosts that run a model's loop themselves.",
    "Administration": "What an organization's admin does.",
    "Operation": "What the operator does.",
    "Stateless service": "Searching with the provider and its key in each request; `web-search@1`.",
    "Health": "Whether the process lives, and whether it is to get calls.",
    "Description": "This description.",
}


@attrs.define(eq=False)
class OpenApiDoor:
    """Open to everyone: it tells what can be asked, and nothing of what is stored. version: of the product."""

    version: str
    _text: str | None = attrs.field(default=None, init=False)

    def routes(self) -> list[web.RouteDef]:
        """What the server mounts."""
        return [
            web.get("/openapi.json", self.get_description),
            web.get("/api/docs", self.page),
            web.get("/api/docs/", self.page),
            web.get("/api/docs/{file}", self.file),
        ]

    @describe(
        "Description",
        answers={200: Answer("OpenAPI 3.1.", Shape("Description", lambda: {"type": "object", "required": ["openapi", "paths"]}))},
        security=(),
    )
    async def get_description(self, request: web.Request) -> web.Response:
        """OpenAPI 3.1 of this server."""
        if self._text is None:
            self._text = json.dumps(build_description(request.app, self.version))
        return web.Response(text=self._text, content_type="application/json", headers=_CACHED)

    async def page(self, _request: web.Request) -> web.FileResponse:
        """The page that shows it."""
        return web.FileResponse(PAGE / "index.html", headers=_PAGE_HEADERS | {"Content-Type": "text/html; charset=utf-8"})

    async def file(self, request: web.Request) -> web.FileResponse:
        """One of the page's own files."""
        name = request.match_info["file"]
        if name not in _FILES:
            raise web.HTTPNotFound
        return web.FileResponse(PAGE / name, headers=_CACHED | {"Content-Type": f"{_FILES[name]}; charset=utf-8"})


def build_description(app: web.Application, version: str) -> dict[str, object]:
    """OpenAPI 3.1 of every route of the server whose handler is described."""
    tags: dict[str, None] = {}
    spec = APISpec(
        title="Searchport",
        version=version,
        openapi_version=OPENAPI_VERSION,
        info={"description": _INTRODUCTION},
        servers=[{"url": "/"}],
    )
    shapes: dict[str, Shape] = {}
    for method, path, operation in _described(app):
        spec.path(path=path, operations={method: _render_operation(operation, path)})
        tags[operation.tag] = None
        for shape in _shapes_of(operation):
            _collect(shape, shapes)
    for name, shape in sorted(shapes.items()):
        spec.components.schema(name, _render_shape(shape))
    for name, scheme in _SCHEMES.items():
        spec.components.security_scheme(name, dict(scheme))
    for name in tags:
        spec.tag({"name": name, "description": _TAGS[name]})
    return dict(spec.to_dict())


def _render_shape(shape: Shape) -> dict[str, object]:
    schema = shape.build()
    return schema if shape.example is None else schema | {"examples": [shape.example()]}


def _described(app: web.Application) -> Iterator[tuple[str, str, Operation]]:
    """Method, path and description of each route; HEAD, which aiohttp adds to every GET, is left out."""
    for route in app.router.routes():
        operation = find_operation(route.handler)
        if operation is not None and route.resource is not None and route.method != "HEAD":
            yield route.method.lower(), route.resource.canonical, operation


def _shapes_of(operation: Operation) -> Iterator[Shape]:
    for answer in operation.answers.values():
        yield from answer.contents.values()
    if operation.body is not None:
        yield operation.body.shape
    if operation.failures is not None:
        yield operation.failures.shape


def _collect(shape: Shape, found: dict[str, Shape]) -> None:
    if found.setdefault(shape.name, shape) is not shape:
        raise ValueError(f"two shapes are named {shape.name!r}; rename one")
    for used in shape.uses:
        _collect(used, found)


def _render_operation(operation: Operation, path: str) -> dict[str, object]:
    told: dict[str, object] = {
        "operationId": operation.id,
        "summary": operation.summary,
        "tags": [operation.tag],
        "security": _render_security(operation),
        "parameters": [*_path_parameters(path), *map(_render_parameter, operation.parameters)],
        "responses": _render_answers(operation) | _render_failures(operation),
    }
    if operation.description:
        told["description"] = operation.description
    if operation.body is not None:
        examples = {name: {"value": value} for name, value in operation.body.examples.items()}
        content = {"application/json": {"schema": operation.body.shape.ref, "examples": examples}}
        told["requestBody"] = {"required": True, "content": content}
    return told


def _render_security(operation: Operation) -> list[dict[str, list[str]]]:
    """One of them is enough; OpenAPI 3.1 takes the roles that are needed beside any scheme (section 4.8.30)."""
    roles = [] if operation.scope is None else [str(operation.scope)]
    return [{scheme: roles} if scheme else {} for scheme in operation.security]


def _path_parameters(path: str) -> Iterator[dict[str, object]]:
    for name in re.findall(r"{(\w+)}", path):
        text = {"type": "string", "minLength": 1}
        yield {"name": name, "in": "path", "required": True, "description": _PATH[name], "schema": text}


def _render_parameter(parameter: Parameter) -> dict[str, object]:
    told: dict[str, object] = {
        "name": parameter.name,
        "in": parameter.place,
        "description": parameter.words,
        "schema": dict(parameter.schema),
    }
    return told if parameter.example is None else told | {"example": parameter.example}


_REQUEST_ID = {
    "description": "The request's id.",
    "required": True,
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
}
_RETRY_AFTER = {
    "description": "Seconds after which it can succeed, where that is known.",
    "schema": {"type": "integer", "minimum": 1},
}
_AUTHENTICATE = {"description": "How to authenticate.", "required": True, "schema": {"type": "string"}}


def _render_answers(operation: Operation) -> dict[str, object]:
    return {
        str(status): {
            "description": answer.words,
            "headers": {HEADER: _REQUEST_ID},
            **({"content": _contents(answer.contents)} if answer.contents else {}),
        }
        for status, answer in operation.answers.items()
    }


def _contents(shapes: Mapping[str, Shape]) -> dict[str, object]:
    return {media: {"schema": shape.ref} for media, shape in shapes.items()}


def _render_failures(operation: Operation) -> dict[str, object]:
    """A failure a status, with the codes that it stands for."""
    if operation.failures is None:
        return {}
    by_status: dict[int, list[ErrorCode]] = {}
    for code in ErrorCode:
        if code in operation.codes:
            by_status.setdefault(operation.failures.status(code), []).append(code)
    content = _contents({operation.failures.media: operation.failures.shape})
    return {
        str(status): {
            "description": "; ".join(f"`{code}`: {code.meaning}" for code in codes),
            "headers": _failure_headers(status),
            "content": content,
        }
        for status, codes in sorted(by_status.items())
    }


def _failure_headers(status: int) -> dict[str, object]:
    headers: dict[str, object] = {HEADER: _REQUEST_ID}
    if status in (429, 503):
        headers["Retry-After"] = _RETRY_AFTER
    if status == 401:
        headers["WWW-Authenticate"] = _AUTHENTICATE
    return headers
