"""The admin API's usage answer, as JSON or CSV."""

from __future__ import annotations

from datetime import UTC, datetime

import attrs
from aiohttp import web

from searchport.errors import SearchError, shorten
from searchport.wire import camel_case
from searchport_platform.metering.usage import DIMENSIONS, Question, Usage, write_csv
from searchport_platform.tenancy.administration import Administration

__all__ = ["answer_usage", "render_usage"]

_SUMS = tuple(field.name for field in attrs.fields(Usage) if field.name not in DIMENSIONS)


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
    headers = {"Cache-Control": "no-store", "Vary": "Accept"}
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
