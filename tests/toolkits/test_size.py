"""A provider file tells how its vendor differs, and nothing else."""

import runpy
from pathlib import Path

import pytest

MEASURED: dict[str, tuple[int, int]] = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "measure_providers.py"))[
    "measure"
]()
LONGEST = 90


@pytest.mark.parametrize("name", MEASURED)
def test_a_provider_is_short(name: str) -> None:
    lines, _ = MEASURED[name]
    assert lines <= LONGEST


def test_less_than_a_tenth_of_all_lines_stands_in_two_providers() -> None:
    lines, repeated = (sum(column) for column in zip(*MEASURED.values(), strict=True))
    assert repeated / lines < 0.1
