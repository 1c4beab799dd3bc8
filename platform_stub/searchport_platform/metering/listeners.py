"""Usage listeners: functions of other distributions that are given each closed record.

Entry-point group `searchport.usage_listeners`. A listener is called in the event loop, after the record is committed: it hands
the record on and returns at once. A record holds no query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import TypeAlias

import attrs
import structlog

from searchport_platform.metering.ledger import Record
from searchport_platform.registry import RegistryError

__all__ = ["GROUP", "Listener", "Listeners"]

GROUP = "searchport.usage_listeners"

Listener: TypeAlias = Callable[[Record], object]

_log = structlog.get_logger("searchport.metering")


@attrs.frozen
class Listeners:
    """The listeners, by name."""

    functions: dict[str, Listener] = attrs.field(factory=dict)

    @classmethod
    def discover(cls) -> Listeners:
        """Those of every installed distribution. Raises RegistryError, naming the one that cannot be loaded."""
        return cls({entry.name: _load(entry) for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name)})

    def tell(self, records: Iterable[Record]) -> None:
        """Gives each record to each listener; of one that fails, its name and the class of the failure are logged."""
        for record in records:
            for name, function in self.functions.items():
                try:
                    function(record)
                except Exception as error:  # noqa: BLE001  # a stranger's function must not fail a search that is paid for
                    _log.error("a usage listener failed", listener=name, exception=type(error).__name__)


def _load(entry: EntryPoint) -> Listener:
    where = f"usage listener {entry.name!r} of {entry.dist.name if entry.dist is not None else 'an unknown distribution'!r}"
    try:
        loaded = entry.load()
    except Exception as error:  # whatever a third party's module raises, the operator needs its name
        raise RegistryError(f"{where} cannot be loaded: {type(error).__name__}: {error}; mend or uninstall it") from error
    if not callable(loaded):
        raise RegistryError(f"{where} is no function; mend or uninstall it")
    listener: Listener = loaded
    return listener
