"""The Search block: searching as a step of a workflow. A descriptor that an editor draws a form from, and a run.

What a run gives is an object with `ok`, so that a workflow can branch on it: outputs, or a typed error, never both. An engine in
Python calls `describe_block` and `run_block`; over HTTP they are `GET` and `POST …/run` under `/api/platform/v1/blocks/search`.

A form sends texts, so a run takes two spellings that the platform API refuses: an empty text in a field that is not required
means not given, and a number may be written with decimal digits alone (`"10"`, not `" 10"`, `"10.0"`, `"+10"`). Nothing else is
converted: a blank is no empty text, `true` is no number, an object is not written as text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Literal, NotRequired, TypeAlias, TypedDict, cast

import attrs
from aiohttp import web

from searchport.errors import ErrorCode, Fault, SearchError
from searchport.json_schema import answer_schema, envelope_schema, nullable, object_schema, properties_of
from searchport.request import SearchRequest, parse_request
from searchport.result import Envelope, render_envelope
from searchport.wire import OPTION, Option, camel_case
from searchport_platform.doors.http import NO_STORE, RECORD, answer_errors, read_json, render_error_headers, tell_defect
from searchport_platform.doors.http_api import AGENT_PARAMETER, authenticate
from searchport_platform.doors.operations import COMMON, Answer, Body, Failures, Shape, check_query, describe
from searchport_platform.doors.problem import PROBLEMS, render_problem, render_should_retry
from searchport_platform.platform import ACTION, Caller, Platform
from searchport_platform.tenancy.selections import Selection
from searchport_platform.tenancy.tokens import Scope

__all__ = [
    "BLOCK_SCHEMA_FILE",
    "OUTPUT_TRUST",
    "BlockError",
    "BlockFailure",
    "BlockOutcome",
    "BlockOutputs",
    "BlockSuccess",
    "SearchBlockDoor",
    "describe_block",
    "run_block",
]

ROOT = "/api/platform/v1/blocks"
OUTPUT_TRUST = "external"
"""What a block gives was written by strangers: a workflow must not take it for instructions."""
BLOCK_SCHEMA_FILE = Path(__file__).with_name("block.schema.json")

_ANY = ""
"""The value of a choice that sends nothing."""
_DIGITS = re.compile(r"[0-9]{1,9}")
_LABELS = {
    "query": "Query",
    "recency": "Published",
    "max_results": "Number of results",
    "site": "Site",
    "freshness": "Not older than",
    "language": "Language",
    "country": "Country",
    "safe": "Safe search",
    "provider_options": "Provider's settings",
}
"""The fields, in the order in which an editor shows them."""
_CHOICES = {
    "recency": {_ANY: "Any time", "day": "Past day", "week": "Past week", "month": "Past month", "year": "Past year"},
    "safe": {_ANY: "The provider's own", "off": "Off", "moderate": "Moderate", "strict": "Strict"},
}
_TYPES = {"string": "text", "integer": "number", "object": "object", "array": "list", "boolean": "boolean"}
_BOUNDS = ("minimum", "maximum", "minLength", "maxLength", "pattern")
_MORE_HELP = {"max_results": " Left out, the organization's default."}
_OWN_OUTPUTS: dict[str, dict[str, object]] = {
    "count": {"type": "integer", "description": "How many results there are; none is an answer too."},
    "urls": {"type": "array", "items": {"type": "string"}, "description": "The results' addresses, in their order."},
}
"""What a block gives besides the envelope, so that a next step can take it without taking the results apart."""


def describe_block() -> dict[str, object]:
    """The descriptor, valid against `block.schema.json`; each call gives a new one."""
    return {
        "$schema": f"{ROOT}/schema",
        "id": "search",
        "version": 1,
        "title": "Search the web",
        "description": "Searches the web at the provider that the organization chose.",
        "action": ACTION,
        "run": {"method": "POST", "path": f"{ROOT}/search/run"},
        "fields": [_describe_field(name) for name in _LABELS],
        "outputs": [_describe_output(name, schema) for name, schema in _output_schemas().items()],
        "output_trust": OUTPUT_TRUST,
        "errors": [{"code": str(code), "meaning": code.meaning, "retryable": code.is_retryable} for code in ErrorCode],
    }


def _describe_field(name: str) -> dict[str, object]:
    field = attrs.fields_dict(SearchRequest)[name]
    option: Option = field.metadata[OPTION]
    is_required = field.default is attrs.NOTHING
    told: dict[str, object] = {
        "name": camel_case(name),
        "type": "choice" if name in _CHOICES else _TYPES[str(option.schema["type"])],
        "label": _LABELS[name],
        "help": option.words + _MORE_HELP.get(name, ""),
        "required": is_required,
    }
    if name in _CHOICES:
        choices = [{"value": value, "label": label} for value, label in _CHOICES[name].items()]
        return told | {"choices": choices, "default": _ANY}
    return told | {bound: option.schema[bound] for bound in _BOUNDS if bound in option.schema}


def _output_schemas() -> dict[str, dict[str, object]]:
    envelope = properties_of(envelope_schema())
    return {"results": envelope.pop("results"), **_OWN_OUTPUTS, **envelope}


def _describe_output(name: str, schema: Mapping[str, object]) -> dict[str, object]:
    inner = {key: value for key, value in schema.items() if key != "description"}
    kind = schema.get("type", "boolean" if schema.get("const") is True else "string")
    plain = str(kind[0] if isinstance(kind, list) else kind)
    help_text = {} if "description" not in schema else {"help": schema["description"]}
    return {"name": name, "type": _TYPES[plain], **help_text, "schema": inner}


class BlockOutputs(TypedDict):
    """What a run found: the envelope's fields, and two that are taken from its results."""

    results: list[dict[str, object]]
    count: int
    urls: list[str]
    query: str
    provider: str
    vendor: str
    model: str | None
    untrusted: Literal[True]
    untrustedNote: str
    ignored: list[str]
    notices: list[dict[str, str]]
    filterReport: dict[str, int]
    cached: bool
    attempts: list[dict[str, object]]
    requestId: str


