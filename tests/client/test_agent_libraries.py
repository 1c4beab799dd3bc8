"""The tool in the real agent libraries, each in an environment of its own, against a served platform."""

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from searchport import manual
from searchport.result import UNTRUSTED_NOTE
from searchport_platform.doors.agent_tool import call_tool, describe_tool
from searchport_platform.platform import Caller

from .conftest import Bench

pytestmark = [pytest.mark.prove, pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "langchain": "langchain-core==1.8.3",
    "pydantic_ai": "pydantic-ai-slim==2.68.0",
    "openai_agents": "openai-agents==0.24.0",
}
GUIDE = (manual.folder() / "how-to" / "give-an-agent-search.md").read_text(encoding="utf-8")

# Each offers the tool to a model that is played by a script: it writes `ASKED` as its call's arguments and keeps what it sees.
# They give the schema that it saw, what it read, whether that was marked as an error, and what the application got beside it.
PROGRAMS = {
    "langchain": """
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

async def play(tool):
    call = {"id": "1", "name": tool.name, "args": ASKED}
    model = GenericFakeChatModel(messages=iter([AIMessage(content="", tool_calls=[call])]))
    written = await model.ainvoke("find it")
    message = await tool.ainvoke(written.tool_calls[0])
    seen = convert_to_openai_tool(tool)["function"]
    return seen["parameters"], message.content, message.status == "error", message.artifact
""",
    "pydantic_ai": """
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

async def play(tool):
    seen = []
    def answer(messages, info):
        seen.append(info.function_tools[0].parameters_json_schema)
        done = isinstance(messages[-1].parts[0], ToolReturnPart)
        return ModelResponse(parts=[TextPart("done") if done else ToolCallPart(tool.name, ASKED)])
    run = await Agent(FunctionModel(answer), tools=[tool]).run("find it")
    (part,) = [part for message in run.all_messages() for part in message.parts if isinstance(part, ToolReturnPart)]
    return seen[0], part.model_response_str(), None, part.metadata
""",
    "openai_agents": """
import json
from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

class Script(Model):
    def __init__(self):
        self.inputs, self.tools = [], []
    async def get_response(self, system_instructions, input, model_settings, tools, *rest, **more):
        self.inputs.append(input)
        self.tools = tools
        if len(self.inputs) == 1:
            call = ResponseFunctionToolCall(
                call_id="1", name="web_search", arguments=json.dumps(ASKED), type="function_call"
            )
            return ModelResponse(output=[call], usage=Usage(), response_id=None)
        text = ResponseOutputText(text="done", type="output_text", annotations=[])
        said = ResponseOutputMessage(id="2", content=[text], role="assistant", status="completed", type="message")
        return ModelResponse(output=[said], usage=Usage(), response_id=None)
    def stream_response(self, *given, **more):
        raise NotImplementedError

async def play(tool):
    model = Script()
    agent = Agent(name="Researcher", model=model, tools=[tool])
    await Runner.run(agent, "find it", run_config=RunConfig(tracing_disabled=True))
    (output,) = [item["output"] for item in model.inputs[-1] if item.get("type") == "function_call_output"]
    return model.tools[0].params_json_schema, output, None, None
""",
}

MAIN = """
import asyncio, json, os
from searchport.client import AsyncClient
from searchport.client.{library} import search_tool
ASKED = json.loads(os.environ["ASKED"])
{program}
async def main():
    async with AsyncClient(os.environ["SEARCH_URL"], os.environ["SEARCH_TOKEN"]) as client:
        print(json.dumps(await play(await search_tool(client))))
asyncio.run(main())
"""


@pytest.fixture(scope="module", params=PACKAGES)
def library(request: pytest.FixtureRequest) -> str:
    """The module of the client."""
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def python(library: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with the library and what is shipped of the SDK, in an environment of its own."""
    folder = tmp_path_factory.mktemp(library)
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], cwd=ROOT, check=True)
    (wheel,) = folder.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    found = folder / "venv" / "bin" / "python"
    install = [found, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, PACKAGES[library]]
    subprocess.run(install, check=True)
    return found


async def run(python: Path, code: str, bench: Bench, **more: str) -> str:
    """What a program prints; it must succeed."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SEARCHPORT_")}
    process = await asyncio.create_subprocess_exec(
        str(python), "-c", code, env=clean | {"SEARCH_URL": bench.url, "SEARCH_TOKEN": bench.token} | more,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()[-3_000:]
    return out.decode()


async def play(python: Path, library: str, bench: Bench, **asked: object) -> tuple[Any, str, bool | None, Any]:
    """What the model saw and read, and what the application got."""
    code = MAIN.format(library=library, program=PROGRAMS[library])
    schema, text, is_error, artifact = json.loads((await run(python, code, bench, ASKED=json.dumps(asked))).splitlines()[-1])
    return schema, text, is_error, artifact


async def test_the_model_is_offered_the_platforms_schema(python: Path, library: str, bench: Bench) -> None:
    is_strict = library == "openai_agents"
    schema, *_ = await play(python, library, bench, query="red pandas")
    declared: Any = describe_tool("platform", strict=is_strict)["parameters"]
    assert schema["properties"].keys() == declared["properties"].keys()
    assert schema["required"] == declared["required"]
    for name, told in declared["properties"].items():
        assert schema["properties"][name]["description"] == told["description"]


async def test_the_model_reads_the_note_first_and_the_application_gets_the_answer(
    python: Path, library: str, bench: Bench
) -> None:
    _, text, is_error, artifact = await play(python, library, bench, query="red pandas", count=2)
    assert next(iter(json.loads(text).values())) == UNTRUSTED_NOTE
    assert is_error in (False, None)
    assert len(json.loads(text)["results"]) == 2
    assert artifact == (None if library == "openai_agents" else json.loads(text))


@pytest.mark.parametrize(
    "asked", [{"query": "challenge: tea"}, {"query": "tea", "freshnes": "P1D"}, {"query": "tea", "count": 0}]
)
async def test_the_model_reads_a_failure_in_the_platforms_words(
    python: Path, library: str, bench: Bench, asked: dict[str, object]
) -> None:
    told = await call_tool(bench.platform, Caller(organization="acme"), asked)
    _, text, is_error, artifact = await play(python, library, bench, **asked)
    assert (text, artifact) == (told.text, None)
    assert is_error in (True, None)


async def test_the_manuals_example_runs(python: Path, library: str, bench: Bench) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    (block,) = [block for block in blocks if f"searchport.client.{library} import" in block]
    assert await run(python, block, bench)
