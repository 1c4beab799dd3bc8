"""What every test shares: hypothesis profiles, and an environment without the developer's own settings."""

import io
import logging
import os
from collections.abc import Callable, Iterator

import pytest
from hypothesis import settings

from searchport_platform.logs import configure_logs

settings.register_profile("test", max_examples=100, deadline=None, derandomize=True)
settings.register_profile("prove", max_examples=500 * int(os.environ.get("SEARCHPORT_PROVE_RUNS", "1")), deadline=None)
settings.load_profile("prove" if "SEARCHPORT_PROVE_RUNS" in os.environ else "test")


@pytest.fixture(autouse=True)
def _logs_as_they_were() -> Iterator[None]:
    """A command that runs in this process configures its logs; the next test must not inherit them."""
    root = logging.getLogger()
    before = root.handlers[:], root.level, logging.raiseExceptions
    yield
    root.handlers[:], root.level, logging.raiseExceptions = before


@pytest.fixture(autouse=True)
def _no_settings_of_the_developer(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("SEARCHPORT_"):
            monkeypatch.delenv(name)


@pytest.fixture
def logged() -> Callable[[], str]:
    """Everything logged since the fixture was taken, at every level, as the process writes it."""
    stream = io.StringIO()
    configure_logs(level=logging.DEBUG, stream=stream)
    return stream.getvalue
