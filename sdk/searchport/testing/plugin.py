"""The conformance kit in pytest: `pytest --searchport-toolkit=acme_search:toolkit` adds one test for each check.

No test file is needed. Without the option nothing is added and nothing of the kit is imported.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from searchport.testing.conformance import Answers, Check
    from searchport.toolkit import Toolkit

__all__ = ["pytest_addoption", "pytest_collection_modifyitems", "pytest_sessionstart"]

_LOADED: pytest.StashKey[tuple[Toolkit[Any], Answers]] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options; see `pytest --help`."""
    group = parser.getgroup("searchport", "conformance of a search toolkit")
    group.addoption("--searchport-toolkit", metavar="MODULE:NAME", help="The toolkit to check, by its place or its installed id.")
    group.addoption(
        "--searchport-answers", metavar="PATH", help="How its vendor answers; else tests/answers.toml or answers.toml."
    )
    group.addoption("--searchport-examples", metavar="N", type=int, help="How many invented answers to try where any will do.")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Loads what is to be checked. Raises UsageError where there is no such toolkit, or no usable answers file."""
    reference = session.config.getoption("--searchport-toolkit")
    if reference is not None:
        session.config.stash[_LOADED] = _load(session.config, reference)


def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Adds the checks behind what was collected."""
    if _LOADED in config.stash:
        name = str(config.getoption("--searchport-toolkit"))
        items.extend(_Checks.from_parent(session, name=name, nodeid=name).collect())


class _Checks(pytest.Collector):
    """The checks of one toolkit."""

    def collect(self) -> Iterator[pytest.Item]:
        """One item a check."""
        from searchport.testing.conformance import CHECKS

        toolkit, answers = self.config.stash[_LOADED]
        for check in CHECKS:
            yield _CheckItem.from_parent(self, name=check.name, check=check, toolkit=toolkit, answers=answers)


def _load(config: pytest.Config, reference: str) -> tuple[Toolkit[Any], Answers]:
    from searchport.testing.conformance import Answers, AnswersError, ToolkitNotFoundError, find_answers, load_toolkit

    folder = config.invocation_params.dir
    try:
        toolkit = load_toolkit(reference, folder=folder)
        given = config.getoption("--searchport-answers")
        path = find_answers(toolkit, folder=folder) if given is None else folder / Path(given)
        return toolkit, Answers.load(path)
    except (ToolkitNotFoundError, AnswersError, OSError) as error:
        raise pytest.UsageError(str(error)) from None


class _CheckItem(pytest.Item):
    """One promise."""

    def __init__(self, *, check: Check, toolkit: Toolkit[Any], answers: Answers, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._check = check
        self._toolkit = toolkit
        self._answers = answers

    def runtest(self) -> None:
        """Fails with every violation; skips, with the reason, where the promise does not concern the toolkit."""
        from searchport.testing.conformance import NotApplicable, run_check
        from searchport.testing.conformance.run import EXAMPLES

        examples = self.config.getoption("--searchport-examples") or EXAMPLES
        try:
            violations = run_check(self._check, self._toolkit, self._answers, examples=examples)
        except NotApplicable as reason:
            pytest.skip(str(reason))
        if violations:
            pytest.fail("\n\n".join(map(str, violations)), pytrace=False)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Shown as `brave: rows-arrive`."""
        return self.path, None, f"{self._toolkit.id}: {self.name}"
