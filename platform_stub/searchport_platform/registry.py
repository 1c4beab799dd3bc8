"""Which toolkits there are: found by entry points, enabled by the operator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any, TypeAlias

import attrs
import structlog

from searchport.errors import ErrorCode, SearchError
from searchport.request import SearchRequest
from searchport.toolkit import Toolkit
from searchport.wire import nearest

__all__ = ["AnyToolkit", "Registry", "RegistryError"]

GROUP = "searchport.toolkits"
_OWN_DISTRIBUTION = "searchport"

AnyToolkit: TypeAlias = Toolkit[Any]
"""A toolkit whose settings class only its own code knows."""

_log = structlog.get_logger("searchport.registry")


class RegistryError(RuntimeError):
    """Toolkits that stop the start: one that does not import, two with one id; the text names them and the fix."""


@attrs.frozen
class Registry:
    """The enabled toolkits, by id."""

    toolkits: Mapping[str, AnyToolkit]

    @classmethod
    def discover(cls, changes: Iterable[str] = ()) -> Registry:
        """The enabled toolkits of all installed distributions, imported.

        changes: ids that the operator adds, and ids with a leading `-` that it removes. Built-in toolkits are enabled unless
        removed; third parties only where added. Raises RegistryError.
        """
        names = tuple(changes)
        removed = {name[1:].strip() for name in names if name.startswith("-")}
        added = {name for name in names if not name.startswith("-")} - removed
        found = _find()
        _check_names(added, removed, {each.name for each in found})
        enabled = [each for each in found if each.name not in removed and (each.is_built_in or each.name in added)]
        _check_unique(enabled)
        return cls(MappingProxyType({each.name: _load(each) for each in enabled}))

    def get(self, provider: str) -> AnyToolkit:
        """The enabled toolkit of this id. Raises SearchError (`provider_not_configured`)."""
        toolkit = self.toolkits.get(provider)
        if toolkit is None:
            reason = "no enabled toolkit has this id" + nearest(provider, self.toolkits)
            raise SearchError(
                ErrorCode.PROVIDER_NOT_CONFIGURED,
                reason=reason,
                provider=provider[:64],
                alternatives=tuple(self.toolkits),
            )
        return toolkit

    def able(self, request: SearchRequest, *, but: str) -> tuple[str, ...]:
        """Ids of the other providers that support every option of this request."""
        return tuple(
            name
            for name, toolkit in self.toolkits.items()
            if name != but and not request.given() & toolkit.web_search.unsupported
        )

    def __iter__(self) -> Iterator[AnyToolkit]:
        return iter(self.toolkits.values())


@attrs.frozen
class _Installed:
    """An entry point and the name of the distribution that brought it."""

    entry: EntryPoint
    distribution: str

    @property
    def name(self) -> str:
        """The toolkit's id."""
        return self.entry.name

    @property
    def is_built_in(self) -> bool:
        """True for those that come with the SDK."""
        return self.distribution == _OWN_DISTRIBUTION


def _find() -> list[_Installed]:
    """Every installed toolkit, by id. A distribution's name is read once: it stands in a file as long as its documentation."""
    entries = entry_points(group=GROUP)
    names = {id(dist): dist.name for dist in {id(entry.dist): entry.dist for entry in entries}.values() if dist is not None}
    found = [_Installed(entry, names.get(id(entry.dist), "unknown")) for entry in entries]
    return sorted(found, key=lambda each: each.name)


def _check_names(added: set[str], removed: set[str], installed: set[str]) -> None:
    for name in sorted(added - installed):
        raise RegistryError(
            f"SEARCHPORT_TOOLKITS adds {name!r}, which no installed distribution provides; "
            f"install it, or correct the name (installed: {', '.join(sorted(installed))})"
        )
    for name in sorted(removed - installed):
        _log.warning("SEARCHPORT_TOOLKITS removes a toolkit that is not installed", toolkit=name)


def _check_unique(enabled: Iterable[_Installed]) -> None:
    first: dict[str, _Installed] = {}
    for each in enabled:
        other = first.setdefault(each.name, each)
        if other is not each:
            raise RegistryError(
                f"toolkit {each.name!r} is provided by both {other.distribution!r} and {each.distribution!r}; "
                "uninstall one, or take its id out of SEARCHPORT_TOOLKITS"
            )


def _check_toolkit(loaded: object, place: str) -> AnyToolkit:
    if not isinstance(loaded, Toolkit):
        raise TypeError(f"{place} is no Toolkit")
    _ = loaded.web_search
    return loaded


def _load(installed: _Installed) -> AnyToolkit:
    entry = installed.entry
    where = f"toolkit {entry.name!r} of distribution {installed.distribution!r}"
    way_out = f"mend it, or disable it with SEARCHPORT_TOOLKITS=-{entry.name}"
    try:
        toolkit = _check_toolkit(entry.load(), entry.value)
    except Exception as error:  # whatever a third party's module raises, the operator needs its name
        raise RegistryError(f"{where} cannot be loaded: {type(error).__name__}: {error}; {way_out}") from error
    if toolkit.id != entry.name:
        raise RegistryError(f"{where} has the id {toolkit.id!r}; its entry point must have the same name")
    return toolkit