class BlockError(TypedDict):
    """Why a run failed. retryAfter: seconds, where they are known."""

    code: str
    message: str
    retryable: bool
    faults: list[dict[str, str]]
    retryAfter: NotRequired[float]


class BlockSuccess(TypedDict):
    """A run that has outputs, of which nothing found is one."""

    ok: Literal[True]
    outputs: BlockOutputs


class BlockFailure(TypedDict):
    """A run that failed; there are no outputs."""

    ok: Literal[False]
    error: BlockError


BlockOutcome: TypeAlias = BlockSuccess | BlockFailure
"""What a workflow branches on, by `ok`."""


async def run_block(platform: Platform, caller: Caller, values: object) -> BlockOutcome:
    """Runs the block. values: field -> value, as the module says. Never raises but when it is cancelled."""
    try:
        return render_success(await _search(platform, caller, values))
    except SearchError as error:
        return render_failure(error)
    except Exception as defect:  # noqa: BLE001  # a step's last line: its text may hold the query
        return render_failure(tell_defect(defect))


async def _search(platform: Platform, caller: Caller, values: object) -> Envelope:
    payload = read_form(values)

    def read(selection: Selection) -> SearchRequest:
        return parse_request(payload, default_max_results=selection.default_results)

    return await platform.search(caller, read)


def read_form(values: object) -> object:
    """The values as the platform API takes them. What is wrong with them is left to its parsers, which tell all faults."""
    if not isinstance(values, Mapping):
        return values
    fields = {camel_case(field.name): field for field in attrs.fields(SearchRequest)}
    return {name: _read_value(fields.get(name), value) for name, value in values.items()}


def _read_value(field: attrs.Attribute[object] | None, value: object) -> object:
    if field is None or not isinstance(value, str):
        return value
    if value == _ANY and field.default is not attrs.NOTHING:
        return None
    is_number = field.metadata[OPTION].schema["type"] == "integer"
    return int(value) if is_number and _DIGITS.fullmatch(value) else value


def render_success(envelope: Envelope) -> BlockSuccess:
    """The envelope, and what is taken from it for a next step."""
    urls = [result.url for result in envelope.results]
    outputs = render_envelope(envelope) | {"count": len(urls), "urls": urls}
    return {"ok": True, "outputs": cast("BlockOutputs", outputs)}


def render_failure(error: SearchError) -> BlockFailure:
    """The error as a workflow reads it."""
    told: BlockError = {
        "code": str(error.code),
        "message": str(error),
        "retryable": error.is_retryable,
        "faults": [{"path": fault.path, "message": fault.message} for fault in error.faults],
    }
    if error.retry_after is not None:
        told["retryAfter"] = error.retry_after
    return {"ok": False, "error": told}


