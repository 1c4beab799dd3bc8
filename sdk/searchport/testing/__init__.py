"""For tests of toolkits: the web as a fake that the real client calls.

Needs `pip install searchport[testing]`; each name is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from searchport.lazy import lazy_names

if TYPE_CHECKING:
    from .aioresponses_bridge import vendor_wire
    from .asking import ask
    from .fake_web import FakeAnswer, FakeRequest, FakeWeb

__all__ = ["FakeAnswer", "FakeRequest", "FakeWeb", "ask", "vendor_wire"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "FakeAnswer": "fake_web",
        "FakeRequest": "fake_web",
        "FakeWeb": "fake_web",
        "ask": "asking",
        "vendor_wire": "aioresponses_bridge",
    },
)
