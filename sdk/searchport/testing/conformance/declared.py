"""What a toolkit declares, held against what its vendor has."""

from __future__ import annotations

from collections.abc import Iterator

from searchport.errors import SearchError

from .bench import Bench
from .promise import Finding, check

__all__ = ["declaration", "freshness_needs_dates", "vendor_named"]


@check("declaration", "The toolkit says what it was learned from, and takes the settings of its answers file.")
def declaration(bench: Bench) -> Iterator[Finding]:
    for problem in _find_settings_problems(bench):
        yield Finding(problem, "correct `settings` in the answers file, or the settings class")
    if bench.declared.evidence is None:
        change = 'declare evidence="recorded" or evidence="documentation", which is shown to who chooses a provider'
        yield Finding("it does not say what its vendor's wire was learned from", change)


def _find_settings_problems(bench: Bench) -> Iterator[str]:
    try:
        bench.toolkit.check_settings(bench.answers.settings, of_operator=True)
        bench.toolkit.build_settings(bench.answers.settings, {})
    except SearchError as error:
        yield f"its settings refuse those of the answers file: {error}"


@check("freshness-needs-dates", "Freshness is supported exactly where the vendor's rows can prove a page's age.")
def freshness_needs_dates(bench: Bench) -> Iterator[Finding]:
    is_unsupported = "freshness" in bench.declared.unsupported
    if not bench.answers.has_dates and not is_unsupported:
        change = 'declare unsupported={"freshness"}, or put {{date}} where the row holds its date'
        yield Finding("rows have no date, so that freshness drops every one of them", change)
    if bench.answers.has_dates and is_unsupported:
        change = "take freshness out of `unsupported` and fill published_date"
        yield Finding("rows have a date, but freshness is declared unsupported", change)


@check("vendor-named", "Every answer says which vendor gave it, in the same words each time.")
def vendor_named(bench: Bench) -> Iterator[Finding]:
    full, empty = bench.ask().answer(), bench.ask("another query").answer()
    if not full.vendor.strip():
        yield Finding("SearchResponse.vendor is blank", "give it the vendor's name")
    if full.vendor != empty.vendor:
        yield Finding("SearchResponse.vendor differs from call to call", "give it one constant name")
