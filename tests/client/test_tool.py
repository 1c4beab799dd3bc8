"""The agent tool from Python: what a model reads is the platform's own words, over HTTP and in process."""

import importlib
import json
import socket
import sys
from typing import Any

import pytest

from searchport import ErrorCode, SearchError
from searchport.client import AsyncClient, ToolResult
from searchport.client.tool import import_library, read_declaration
from searchport.result import UNTRUSTED_NOTE
from searchport_platform.doors.agent_tool import call_tool, describe_tool
from searchport_platform.platform import Caller

from .conftest import Bench, Recorder

LIBRARIES = {"langchain": "langchain-core", "pydantic_ai": "pydantic-ai-slim", "openai_agents": "openai-agents"}
MODULES = {"langchain": "langchain_core", "pydantic_ai": "pydantic_ai", "openai_agents": "agents"}


@pytest.fixture
def free_port() -> int:
    """A port at which nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


# What a model reads


async def test_an_answer_begins_with_the_note_and_comes_as_an_object_too(client: AsyncClient) -> None:
    result = await client.call_tool({"query": "red pandas", "count": 2})
    assert (result.is_error, result.code) == (False, None)
    assert next(iter(json.loads(result.text).values())) == UNTRUSTED_NOTE
    assert json.loads(result.text) == result.structured
    assert [hit["rank"] for hit in json.loads(result.text)["results"]] == [1, 2]


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "limited: tea"},
        {"query": "challenge: tea"},
        {"query": "empty: tea"},
        {"query": "tea", "freshnes": "P1D"},
        {"query": "tea", "freshness": "P1M", "site": "https://example.com"},
        {"query": " "},
        {},
    ],
)
async def test_every_outcome_is_told_in_the_platforms_own_words(
    client: AsyncClient, bench: Bench, arguments: dict[str, object]
) -> None:
    told = await call_tool(bench.platform, Caller(organization="acme"), arguments)
    result = await client.call_tool(arguments)
    assert (result.text, result.is_error) == (told.text, told.is_error)
    assert result.code == (None if told.code is None else str(told.code))


@pytest.mark.parametrize("text", ['{"query": "red pandas", "count": 2, "site": null}', ' {"query":"red pandas","count":2}\n'])
async def test_what_a_model_wrote_as_text_is_read(client: AsyncClient, text: str) -> None:
    result = await client.call_tool(text)
    assert (result.is_error, len(json.loads(result.text)["results"])) == (False, 2)


@pytest.mark.parametrize("text", ['{"query": "canary"', "[1]", '"tea"', "null", '{"query": "a", "query": "canary"}'])
async def test_text_that_is_no_object_is_a_failure_that_the_model_reads(client: AsyncClient, text: str) -> None:
    result = await client.call_tool(text)
    assert (result.is_error, result.code, result.structured) == (True, "validation_error", None)
    assert result.text.startswith("validation_error: $: expected a JSON object")
    assert result.text.endswith("Tell the user that the search failed; nothing is known from it.")
    assert "canary" not in result.text


async def test_no_arguments_at_all_are_told_by_the_platform(client: AsyncClient) -> None:
    assert (await client.call_tool("")).text.startswith("validation_error: $.query: required, but not given")


async def test_a_lone_surrogate_is_a_failure_that_the_model_reads(client: AsyncClient) -> None:
    assert (await client.call_tool({"query": "tea \ud800"})).code == "validation_error"


# Failures that the platform cannot tell


async def test_a_wrong_token_is_told_to_the_model(bench: Bench) -> None:
    async with AsyncClient(bench.url, "canary") as client:
        result = await client.call_tool({"query": "tea"})
    assert (result.is_error, result.code, result.text[:14]) == (True, "unauthorized", "unauthorized: ")
    assert "canary" not in result.text


async def test_a_platform_that_is_away_is_told_to_the_model(free_port: int) -> None:
    async with AsyncClient(f"http://127.0.0.1:{free_port}", "token") as client:
        result = await client.call_tool({"query": "canary"})
        with pytest.raises(SearchError) as caught:
            await client.describe_tool()
    assert (result.is_error, result.code) == (True, "upstream_unreachable")
    assert "check that it is running" in result.text
    assert "canary" not in result.text
    assert caught.value.code is ErrorCode.UPSTREAM_UNREACHABLE


async def test_a_closed_client_is_told_to_the_model(bench: Bench) -> None:
    client = AsyncClient(bench.url, "token")
    await client.close()
    assert "the client is closed" in (await client.call_tool({"query": "tea"})).text


async def test_a_transport_without_the_tool_says_so() -> None:
    client = AsyncClient(transport=Recorder())
    with pytest.raises(SearchError, match="does not lead to the agent tool"):
        await client.describe_tool()


async def test_no_word_of_an_answer_is_in_its_repr(client: AsyncClient) -> None:
    result = await client.call_tool({"query": "canary"})
    assert "canary" in result.text
    assert "canary" not in repr(result)


# The declaration


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("style", ["platform", "openai-responses", "openai-chat", "anthropic", "mcp"])
async def test_the_declaration_is_the_platforms(client: AsyncClient, style: str, strict: bool) -> None:
    assert await client.describe_tool(style, strict=strict) == json.loads(json.dumps(describe_tool(style, strict=strict)))


async def test_an_unknown_style_is_refused_by_the_platform(client: AsyncClient) -> None:
    with pytest.raises(SearchError, match=r"\$\.format: 'gemini' is not one of: platform, openai-responses"):
        await client.describe_tool("gemini")


@pytest.mark.parametrize("style", ["platform", "openai-responses"])
def test_the_parts_of_a_declaration_are_read(style: str) -> None:
    declared = describe_tool(style)
    read = read_declaration(declared)
    assert (read.name, read.description, read.parameters) == ("web_search", declared["description"], declared["parameters"])


# Agent libraries, which are not installed here; `make prove` runs them


@pytest.mark.parametrize("library", LIBRARIES)
async def test_a_missing_library_is_named_before_anything_is_sent(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == MODULES[library]]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, MODULES[library], None)
    module = importlib.import_module(f"searchport.client.{library}")
    with pytest.raises(ImportError, match=f"this tool needs {LIBRARIES[library]}: pip install {LIBRARIES[library]}$"):
        await module.search_tool(AsyncClient(transport=Recorder()))


def test_what_a_library_itself_lacks_is_not_taken_for_the_library(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "agent_library.py").write_text("import something_of_its_own\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ImportError, match="something_of_its_own"):
        import_library("agent_library", "agent-library")


def test_a_result_is_a_plain_value() -> None:
    assert ToolResult(text="a", is_error=False) == ToolResult(text="a", is_error=False, code=None, structured=None)