def _render_response(error: SearchError) -> web.Response:
    headers = NO_STORE | render_error_headers(error) | render_should_retry(error)
    return web.json_response(render_failure(error), status=error.code.status, headers=headers)


# The schemas of the two routes


def _values_schema() -> dict[str, object]:
    """The options with the spellings of a form."""
    words = {name: str(_describe_field(name)["help"]) for name in _LABELS}
    schema = object_schema(SearchRequest, names={name: camel_case(name) for name in _LABELS}, words=words)
    properties = properties_of(schema)
    for name, told in properties.items():
        if name != "query":
            properties[name] = _with_form_spellings(told)
    return schema


def _with_form_spellings(told: Mapping[str, object]) -> dict[str, object]:
    spellings: list[object] = [{"const": _ANY}]
    if told["type"] == "integer":
        spellings.append({"type": "string", "pattern": f"^{_DIGITS.pattern}$"})
    inner = nullable({key: value for key, value in told.items() if key not in ("description", "default")})
    return {"description": told["description"], "anyOf": [inner, *spellings]}


def _outcome_schema() -> dict[str, object]:
    outputs = _output_schemas()
    ok = {"ok": {"const": True}, "outputs": {"type": "object", "properties": outputs, "required": list(outputs)}}
    return {"type": "object", "properties": ok, "required": list(ok)}


def _failure_schema() -> dict[str, object]:
    error = {
        "code": {"type": "string", "enum": [*map(str, ErrorCode)]},
        "message": {"type": "string"},
        "retryable": {"type": "boolean", "description": "True where the same run may succeed later with nothing changed."},
        "faults": {"type": "array", "items": answer_schema(Fault)},
        "retryAfter": {"type": "number", "description": "Seconds, where they are known."},
    }
    told = {"type": "object", "properties": error, "required": list(error)[:-1]}
    return {"type": "object", "properties": {"ok": {"const": False}, "error": told}, "required": ["ok", "error"]}


def _read_block_schema() -> dict[str, object]:
    schema: dict[str, object] = json.loads(BLOCK_SCHEMA_FILE.read_text(encoding="utf-8"))
    return schema


_ANY_OBJECT = partial(dict[str, object], type="object")
_BODY = Body(
    Shape("BlockValues", _values_schema),
    {
        "plain": {"query": "red pandas"},
        "form": {"query": "red pandas", "recency": "", "maxResults": "5", "site": "example.com", "freshness": "", "safe": ""},
    },
)


@attrs.frozen
class SearchBlockDoor:
    """The block over HTTP. A failed run bears the error's own status, and the body that `run_block` gives."""

    platform: Platform

    def routes(self) -> list[web.RouteDef]:
        """What the server mounts."""
        return [
            web.get(f"{ROOT}/schema", self.get_block_schema),
            web.get(f"{ROOT}/search", answer_errors(self.describe_block, render_problem)),
            web.post(f"{ROOT}/search/run", answer_errors(self.run_block, _render_response)),
        ]

    @describe("Search block", answers={200: Answer("JSON Schema 2020-12.", Shape("BlockSchema", _ANY_OBJECT))}, security=())
    async def get_block_schema(self, _request: web.Request) -> web.Response:
        """The JSON Schema that a block's descriptor is valid against."""
        return web.json_response(_read_block_schema(), headers={"Cache-Control": "public, max-age=300"})

    @describe(
        "Search block",
        answers={200: Answer("The descriptor.", Shape("Block", _ANY_OBJECT))},
        codes=COMMON,
        failures=PROBLEMS,
    )
    async def describe_block(self, request: web.Request) -> web.Response:
        """The block's descriptor: its fields, outputs and errors."""
        await authenticate(self.platform, request)
        check_query(request, self.describe_block)
        return web.json_response(describe_block(), headers=NO_STORE)

    @describe(
        "Search block",
        body=_BODY,
        answers={200: Answer("The outputs.", Shape("BlockOutcome", _outcome_schema))},
        parameters=(AGENT_PARAMETER,),
        codes=frozenset(ErrorCode),
        failures=Failures(Shape("BlockFailure", _failure_schema), "application/json"),
        scope=Scope.SEARCH,
    )
    async def run_block(self, request: web.Request) -> web.Response:
        """Runs the block with the values of its fields."""
        caller = await authenticate(self.platform, request)
        check_query(request, self.run_block)
        envelope = await _search(self.platform, caller, await read_json(request))
        request[RECORD] = envelope.request_id
        return web.json_response(render_success(envelope), headers=NO_STORE)
