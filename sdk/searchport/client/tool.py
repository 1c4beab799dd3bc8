"""The platform's agent tool, `web_search`, called from Python: what a model wrote in, what it is to read out.

The words of the tool, its schema and what a model is told of a failure are the platform's: nothing of them stands here.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, cast

import attrs

from searchport.errors import SearchError

__all__ = ["ToolDeclaration", "ToolResult", "import_library", "parse_arguments", "read_declaration", "render_failure"]


@attrs.frozen(kw_only=True)
class ToolResult:
    """What a model is to read of one call.

    text: for the model, the note on strangers' words first; of a failure, its code first. structured: the answer as an object,
    None where it failed. code: why it failed.
    """

    text: str = attrs.field(repr=False)
    is_error: bool
    code: str | None = None
    structured: dict[str, object] | None = attrs.field(default=None, repr=False)


@attrs.frozen(kw_only=True)
class ToolDeclaration:
    """What a library needs to offer the tool. parameters: JSON Schema of the arguments."""

    name: str
    description: str
    parameters: dict[str, object]


def read_declaration(declared: Mapping[str, object]) -> ToolDeclaration:
    """From the platform's declaration in the styles `platform` and `openai-responses`, which name the parts alike."""
    from .wire import read

    return read(declared, ToolDeclaration)


def parse_arguments(arguments: Mapping[str, object] | str) -> Mapping[str, object]:
    """What a model wrote, as an object; blank text is none of them. Raises SearchError for text that is no JSON object."""
    from searchport.egress.json_text import MalformedJsonError, loads

    if isinstance(arguments, str):
        try:
            decoded = loads(arguments, refuse_duplicate_keys=True) if arguments.strip() else {}
        except MalformedJsonError as error:
            raise SearchError.invalid("$", f"expected a JSON object: {error.reason}") from None
        if not isinstance(decoded, Mapping):
            raise SearchError.invalid("$", f"expected a JSON object, got {type(decoded).__name__}")
        return cast("Mapping[str, object]", decoded)
    return arguments


def render_failure(error: SearchError) -> ToolResult:
    """A failure that the platform has not told: its code first, and what the model can do, as in those that it tells."""
    text = f"{error.code}: {error}. Tell the user that the search failed; nothing is known from it."
    return ToolResult(text=text, is_error=True, code=str(error.code))


def import_library(module: str, package: str) -> Any:
    """A module of an agent library. Raises ImportError that names the package to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if error.name is not None and error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        raise ImportError(f"this tool needs {package}: pip install {package}") from None
