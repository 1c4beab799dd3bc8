"""Declaring a toolkit: its id, its credential, its settings, and when it goes away."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Generic, Never, cast

import attrs
from typing_extensions import TypeVar

from searchport.errors import ErrorCode, Fault, SearchError, name_tuple
from searchport.wire import structure

if TYPE_CHECKING:
    from searchport.web_search import WebSearch

__all__ = ["OPERATOR_ONLY", "SEARCH_API_KEY", "DeclarationError", "Sunset", "Toolkit", "define_toolkit", "operator_only"]

SEARCH_API_KEY = "search.apiKey"
"""The one credential name, whatever the vendor: changing providers then changes no agent's permissions."""

S = TypeVar("S", default=None)

_ID = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_ID_LIMIT = 64
OPERATOR_ONLY = "searchport.operator_only"
"""Key in the metadata of a settings field that only an operator may set."""

_FOR_OPERATORS = "only an operator can set this; leave it out"


@attrs.frozen
class _NoSettings:
    """The settings of a toolkit that has none."""


class DeclarationError(ValueError):
    """A toolkit that is declared wrongly; raised when its module is imported, naming the toolkit and the fix."""

    def __init__(self, toolkit_id: object, fault: str, fix: str, *, also: Sequence[str] = ()) -> None:
        others = f" (also: {'; '.join(also)})" if also else ""
        super().__init__(f"toolkit {toolkit_id!r}: {fault}; {fix}{others}")


@attrs.frozen(kw_only=True)
class Sunset:
    """A vendor that goes away.

    ends: the first day, in UTC, on which calls are refused. successors: ids of providers to move to.
    source: address of the vendor's announcement. Raises ValueError where a field is not of its type.
    """

    ends: date
    reason: str
    successors: tuple[str, ...] = attrs.field(converter=name_tuple)
    source: str

    def __attrs_post_init__(self) -> None:
        if type(self.ends) is not date:
            raise ValueError(f"Sunset.ends is {type(self.ends).__name__}; write the first refused day as date(2027, 1, 1)")
        if not self.source.startswith("https://"):
            raise ValueError("Sunset.source is no https address; give that of the vendor's announcement")

    def is_over(self, today: date) -> bool:
        """True from the day `ends` on; today: the UTC day."""
        return today >= self.ends


@attrs.define(kw_only=True, eq=False)
class Toolkit(Generic[S]):
    """A declared toolkit; make one with `define_toolkit`, then attach web search with `define_web_search`."""

    id: str
    name: str
    credential_ref: str | None
    settings: type[S] | None
    sunset: Sunset | None
    risk: str | None
    prepare: Callable[[S], None] | None = None
    _web_search: WebSearch[S] | None = attrs.field(default=None, init=False)

    @property
    def is_keyless(self) -> bool:
        """True where the vendor takes no key, so that none is asked for and no credential gate applies."""
        return self.credential_ref is None

    @property
    def web_search(self) -> WebSearch[S]:
        """The attached web search. Raises DeclarationError where none is attached."""
        if self._web_search is None:
            raise DeclarationError(self.id, "declares no web search", "decorate its function with @define_web_search")
        return self._web_search

    def attach(self, web_search: WebSearch[S]) -> None:
        """Attaches web search; called by `define_web_search`. Raises DeclarationError on a second one."""
        if self._web_search is not None:
            raise DeclarationError(self.id, "has web search already", "declare a second toolkit for a second function")
        self._web_search = web_search

    def build_settings(self, values: Mapping[str, object], options: Mapping[str, object]) -> tuple[S, tuple[str, ...]]:
        """The settings object for one call, and the names in `options` that this toolkit does not know.

        values: what the operator or admin stored. options: the call's `provider_options`, which override them.
        Raises SearchError: `validation_error` for a wrong or operator-only option, `provider_not_configured` for wrong or
        missing stored values.
        """
        fields = self._fields()
        options = {name: value for name, value in options.items() if value is not None}
        self._check_options(options, fields)
        known = {name: value for name, value in options.items() if name in fields}
        ignored = tuple(sorted(name for name in options if name not in fields))
        try:
            built = structure({**values, **known}, self.settings or _NoSettings)
        except SearchError as error:
            raise self._blame(error, known) from None
        return cast("S", built if self.settings is not None else None), ignored

    def check_settings(self, values: Mapping[str, object], *, of_operator: bool) -> None:
        """Refuses settings that cannot be stored for this toolkit.

        of_operator: False for an admin, who cannot give what is the operator's, but must give everything else; an operator may
        give any part. Raises SearchError (`validation_error`) with every fault.
        """
        fields = self._fields()
        of_operators = {name for name, field in fields.items() if field.metadata.get(OPERATOR_ONLY)}
        faults = [] if of_operator else [Fault(f"$.settings.{n}", _FOR_OPERATORS) for n in sorted(of_operators & set(values))]
        try:
            structure(values, self.settings or _NoSettings)
        except SearchError as error:
            excused = (set(fields) if of_operator else of_operators) - set(values)
            named = [(fault.path.removeprefix("$.").split(".", maxsplit=1)[0], fault.message) for fault in error.faults]
            faults += [Fault(f"$.settings.{name}", message) for name, message in named if name not in excused]
        if faults:
            raise SearchError(ErrorCode.VALIDATION_ERROR, faults=faults, provider=self.id)

    def _fields(self) -> Mapping[str, attrs.Attribute[object]]:
        return {} if self.settings is None else attrs.fields_dict(cast("type[attrs.AttrsInstance]", self.settings))

    def _check_options(self, options: Mapping[str, object], fields: Mapping[str, attrs.Attribute[object]]) -> None:
        refused = sorted(name for name in options if name in fields and fields[name].metadata.get(OPERATOR_ONLY))
        if refused:
            faults = tuple(Fault(f"$.providerOptions.{name}", _FOR_OPERATORS) for name in refused)
            raise SearchError(ErrorCode.VALIDATION_ERROR, faults=faults, provider=self.id)

    def _blame(self, error: SearchError, options: Mapping[str, object]) -> SearchError:
        """The caller's fault where one of the call's own options is wrong, else the configuration's."""
        names = {fault: fault.path.removeprefix("$.").split(".", maxsplit=1)[0] for fault in error.faults}
        of_caller = [Fault(f"$.providerOptions.{name}", f.message) for f, name in names.items() if name in options]
        if of_caller:
            return SearchError(ErrorCode.VALIDATION_ERROR, faults=of_caller, provider=self.id)
        faults = [Fault(f"settings.{name}", f.message) for f, name in names.items()]
        return SearchError(ErrorCode.PROVIDER_NOT_CONFIGURED, faults=faults, provider=self.id)


