"""Every option: sent, held by the SDK, refused or named, as it is declared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from searchport.errors import ErrorCode
from searchport.request import Safe

from .bench import Asked, Bench
from .promise import Finding, NotApplicable, check
from .traffic import changed_places

__all__ = [
    "given_options", "option_country", "option_language", "option_safe", "option_site", "unknown_option",
    "unsupported_refused",
]  # fmt: skip

_VALUES: Final[Mapping[str, Any]] = {
    "recency": "week", "freshness": "P5D", "site": "example.com", "language": "de", "country": "DE", "safe": "strict",
}  # fmt: skip
_CANARY: Final = "canary-option-51c7"
_RARE_LANGUAGE: Final = "tlh"
_RARE_COUNTRY: Final = "BV"


def given_options(bench: Bench) -> dict[str, Any]:
    """A value for every option that the toolkit does not refuse, one that its closed lists know."""
    values = {name: value for name, value in _VALUES.items() if name not in bench.declared.unsupported}
    if bench.declared.languages and "language" in values:
        values["language"] = next((tag for tag in ("de", "fr") if tag in bench.declared.languages), min(bench.declared.languages))
    if bench.declared.countries and "country" in values:
        known = bench.declared.countries
        values["country"] = next((code for code in ("DE", "FR") if code in known), min(known))
    return values


@check("unsupported-refused", "An option declared unsupported is refused by name, before any request.")
def unsupported_refused(bench: Bench) -> Iterator[Finding]:
    if not bench.declared.unsupported:
        raise NotApplicable("nothing is declared unsupported")
    for name in sorted(bench.declared.unsupported):
        asked = bench.ask(**{name: _VALUES[name]})
        if asked.sent:
            yield Finding(f"{name} was given and {len(asked.sent)} requests were sent", "let WebSearch.check refuse it")
        if asked.error is None or asked.error.code is not ErrorCode.UNSUPPORTED_OPTION:
            how = asked.error.code if asked.error is not None else "an answer"
            yield Finding(f"{name} was given and the call ended with {how}", "let WebSearch.check refuse it")


@check("unknown-option", "A provider option that the toolkit does not know is named as ignored and reaches no vendor.")
def unknown_option(bench: Bench) -> Iterator[Finding]:
    asked = bench.ask(provider_options={"x_no_such_setting": _CANARY})
    for place in asked.first().places_with(_CANARY) + asked.first().places_with("x_no_such_setting"):
        yield Finding(f"an unknown provider option is sent in {place}", "send context.settings, never request.provider_options")
    if asked.unknown != ("x_no_such_setting",):
        yield Finding("an unknown provider option was not named", "declare settings with an attrs class")


def _compare(bench: Bench, name: str, value: Any) -> tuple[Asked, set[str]]:
    """A call with the option, and the places in its request that the option changed."""
    if name in bench.declared.unsupported:
        raise NotApplicable(f"{name} is declared unsupported")
    asked = bench.ask(**{name: value})
    asked.answer()
    return asked, changed_places(bench.ask().first(), asked.first())


def _must_send(bench: Bench, name: str, way_out: str) -> Iterator[Finding]:
    """Findings on an option that needs a parameter of the vendor's."""
    value = given_options(bench).get(name, "")
    _, changed = _compare(bench, name, value)
    if not changed:
        happened = f"{name}={value!r} changed nothing in the request, though it is declared {bench.declared.support(name)}"
        yield Finding(happened, f"send it, or {way_out}")


@check("option-site", "A site declared native reaches the vendor, and every call with a site holds it.")
def option_site(bench: Bench) -> Iterator[Finding]:
    if bench.declared.support("site") == "native":
        yield from _must_send(bench, "site", 'take "site" out of `native`')
    asked, _ = _compare(bench, "site", _VALUES["site"])
    kept = bench.hold(asked).results
    if not kept:
        yield Finding("no row of the site was left", "hand every row over with its URL; the SDK keeps those of the site")


@check("option-safe", "Safe search reaches the vendor, or is declared unsupported; it is never ignored.")
def option_safe(bench: Bench) -> Iterator[Finding]:
    unsent = list(_must_send(bench, "safe", 'declare unsupported={"safe"}'))
    yield from unsent
    off, strict = (bench.ask(safe=value).first() for value in (Safe.OFF, Safe.STRICT))
    if off == strict and not unsent:
        yield Finding("safe='off' and safe='strict' send the same", 'map both, or declare unsupported={"safe"}')


def _best_effort(bench: Bench, name: str, rare: str) -> Iterator[Finding]:
    """Findings on an option that is sent, or named in `ignored` and then not sent."""
    support = bench.declared.support(name)
    value = given_options(bench).get(name, "")
    asked, changed = _compare(bench, name, value)
    is_named = name in asked.answer().ignored
    if support == "ignored" and changed:
        yield Finding(
            f"{name} is declared nowhere, but changes {', '.join(sorted(changed))}", f'declare best_effort={{"{name}"}}'
        )
    if support != "ignored" and not changed and not is_named:
        yield Finding(f"{name}={value!r} neither changed the request nor was named in `ignored`", f"send context.{name}")
    if support == "native" and is_named:
        yield Finding(f"{name}={value!r} was ignored, though it is declared native", f"send context.{name}")
    table = {"language": bench.declared.languages, "country": bench.declared.countries}[name]
    if table is not None and rare not in table:
        yield from _unlisted(bench, name, rare)


def _unlisted(bench: Bench, name: str, rare: str) -> Iterator[Finding]:
    asked, changed = _compare(bench, name, rare)
    if changed or name not in asked.answer().ignored:
        happened = f"{name}={rare!r}, which the vendor's list lacks, was sent" if changed else f"{name}={rare!r} was not named"
        yield Finding(happened, f"send context.{name}, which is None where the list lacks it, not request.{name}")


@check("option-language", "A language reaches the vendor in its own spelling, or is named in `ignored` and not sent.")
def option_language(bench: Bench) -> Iterator[Finding]:
    yield from _best_effort(bench, "language", _RARE_LANGUAGE)


@check("option-country", "A country reaches the vendor in its own spelling, or is named in `ignored` and not sent.")
def option_country(bench: Bench) -> Iterator[Finding]:
    yield from _best_effort(bench, "country", _RARE_COUNTRY)
