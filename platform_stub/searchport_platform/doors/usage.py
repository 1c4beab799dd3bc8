"""The admin API's usage answer, as JSON or CSV."""

from __future__ import annotations

from datetime import UTC, datetime

import attrs
from aiohttp import web

from searchport.errors import SearchError, shorten
from searchport.json_schema import answer_schema, properties_of
from searchport.wire import camel_case
from searchport_platform.doors.http import NO_STORE
from searchport_platform.doors.operations import ANY_TEXT, Answer, Parameter, Shape
from searchport_platform.metering.usage import DIMENSIONS, Question, Usage, write_csv
from searchport_platform.tenancy.administration import Administration

__all__ = ["PARAMETERS", "USAGE", "answer_usage", "render_usage"]

_SUMS = tuple(field.name for field in attrs.fields(Usage) if field.name not in DIMENSIONS)
_DAY = {"type": "string", "pattern": "^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}$"}

PARAMETERS = (
    Parameter("from", "The first UTC day; left out, the first of the month of `to`.", _DAY),
    Parameter("to", "The last UTC day, included; left out, today.", _DAY),
    Parameter("by", f"What tells lines apart, by comma: {', '.join(DIMENSIONS)}; left out, all.", example="day,provider"),
    Parameter("format", "Left out, `Accept` decides.", {"type": "string", "enum": ["json", "csv"]}),
)


def _usage_schema() -> dict[str, object]:
    told = properties_of(answer_schema(Usage))
    sums = {camel_case(name): told[camel_case(name)] for name in _SUMS}
    dimensions = {name: {"type": "string", "description": "There where `by` names it."} for name in DIMENSIONS}
    day = {"type": "string", "format": "date"}
    row = {"type": "object", "properties": dimensions | sums, "required": list(sums)}
    properties = {
        "from": day,
        "to": day,
        "rows": {"type": "array", "items": row},
        "total": {"type": "object", "properties": sums, "required": list(sums)},
    }
    return {"type": "object", "properties": properties, "required": list(properties)}


USAGE = Answer(
    "The lines and their sum; money in micro-USD.", {"application/json": Shape("Usage", _usage_schema), "text/csv": ANY_TEXT}
)


def render_usage(question: Question, lines: list[Usage]) -> dict[str, object]:
    """The lines and their sum, in camelCase; money in micro-USD."""
    return {
        "from": question.first.isoformat(),
        "to": question.last.isoformat(),
        "rows": [{camel_case(name): getattr(line, name) for name in (*question.by, *_SUMS)} for line in lines],
        "total": {camel_case(name): sum(getattr(line, name) for line in lines) for name in _SUMS},
    }


async def answer_usage(request: web.Request, administration: Administration, organization: str) -> web.Response:
    """Query parameters: `from`, `to` (UTC days, both included), `by` (dimensions, by comma), `format` (`json` or `csv`)."""
    asked = request.query
    question = Question.parse(asked.get("from"), asked.get("to"), asked.get("by"), datetime.now(UTC).date())
    is_csv = _is_csv(request)
    lines = await administration.read_usage(organization, question)
    headers = NO_STORE | {"Vary": "Accept"}
    if not is_csv:
        return web.json_response(render_usage(question, lines), headers=headers)
    names = {name: camel_case(name) for name in (*question.by, *_SUMS)}
    headers["Content-Disposition"] = f'attachment; filename="usage-{question.first}-{question.last}.csv"'
    return web.Response(text=write_csv(lines, names), content_type="text/csv", charset="utf-8", headers=headers)


def _is_csv(request: web.Request) -> bool:
    wanted = request.query.get("format")
    if wanted is None:
        return "text/csv" in request.headers.get("Accept", "").lower()
    if wanted not in ("json", "csv"):
        raise SearchError.invalid("$.format", f"{shorten(wanted)} is not one of: json, csv")
    return wanted == "csv"
