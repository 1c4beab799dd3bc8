"""Drop-in doors: clients of other search services, unmodified, get the organization's own provider.

A file a vendor's wire. What they share: `parameters` (what becomes of each parameter), `texts` (values that arrive as text),
`json_bodies` (values that arrive in a body), `tokens` (one token, many spellings), `slices` (offsets), `answers` (the deadline,
headers, errors).
"""

from __future__ import annotations

from aiohttp import web

from searchport_platform.doors.compat.brave import BraveDoor
from searchport_platform.doors.compat.google_cse import GoogleDoor
from searchport_platform.doors.compat.openwebui import OpenWebuiDoor
from searchport_platform.doors.compat.perplexity import PerplexityDoor
from searchport_platform.doors.compat.searxng import SearxngDoor
from searchport_platform.doors.compat.serper import SerperDoor
from searchport_platform.doors.compat.tavily import TavilyDoor
from searchport_platform.platform import Platform

__all__ = ["routes"]

DOORS = (GoogleDoor, SearxngDoor, TavilyDoor, PerplexityDoor, BraveDoor, OpenWebuiDoor, SerperDoor)


def routes(platform: Platform) -> list[web.RouteDef]:
    """What the server mounts."""
    return [route for door in DOORS for route in door(platform).routes()]
