"""`POST /ops/search`: the stateless `web-search@1` wire, with the provider and its key in each request.

One request shape, one answer shape and a small catalogue of codes, so that a caller can put any conforming service in its
place. `freshness` on this wire is our `recency`; `locale` is our language and country.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Callable, Mapping

import attrs
from aiohttp import web
from yarl import URL

from searchport import locale
from searchport.errors import ErrorCode, Fault, SearchError, shorten
from searchport.json_schema import object_schema
from searchport.request import DEFAULT_MAX_RESULTS, MAX_RESULTS, Recency, SearchRequest
from searchport.result import Envelope, RankedResult
from searchport.web_search import CONTRACT
from searchport.wire import OPTION, Option, camel_case, structure
from searchport_platform.doors.http import NO_STORE, answer_errors, read_json, render_error_headers
from searchport_platform.doors.operations import VENDOR, Answer, Body, Failures, Shape, check_query, describe
from searchport_platform.doors.options import parse_clamped_count, same_option
from searchport_platform.doors.request_id import read_request_id
from searchport_platform.provider_description import describe_provider, provider_schema
from searchport_platform.routing.router import Route, Router

__all__ = ["OpsDoor"]

DEFAULT_PROVIDER = "brave"

_CODES = {
    ErrorCode.UNSUPPORTED_OPTION: ErrorCode.VALIDATION_ERROR,
    ErrorCode.PROVIDER_UNAVAILABLE: ErrorCode.UPSTREAM_UNREACHABLE,
}
"""Our codes that this wire's catalogue lacks -> its nearest, whose status then answers."""

_NAMES = {"recency": "freshness", "language": "locale", "country": "locale"}
"""The contract's options as this wire names them."""

_PROXY_HEADERS = ("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP")


def _parse_version(value: object) -> str:
    if value != CONTRACT:
        raise SearchError.invalid("$.version", f"{shorten(value)} is not spoken here; write {CONTRACT!r} or leave it out")
    return CONTRACT


def _parse_locale(value: object) -> tuple[str, str | None]:
    if not isinstance(value, str):
        raise SearchError.invalid("$.locale", f"expected a BCP 47 tag such as en-US, got {shorten(value)}")
    return locale.parse_locale(value)


def _parse_auth(value: object) -> str:
    """The key. Its parts are never shown in a fault: a key in the wrong place is still a key."""
    if not isinstance(value, Mapping) or set(value) - {"type", "name", "value"}:
        raise SearchError.invalid("$.auth", 'expected {"type": "header", "name": …, "value": …} and nothing more')
    if value.get("type") != "header" or not isinstance(value.get("name", ""), str):
        raise SearchError.invalid("$.auth", 'its type must be "header", and its name a text')
    key = value.get("value")
    if not isinstance(key, str) or not key.strip():
        raise SearchError.invalid("$.auth", "its value must be the vendor's key, a text that is not blank")
    return key


def _option(parse: Callable[..., object], words: str, **schema: object) -> dict[str, Option]:
    return {OPTION: Option(parse, words, schema)}


_AUTH: dict[str, object] = {
    "type": "object",
    "properties": {
        "type": {"const": "header"},
        "name": {"type": "string"},
        "value": {"type": "string", "minLength": 1, "writeOnly": True},
    },
    "required": ["type", "value"],
    "additionalProperties": False,
}


def _parse_provider(value: object) -> str:
    if not isinstance(value, str):
        raise SearchError.invalid("$.provider", f"expected a text, got {shorten(value)}")
    return value


