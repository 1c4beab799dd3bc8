"""Schemathesis holds the running server to its own description: invented requests, valid and not, and what comes back."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Served

EXAMPLES = "4"
"""Of the fuzzing of one operation; the coverage of its schema comes on top."""
SETTINGS = """
[checks]
# A parser may refuse more than its schema can say; no header is required; no two operations are linked.
positive_data_acceptance.enabled = false
missing_required_header.enabled = false
use_after_free.enabled = false
ensure_resource_availability.enabled = false

[parameters]
"path.organization" = "acme"
"path.provider" = "fake"

[[operations]]
include-tag = "Operation"
headers = {{ Authorization = "Bearer {operator}" }}
parameters = {{ "path.organization" = "none-such" }}

[[operations]]
include-tag = "Stateless service"
headers = {{ Authorization = "Bearer {ops}" }}

# A search that fails is told to the model, with status 200.
[[operations]]
include-operation-id = "callTool"
checks.negative_data_rejection.enabled = false
"""
"""Of its command; all checks that are not turned off here run."""


async def run(served: "Served", folder: Path, *arguments: str) -> tuple[int, str]:
    """Exit code and report of one run of its command, against the server of this test."""
    settings = folder / "schemathesis.toml"
    settings.write_text(SETTINGS.format(**served.tokens))
    url = served.client.make_url("/openapi.json")
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(settings), "run", str(url)]
    command += ["--header", f"Authorization: Bearer {served.tokens['all']}", "--phases", "coverage,fuzzing"]
    command += ["--generation-deterministic", "--max-examples", EXAMPLES, "--warnings", "off", "--no-color", *arguments]
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await process.communicate()
    return process.returncode or 0, output.decode()


GROUPS = {
    "administration": ["--include-tag", "Administration"],
    "searching": ["--include-tag", "Search", "--include-tag", "Search block"],
    "the rest": ["--exclude-tag", "Administration", "--exclude-tag", "Search", "--exclude-tag", "Search block"],
}
"""Together every operation; apart, so that they can run beside each other."""


@pytest.mark.timeout(240)  # some seconds of work, on a machine that may have many others to do
@pytest.mark.parametrize("group", GROUPS)
async def test_the_server_keeps_to_its_description(
    served: "Served", tmp_path: Path, group: str, logged: Callable[[], str]
) -> None:
    code, report = await run(served, tmp_path, *GROUPS[group])
    assert code == 0, report
    assert '"event": "defect"' not in logged()
