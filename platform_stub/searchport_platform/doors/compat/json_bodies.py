"""Wires whose parameters arrive in a JSON body, and in nothing else."""

from __future__ import annotations

from aiohttp import web

from searchport.errors import ErrorCode, Fault, SearchError, shorten
from searchport_platform.doors.http import read_json

__all__ = ["read_body_alone"]

_MOST_TOLD = 20


async def read_body_alone(request: web.Request) -> object:
    """The decoded body. Raises SearchError, for parameters in the URL too: they would be dropped, whatever they ask for."""
    names = list(dict.fromkeys(request.query))[:_MOST_TOLD]
    if names:
        message = "stands in the URL, where nothing is read; put it into the JSON body"
        raise SearchError(
            ErrorCode.VALIDATION_ERROR, faults=[Fault("$", f"parameter {shorten(name)} {message}") for name in names]
        )
    return await read_json(request)
