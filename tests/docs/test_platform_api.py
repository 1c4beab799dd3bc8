"""The pages on the platform API and on workflows say what the server does."""

import json
import re
from pathlib import Path
from typing import Any

from searchport_platform.app import build_app, build_router
from searchport_platform.doors.openapi import build_description
from searchport_platform.doors.search_block import describe_block
from searchport_platform.platform import Platform
from searchport_platform.routing.clients import HttpClients
from searchport_platform.settings import Settings

DOCS = Path(__file__).parents[2] / "docs"
WORKFLOW = (DOCS / "how-to" / "search-in-a-workflow.md").read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def who(operation: dict[str, Any]) -> str:
    """Whose token a route needs, as the page says it."""
    if not operation["security"]:
        return "everyone"
    (scheme, roles), *_ = operation["security"][0].items()
    if scheme == "opsToken":
        return "operator's own token"
    return f"`{roles[0]}`" if roles else "any token"


async def test_every_route_is_documented_as_it_is_described() -> None:
    settings = Settings()
    async with HttpClients() as clients, Platform.open("sqlite://", prepare=False) as platform:
        description: Any = build_description(build_app(settings, build_router(settings, clients), platform), "0")
    told = [
        f"| `{method.upper()} {path}` | `{operation['operationId']}` | {who(operation)} | {operation['summary']} |"
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    ]
    page = (DOCS / "reference" / "platform-api.md").read_text(encoding="utf-8")
    assert sorted(told) == sorted(line for line in page.splitlines() if re.match(r"\| `[A-Z]+ /", line))


def test_the_workflow_runs_through_every_branch() -> None:
    (block,) = blocks(WORKFLOW, "python")
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(block, "search-in-a-workflow.md", "exec"), names)  # noqa: S102  # our own documentation
    found = names["outcomes"][0]
    assert found["urls"]
    assert all(url.startswith(f"https://{found['site']}/") for url in found["urls"])


def test_the_documented_form_and_failure_are_of_the_described_shapes() -> None:
    form, failure = map(json.loads, blocks(WORKFLOW, "json"))
    block: Any = describe_block()
    assert set(form) <= {field["name"] for field in block["fields"]}
    assert failure["error"]["code"] in [error["code"] for error in block["errors"]]
