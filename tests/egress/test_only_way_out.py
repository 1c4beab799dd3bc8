"""There is one client, and importing the SDK does not load it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import searchport.egress
import searchport.testing
from searchport.egress import Deadline

ROOT = Path(__file__).parents[2]
ANOTHER_CLIENT = re.compile(
    r"ClientSession\(|\baiohttp\.request\(|TCPConnector\(|^\s*(import|from) (requests|httpx|urllib3|http\.client)\b"
    r"|urllib\.request|\burlopen\b|open_connection\(",
    re.MULTILINE,
)


def test_no_other_module_opens_connections() -> None:
    sources = [path for folder in ("sdk", "toolkits", "platform_stub") for path in (ROOT / folder).rglob("*.py")]
    found = {path.relative_to(ROOT).as_posix() for path in sources if ANOTHER_CLIENT.search(path.read_text("utf-8"))}
    assert found == {"sdk/searchport/egress/connections.py"}


@pytest.mark.parametrize(
    "code",
    [
        "import searchport.egress; searchport.egress.AddressPolicy(); searchport.egress.Deadline.after(1)",
        "from searchport.egress import JsonBody, Refusals, UrlFault",
        "import searchport.testing",
    ],
)
def test_the_http_stack_is_not_imported_before_it_is_used(code: str) -> None:
    check = f"{code}\nimport sys; print(sorted({{'aiohttp', 'yarl', 'trustme', 'aioresponses'}} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize("package", [searchport.egress, searchport.testing], ids=lambda package: package.__name__)
def test_every_public_name_is_importable_and_others_are_not(package: object) -> None:
    names: list[str] = package.__all__  # type: ignore[attr-defined]
    assert [name for name in names if getattr(package, name).__name__ != name] == []
    assert set(names) <= set(dir(package))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        package.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_a_deadline_counts_down_to_zero_and_stays_there() -> None:
    ahead, past = Deadline.after(60), Deadline.after(-1)
    assert 59 < ahead.remaining_seconds() <= 60
    assert not ahead.is_over
    assert (past.remaining_seconds(), past.is_over) == (0.0, True)