@attrs.frozen(kw_only=True)
class OpsRequest:
    """The request on this wire, its parts parsed."""

    query: str = attrs.field(metadata=same_option("query"))
    version: str = attrs.field(
        default=CONTRACT, metadata=_option(_parse_version, "The contract's version.", type="string", enum=[CONTRACT])
    )
    provider: str = attrs.field(default=DEFAULT_PROVIDER, metadata=_option(_parse_provider, "Its id.", type="string"))
    count: int = attrs.field(
        default=DEFAULT_MAX_RESULTS,
        metadata=_option(parse_clamped_count, f"The most results; above {MAX_RESULTS}, so many.", type="integer", minimum=1),
    )
    freshness: Recency | None = attrs.field(default=None, metadata=same_option("recency"))
    locale: tuple[str | None, str | None] = attrs.field(
        default=(None, None), metadata=_option(_parse_locale, "Language and country, such as en-US.", type="string")
    )
    provider_options: Mapping[str, object] = attrs.field(factory=dict, metadata=same_option("provider_options"))
    auth: str | None = attrs.field(
        default=None, repr=False, metadata=_option(_parse_auth, "The vendor's key for this request.", **_AUTH)
    )

    def to_contract(self) -> SearchRequest:
        """The same search in the contract's own words."""
        language, country = self.locale
        return SearchRequest(
            self.query,
            max_results=self.count,
            recency=self.freshness,
            language=language,
            country=country,
            provider_options=self.provider_options,
        )


def _answer_schema() -> dict[str, object]:
    text = {"type": "string"}
    row = {"title": text, "url": text, "snippet": text, "rank": {"type": "integer"}, "publishedDate": text}
    properties = {
        "ok": {"const": True},
        "results": {"type": "array", "items": {"type": "object", "properties": row, "required": list(row)[:-1]}},
        "contractVersion": {"const": CONTRACT},
        "source": {"const": "external"},
        "ignored": {"type": "array", "items": text},
    }
    return {"type": "object", "properties": properties, "required": list(properties)[:-1]}


def _failure_schema() -> dict[str, object]:
    codes = [str(code) for code in ErrorCode if code not in _CODES]
    properties = {
        "ok": {"const": False},
        "code": {"type": "string", "enum": codes},
        "message": {"type": "string"},
        "contractVersion": {"const": CONTRACT},
    }
    return {"type": "object", "properties": properties, "required": list(properties)}


def _info_schema() -> dict[str, object]:
    text = {"type": "string"}
    properties = {
        "name": text,
        "version": text,
        "contractVersions": {"type": "array", "items": text},
        "providers": {"type": "array", "items": provider_schema()},
    }
    return {"type": "object", "properties": properties, "required": list(properties)}


_FAILURES = Failures(Shape("OpsFailure", _failure_schema), "application/json", lambda code: _CODES.get(code, code).status)
_BODY = Body(
    Shape("OpsSearch", lambda: object_schema(OpsRequest, nulls=True)),
    {"keyless": {"query": "red pandas", "provider": "fake", "count": 5, "freshness": "week", "locale": "en-US"}},
)
_CALLER = frozenset({ErrorCode.VALIDATION_ERROR, ErrorCode.UNAUTHORIZED, ErrorCode.INTERNAL_ERROR})
_CODES_OF_SEARCH = _CALLER | VENDOR | {ErrorCode.UNSUPPORTED_OPTION}
_SECURITY = ("opsToken", "")


