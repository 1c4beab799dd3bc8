"""Running the kit: one check, or all of them."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from searchport.toolkit import DeclarationError

from .answers import Answers
from .bench import AnyToolkit, Bench
from .catalogue import CHECKS
from .promise import Check, Finding, NotApplicable, Unmet, Violation

__all__ = ["EXAMPLES", "Outcome", "run_check", "run_checks"]

EXAMPLES = 60
"""How many invented answers are tried where any will do; more find more."""


@attrs.frozen
class Outcome:
    """What came of one check: no violations and no reason to skip it means that the promise is kept."""

    check: Check
    violations: tuple[Violation, ...] = ()
    skipped: str | None = None

    @property
    def is_kept(self) -> bool:
        """True where the promise was looked at and holds."""
        return not self.violations and self.skipped is None


def run_check(check: Check, toolkit: AnyToolkit, answers: Answers, *, examples: int = EXAMPLES) -> tuple[Violation, ...]:
    """How the toolkit breaks this promise; empty where it keeps it.

    Raises NotApplicable, with the reason, where the promise does not concern the toolkit as it is declared. Not to be called
    where an event loop runs: the kit runs one of its own.
    """
    findings: list[Finding] = []
    try:
        with Bench(toolkit, answers, examples=examples) as bench:
            findings.extend(check.look(bench))
    except Unmet as unmet:
        findings.append(unmet.finding)
    except DeclarationError as error:
        return (Violation(check.promise, str(error), "attach a search function with @define_web_search"),)
    return tuple(Violation(check.promise, finding.happened, finding.change) for finding in findings)


def run_checks(toolkit: AnyToolkit, answers: Answers, *, examples: int = EXAMPLES) -> Iterator[Outcome]:
    """Every check of `CHECKS`, in order."""
    for check in CHECKS:
        try:
            yield Outcome(check, run_check(check, toolkit, answers, examples=examples))
        except NotApplicable as reason:
            yield Outcome(check, skipped=str(reason))
