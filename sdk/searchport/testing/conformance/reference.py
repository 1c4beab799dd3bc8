"""Finding what is to be checked: a toolkit by its place or its id, and its answers file."""

from __future__ import annotations

import importlib
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

from searchport.toolkit import Toolkit
from searchport.wire import nearest

from .bench import AnyToolkit

__all__ = ["ToolkitNotFoundError", "find_answers", "load_toolkit"]

_GROUP: Final = "searchport.toolkits"
_PLACES: Final = ("tests/answers.toml", "answers.toml", "tests/toolkits/answers/{id}.toml")


class ToolkitNotFoundError(LookupError):
    """No toolkit, or no answers file, where one was said to be; the text says what was looked for and what to write."""


def load_toolkit(reference: str, *, folder: Path | None = None) -> AnyToolkit:
    """The toolkit at `module:name`, or the installed one of this id; importing it runs its module.

    folder: where modules are looked for too. Raises ToolkitNotFoundError; a declaration mistake raises as it does at import.
    """
    if folder is not None and str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    found = _import(reference) if ":" in reference else _installed(reference)
    if not isinstance(found, Toolkit):
        raise ToolkitNotFoundError(f"{reference!r} is {type(found).__name__}, not a Toolkit; name what define_toolkit returned")
    return found


def _import(reference: str) -> object:
    module, _, name = reference.partition(":")
    if not all(part.isidentifier() for part in [*module.split("."), name]):
        raise ToolkitNotFoundError(f"{reference!r} is no place; write it like acme_search:toolkit")
    try:
        home = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise ToolkitNotFoundError(f"there is no module {module!r}; install the package, or start where it lies") from None
    if not hasattr(home, name):
        raise ToolkitNotFoundError(f"module {module!r} has no {name!r}{nearest(name, vars(home))}")
    found: object = getattr(home, name)
    return found


def _installed(toolkit_id: str) -> object:
    entries = {entry.name: entry for entry in entry_points(group=_GROUP)}
    if toolkit_id not in entries:
        hint = nearest(toolkit_id, entries) or "; write the place of one that is not, like acme_search:toolkit"
        raise ToolkitNotFoundError(f"no installed toolkit has the id {toolkit_id!r}{hint}")
    found: object = entries[toolkit_id].load()
    return found


def find_answers(toolkit: AnyToolkit, *, folder: Path) -> Path:
    """The answers file in one of its usual places under `folder`. Raises ToolkitNotFoundError naming them."""
    places = [place.format(id=toolkit.id) for place in _PLACES]
    for place in places:
        if (folder / place).is_file():
            return folder / place
    looked = ", ".join(places)
    raise ToolkitNotFoundError(f"no answers file for toolkit {toolkit.id!r}: looked for {looked}; write one, or name yours")
