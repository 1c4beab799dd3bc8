"""`aioresponses`, which pins a provider's exact request, made to work with aiohttp 3.14 and newer.

aioresponses 0.7.9 makes a `ClientResponse` without the argument `stream_writer` that aiohttp 3.14 added (its issue
289). It also replaces the session's own request method, so nothing of the address policy beyond the URL's text runs
under it: use it to see what is sent, and FakeWeb for everything else.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import aiohttp
from aioresponses import aioresponses

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["vendor_wire"]


class _NothingSent:
    """What aiohttp reads of a stream writer once the request is sent."""

    output_size = 0


class _BridgedResponse(aiohttp.ClientResponse):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"stream_writer": _NothingSent(), **kwargs})


@contextmanager
def vendor_wire() -> Iterator[aioresponses]:
    """An `aioresponses` that is in place of the network while the block runs.

    with vendor_wire() as wire:
        wire.get("https://api.acme.example/v2/find?q=tea", payload={"hits": []})
    """
    with patch("aioresponses.core.ClientResponse", _BridgedResponse), aioresponses() as wire:
        yield wire
