"""MCP clients of others, each in an environment of its own, against a server that runs from this one."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.prove

OF_THE_FIRST_SDK = """
import asyncio, json, os, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client

async def use(read, write):
    async with ClientSession(read, write) as session:
        await session.initialize()
        tools = await session.list_tools()
        good = await session.call_tool("web_search", {"query": "freshness", "count": 2})
        bad = await session.call_tool("web_search", {"query": "freshness", "bogus": 1})
    names = [tool.name for tool in tools.tools]
    print(json.dumps({"tools": names, "structured": good.structuredContent, "text": good.content[0].text,
                      "failed": [bad.isError, bad.content[0].text]}))

async def main(url, token, database, python):
    async with streamablehttp_client(f"{url}/mcp", headers={"Authorization": f"Bearer {token}"}) as (read, write, _):
        await use(read, write)
    server = StdioServerParameters(command=python, args=["-m", "searchport_platform", "mcp", "--database", database],
                                   env={**os.environ, "SEARCHPORT_TOKEN": token, "SEARCHPORT_PUBLIC_URL": url})
    async with stdio_client(server) as (read, write):
        await use(read, write)

asyncio.run(main(*sys.argv[1:]))
"""

OF_FASTMCP = """
import asyncio, json, sys
from fastmcp import Client

async def main(url, token, *_):
    async with Client(f"{url}/mcp", auth=token) as client:
        tools = await client.list_tools()
        good = await client.call_tool("web_search", {"query": "freshness", "count": 2})
        bad = await client.call_tool("web_search", {"query": "freshness", "bogus": 1}, raise_on_error=False)
    print(json.dumps({"tools": [tool.name for tool in tools], "structured": good.structured_content,
                      "text": good.content[0].text, "failed": [bad.is_error, bad.content[0].text]}))

asyncio.run(main(*sys.argv[1:]))
"""

OF_LANGCHAIN = """
import asyncio, json, sys
from langchain_mcp_adapters.client import MultiServerMCPClient

def read(answer):
    return answer if isinstance(answer, str) else answer[0]["text"]

async def main(url, token, *_):
    headers = {"Authorization": f"Bearer {token}"}
    client = MultiServerMCPClient({"search": {"transport": "streamable_http", "url": f"{url}/mcp", "headers": headers}})
    (tool,) = await client.get_tools()
    text = read(await tool.ainvoke({"query": "freshness", "count": 2}))
    try:
        failed = [True, read(await tool.ainvoke({"query": "freshness", "bogus": 1}))]
    except Exception as error:
        failed = [True, str(error)]
    print(json.dumps({"tools": [tool.name], "structured": json.loads(text), "text": text, "failed": failed}))

asyncio.run(main(*sys.argv[1:]))
"""

CLIENTS = {
    "mcp-1": (["mcp>=1.20,<2"], OF_THE_FIRST_SDK, 2),
    "fastmcp": (["fastmcp"], OF_FASTMCP, 1),
    "langchain": (["langchain-mcp-adapters", "langchain-core"], OF_LANGCHAIN, 1),
}
"""What to install, the program, and how many times it uses the tool."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """`searchport demo`: where it is, a token, and its database."""
    folder = tmp_path_factory.mktemp("demo")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SEARCHPORT_")}
    command = [sys.executable, "-m", "searchport_platform", "demo", "--port", "0", "--json", "--data", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=clean, text=True) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline()) | {"database": f"sqlite:///{folder / 'searchport.db'}"}
        process.terminate()


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_of_others_lists_calls_and_reads_a_failure(client: str, demo: dict[str, str], tmp_path: Path) -> None:
    packages, program, uses = CLIENTS[client]
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    arguments = [demo["url"], demo["searchToken"], demo["database"], sys.executable]
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SEARCHPORT_", "PYTHON"))}
    done = subprocess.run(
        [python, "-c", program, *arguments], capture_output=True, text=True, cwd=tmp_path, env=clean, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    seen: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(seen) == uses
    for told in seen:
        assert told["tools"] == ["web_search"]
        assert [hit["rank"] for hit in told["structured"]["results"]] == [1, 2]
        assert json.loads(told["text"]) == told["structured"]
        is_error, text = told["failed"]
        assert is_error
        assert "validation_error: $.bogus: unknown field" in text
