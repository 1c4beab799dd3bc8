"""What every test shares: hypothesis profiles, and an environment without the developer's own settings."""

import os

import pytest
from hypothesis import settings

settings.register_profile("test", max_examples=100, deadline=None, derandomize=True)
settings.register_profile("prove", max_examples=500 * int(os.environ.get("SEARCHPORT_PROVE_RUNS", "1")), deadline=None)
settings.load_profile("prove" if "SEARCHPORT_PROVE_RUNS" in os.environ else "test")


@pytest.fixture(autouse=True)
def _no_settings_of_the_developer(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("SEARCHPORT_"):
            monkeypatch.delenv(name)
