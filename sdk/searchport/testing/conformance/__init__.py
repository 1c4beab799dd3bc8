"""The conformance kit: every promise of the contract, put to one toolkit at a fake vendor that answers as its own does.

    answers = Answers.load("tests/answers.toml")
    for outcome in run_checks(toolkit, answers):
        print(outcome.check.name, outcome.violations or outcome.skipped or "kept")

`pytest --searchport-toolkit=acme_search:toolkit` and `searchport toolkit check acme_search:toolkit` run the same.
Needs `pip install searchport[testing]`; each name is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from searchport.lazy import lazy_names

if TYPE_CHECKING:
    from .answers import Answers, AnswersError
    from .catalogue import CHECKS
    from .promise import Check, NotApplicable, Violation
    from .reference import ToolkitNotFoundError, find_answers, load_toolkit
    from .run import Outcome, run_check, run_checks

__all__ = [
    "CHECKS",
    "Answers",
    "AnswersError",
    "Check",
    "NotApplicable",
    "Outcome",
    "ToolkitNotFoundError",
    "Violation",
    "find_answers",
    "load_toolkit",
    "run_check",
    "run_checks",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "CHECKS": "catalogue",
        "Answers": "answers",
        "AnswersError": "answers",
        "Check": "promise",
        "NotApplicable": "promise",
        "Outcome": "run",
        "ToolkitNotFoundError": "reference",
        "Violation": "promise",
        "find_answers": "reference",
        "load_toolkit": "reference",
        "run_check": "run",
        "run_checks": "run",
    },
)
