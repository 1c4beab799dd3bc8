"""LiteLLM and smolagents, unmodified, in an environment of their own."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from searchport import ErrorCode, SearchError, SearchRequest

RUNS = int(os.environ.get("SEARCHPORT_PROVE_RUNS", "1"))
pytestmark = [
    pytest.mark.prove,
    pytest.mark.timeout(900),
    pytest.mark.skipif(RUNS < 10, reason="two large packages, minutes in all: make prove RUNS=10"),
]

CLIENTS = ("litellm==1.110.2", "smolagents==1.26.0")
BASES = {
    "google_pse": "/compat/google/customsearch/v1",
    "searxng": "/compat/searxng",
    "tavily": "/compat/tavily",
    "perplexity": "/compat/perplexity",
    "brave": "/compat/brave/res/v1/web/search",
    "serper": "/compat/serper",
}
"""LiteLLM's provider -> what its `api_base` is set to."""
LITELLM = """
import json, os, sys
provider, base, token, options = sys.argv[1:]
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["GOOGLE_PSE_ENGINE_ID"], os.environ["GOOGLE_PSE_API_KEY"] = "acme", token
import litellm
try:
    answer = litellm.search(query="red pandas", search_provider=provider, api_base=base, api_key=token, **json.loads(options))
    print(json.dumps([result.url for result in answer.results]))
except Exception as error:
    print(json.dumps(type(error).__name__))
"""
SMOLAGENTS = """
import json, re, sys
from smolagents import ApiWebSearchTool
text = ApiWebSearchTool(endpoint=sys.argv[1], api_key=sys.argv[2]).forward("red pandas")
print(json.dumps(re.findall(r"[(](https:[^)]+)[)]", text)))
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with these clients."""
    folder = tmp_path_factory.mktemp("litellm")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    found = folder / "bin" / "python"
    subprocess.run([found, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *CLIENTS], check=True)
    return found


async def run(python: Path, program: str, *arguments: str) -> Any:
    """What a program prints last, decoded."""
    process = await asyncio.create_subprocess_exec(
        str(python), "-c", program, *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await process.communicate()
    assert out, err.decode()[-2_000:]
    return json.loads(out.decode().splitlines()[-1])


async def search(python: Path, place: Any, provider: str, token: str | None = None, **options: Any) -> Any:
    """The links that LiteLLM finds, or the name of the error that it raises."""
    base = f"{place.url}{BASES[provider]}"
    return await run(python, LITELLM, provider, base, token or place.token, json.dumps(options))


@pytest.mark.parametrize("provider", BASES)
async def test_litellm_gets_the_organizations_results(python: Path, place: Any, provider: str) -> None:
    place.ours.pages(3, published_date="2026-09-20T10:15Z", snippet="About pandas")
    assert await search(python, place, provider) == [f"https://pages.example/{n}" for n in (1, 2, 3)]
    assert [request.query for request in place.ours.asked] == ["red pandas"]


@pytest.mark.parametrize("provider", sorted(set(BASES) - {"searxng"}))
async def test_a_domain_that_litellm_is_given_is_the_site(python: Path, place: Any, provider: str) -> None:
    """LiteLLM sends none to SearXNG."""
    await search(python, place, provider, search_domain_filter=["pages.example"], max_results=5)
    assert place.ours.asked == [SearchRequest("red pandas", site="pages.example", max_results=5)]


@pytest.mark.parametrize("provider", BASES)
async def test_a_failed_provider_is_an_error_of_litellm(python: Path, place: Any, provider: str) -> None:
    place.ours.outcome = SearchError(ErrorCode.PROVIDER_UNAVAILABLE)
    assert str(await search(python, place, provider)).endswith("Error")


@pytest.mark.parametrize(
    ("provider", "error"),
    [
        ("google_pse", "BadRequestError"),
        ("searxng", "AuthenticationError"),
        ("tavily", "AuthenticationError"),
        ("perplexity", "AuthenticationError"),
        ("brave", "BadRequestError"),
        ("serper", "PermissionDeniedError"),
    ],
)
async def test_a_wrong_token_is_the_error_that_litellm_has_for_it(python: Path, place: Any, provider: str, error: str) -> None:
    assert await search(python, place, provider, "wrong") == error


async def test_smolagents_gets_the_organizations_results(python: Path, place: Any) -> None:
    place.ours.pages(3, snippet="About pandas")
    found = await run(python, SMOLAGENTS, f"{place.url}{BASES['brave']}", place.token)
    assert found == [f"https://pages.example/{n}" for n in (1, 2, 3)]
