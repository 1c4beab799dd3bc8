"""Whom one call asks, with what, and with which other calls it shares an answer or a failure."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Hashable, Mapping
from types import MappingProxyType

import attrs

from searchport.egress import AddressPolicy
from searchport.request import SearchRequest
from searchport_platform.registry import AnyToolkit

__all__ = ["Route"]

_FINGERPRINT_KEY = secrets.token_bytes(32)


@attrs.frozen(kw_only=True)
class Route:
    """Whom one call asks, and with what.

    credential: the key for this call; None for a keyless toolkit. generation: which of the organization's keys it is.
    organization: whose call it is; None: nobody's, and then nothing is kept of it. settings: stored values of the toolkit's
    settings class. policy: what may be dialled.
    """

    toolkit: AnyToolkit
    organization: str | None = None
    credential: str | None = attrs.field(default=None, repr=False)
    generation: int | None = None
    settings: Mapping[str, object] = attrs.field(factory=lambda: MappingProxyType({}))
    model: str | None = None
    policy: AddressPolicy = attrs.field(factory=AddressPolicy)

    def whose_key(self) -> tuple[Hashable, ...]:
        """Organization, provider and key, without the key: an organization that is made anew begins anew."""
        return self.organization, self.toolkit.id, self.generation, _fingerprint(self.credential or "")

    def circuit(self, settings: object, origin: str | None) -> Hashable | None:
        """Whom a failure concerns: the key, or a keyless vendor's address, which judges our address and no tenant; None: nobody.

        settings: as built for the call. origin: the operator's.
        """
        if not self.toolkit.web_search.breaker:
            return None
        return self.whose_key() if not self.toolkit.is_keyless else (self.toolkit.id, *_addresses(settings, origin), self.policy)

    def answer_key(self, request: SearchRequest) -> Hashable | None:
        """What two calls must have in common to share an answer; None where this one's may not be kept."""
        if self.organization is None or not self.toolkit.web_search.cacheable:
            return None
        options = {name: str(value) for name, value in attrs.asdict(request, recurse=False).items() if value is not None}
        options["provider_options"] = repr(sorted(request.provider_options.items()))
        return *self.whose_key(), self.model, self.policy, _fingerprint(repr((sorted(self.settings.items()), options)))


def _fingerprint(text: str) -> bytes:
    """What stands for a text that should not be kept, in this process."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=_FINGERPRINT_KEY, digest_size=32).digest()


def _addresses(settings: object, origin: str | None) -> tuple[str, ...]:
    """Where a vendor is called: the operator's origin, else the URLs among its settings."""
    if origin is not None:
        return (origin,)
    values = (getattr(settings, field.name) for field in getattr(type(settings), "__attrs_attrs__", ()))
    return tuple(value for value in values if isinstance(value, str) and value.startswith(("http://", "https://")))
