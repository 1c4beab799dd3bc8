"""The platform: finds toolkits, routes each organization's calls to the provider that it chose, opens doors."""

from typing import TYPE_CHECKING

from searchport.lazy import lazy_names

if TYPE_CHECKING:
    from searchport_platform.platform import Platform
    from searchport_platform.tenancy.admission import Caller

__all__ = ["Caller", "Platform"]

__getattr__, __dir__ = lazy_names(__name__, {"Caller": "tenancy.admission", "Platform": "platform"})