def operator_only(*, default: str | None = None) -> str:
    """A field of a settings class that only an operator may set: a base URL, anything that decides where a key is sent."""
    field: object = (
        attrs.field(metadata={OPERATOR_ONLY: True})
        if default is None
        else attrs.field(default=default, metadata={OPERATOR_ONLY: True})
    )
    return cast("str", field)


def define_toolkit(
    *,
    id: str,  # noqa: A002  # the word that every document of the product uses
    name: str,
    credential_ref: str | None,
    settings: type[S] | None = None,
    sunset: Sunset | None = None,
    risk: str | None = None,
    prepare: Callable[[S], None] | None = None,
) -> Toolkit[S]:
    """Declares a toolkit.

    id: lower-case letters, digits and single hyphens, at most 64 characters. credential_ref: `SEARCH_API_KEY`, or None for a
    vendor that takes no key. settings: an attrs class of what is not secret. risk: words shown to operators; opens nothing.
    prepare: called once at start-up, in a thread, with the operator's settings; makes the first call fast. It raises what a call
    would raise, and calls come whether or not it did.
    Raises DeclarationError, naming the toolkit and the fix.
    """
    if not isinstance(id, str) or not _ID.fullmatch(id) or len(id) > _ID_LIMIT:
        _refuse(id, "its id is not lower-case letters, digits and single hyphens", "write it like 'acme-search'")
    if not isinstance(name, str) or not name.strip():
        _refuse(id, "it has no name", "give `name` the words to show to people")
    if credential_ref not in (None, SEARCH_API_KEY):
        _refuse(id, f"credential {credential_ref!r} is unknown", "use credential_ref=SEARCH_API_KEY, or None for no key")
    if not _is_settings_class(settings):
        _refuse(id, "its settings are no attrs class", "decorate the class with @attrs.frozen")
    if sunset is not None and not isinstance(sunset, Sunset):
        _refuse(id, "its sunset is no Sunset", "write sunset=Sunset(ends=…, reason=…, successors=…, source=…)")
    if prepare is not None and (not callable(prepare) or inspect.iscoroutinefunction(prepare)):
        _refuse(id, "its prepare is no plain function", "write `def prepare(settings)`; it runs in a thread")
    return Toolkit(id=id, name=name, credential_ref=credential_ref, settings=settings, sunset=sunset, risk=risk, prepare=prepare)


def _is_settings_class(settings: object) -> bool:
    return settings is None or (isinstance(settings, type) and attrs.has(settings))


def _refuse(toolkit_id: object, fault: str, fix: str) -> Never:
    raise DeclarationError(toolkit_id, fault, fix)