@attrs.frozen
class OpsDoor:
    """The door's handlers. token: what a caller must bear; empty: only a caller on this machine is answered."""

    router: Router
    token: str = attrs.field(repr=False)
    version: str

    def routes(self) -> list[web.RouteDef]:
        """What the server mounts."""
        return [
            web.post("/ops/search", answer_errors(self.search, render_error)),
            web.get("/info", answer_errors(self.info, render_error)),
        ]

    @describe(
        "Stateless service",
        body=_BODY,
        answers={200: Answer("The results.", Shape("OpsAnswer", _answer_schema))},
        codes=_CODES_OF_SEARCH,
        failures=_FAILURES,
        security=_SECURITY,
        identity="opsSearch",
    )
    async def search(self, request: web.Request) -> web.Response:
        """One search, at the provider that the request names, with the key that it brings."""
        self._check_caller(request)
        check_query(request, self.search)
        asked = structure(await read_json(request), OpsRequest, spell=camel_case)
        route = self._build_route(asked)
        try:
            envelope = await self.router.dispatch(route, asked.to_contract(), request_id=read_request_id(request))
        except SearchError as error:
            raise _on_this_wire(error) from None
        return web.json_response(render_envelope(envelope), headers=NO_STORE)

    def _build_route(self, asked: OpsRequest) -> Route:
        toolkit = self.router.registry.get(asked.provider)
        if not toolkit.is_keyless and asked.auth is None:
            reason = "it takes a key; send it as `auth.value`"
            raise SearchError(ErrorCode.PROVIDER_NOT_CONFIGURED, reason=reason, provider=toolkit.id)
        return Route(toolkit=toolkit, credential=asked.auth)

    @describe(
        "Stateless service",
        answers={200: Answer("The service.", Shape("Info", _info_schema))},
        codes=_CALLER,
        failures=_FAILURES,
        security=_SECURITY,
    )
    async def info(self, request: web.Request) -> web.Response:
        """What this service is and whom it can ask; no secrets."""
        self._check_caller(request)
        check_query(request, self.info)
        providers = [describe_provider(toolkit) for toolkit in self.router.registry]
        body = {"name": "searchport", "version": self.version, "contractVersions": [CONTRACT], "providers": providers}
        return web.json_response(body, headers=NO_STORE)

    def _check_caller(self, request: web.Request) -> None:
        if self.token:
            scheme, _, given = request.headers.get("Authorization", "").partition(" ")
            if scheme.lower() == "bearer" and hmac.compare_digest(
                given.strip().encode("utf-8", "surrogateescape"), self.token.encode()
            ):
                return
            raise SearchError(ErrorCode.UNAUTHORIZED)
        if not _is_local(request):
            raise SearchError(
                ErrorCode.UNAUTHORIZED,
                reason="this server has no SEARCHPORT_OPS_TOKEN, so it answers callers on its own machine alone",
            )


def _is_local(request: web.Request) -> bool:
    """True for a direct caller on this machine: no proxy between, and no page of another site behind it.

    A browser page of any site can reach a loopback port; it then names its own origin, or, after its name was rebound to
    loopback, its own host.
    """
    if any(name in request.headers for name in _PROXY_HEADERS):
        return False
    peer = request.transport.get_extra_info("peername") if request.transport is not None else None
    if not peer or not ipaddress.ip_address(str(peer[0]).partition("%")[0]).is_loopback:
        return False
    origin = request.headers.get("Origin")
    return _is_loopback_name(request.url.host) and (origin is None or _is_loopback_name(_host(origin)))


def _host(origin: str) -> str | None:
    try:
        return URL(origin).host
    except ValueError:
        return None


def _is_loopback_name(host: str | None) -> bool:
    if host is None or host == "localhost":
        return host is not None
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def render_envelope(envelope: Envelope) -> dict[str, object]:
    """The answer on this wire; `ignored` is there only where something was."""
    body: dict[str, object] = {
        "ok": True,
        "results": [_render_result(result) for result in envelope.results],
        "contractVersion": CONTRACT,
        "source": "external",
    }
    ignored = list(dict.fromkeys(_NAMES.get(name, name) for name in envelope.ignored))
    return body | ({"ignored": ignored} if ignored else {})


def _render_result(result: RankedResult) -> dict[str, object]:
    row: dict[str, object] = {
        "title": result.title,
        "url": result.url,
        "snippet": result.snippet or "",
        "rank": result.rank,
    }
    return row | ({"publishedDate": result.published_date} if result.published_date is not None else {})


def _on_this_wire(error: SearchError) -> SearchError:
    """The same error, its faults at the places where this wire has the options and the settings."""
    return attrs.evolve(error, faults=[Fault(_place(fault.path), fault.message) for fault in error.faults])


def _place(path: str) -> str:
    if path.startswith("settings."):
        return f"$.providerOptions.{path.removeprefix('settings.')}"
    name = path.removeprefix("$.")
    return f"$.{_NAMES.get(name, name)}" if path.startswith("$.") else path


def render_error(error: SearchError) -> web.Response:
    """A failure on this wire: `{"ok": false, "code", "message", "contractVersion"}` and `Retry-After` where it is known."""
    code = _CODES.get(error.code, error.code)
    body = {"ok": False, "code": str(code), "message": str(error), "contractVersion": CONTRACT}
    return web.json_response(body, status=code.status, headers=NO_STORE | render_error_headers(error))
