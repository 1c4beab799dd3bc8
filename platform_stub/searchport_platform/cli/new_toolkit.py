"""`searchport toolkit new`: a package that passes the conformance kit, to be changed into another vendor's.

It is the manual's example with other names, so that what is written is what the manual explains and the tests run.
"""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

from searchport import manual
from searchport.toolkit import DeclarationError, define_toolkit

__all__ = ["NewToolkitError", "write_toolkit"]

_EXAMPLE: Final = Path("examples") / "acme-search"
_FILES: Final = ("pyproject.toml", "README.md", "acme_search.py", "tests/answers.toml", "tests/test_acme_search.py")
_NAMES: Final = re.compile(r"Acme Search|AcmeSettings|X-Acme|acme[-_]search|Acme|acme")


class NewToolkitError(ValueError):
    """A package that cannot be written; the text says why and what to do."""


def write_toolkit(toolkit_id: str, folder: Path) -> list[Path]:
    """Writes the package into `folder` and gives its files. Raises NewToolkitError, having written nothing, and OSError."""
    _check_id(toolkit_id)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise NewToolkitError(f"{folder} is there already and is not empty; name another with --folder")
    names = _build_names(toolkit_id)
    written = {}
    for name in _FILES:
        text = (manual.folder() / _EXAMPLE / name).read_text(encoding="utf-8")
        written[folder / _renamed(name, names)] = _renamed(text, names)
    for path, text in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(written)


def _check_id(toolkit_id: str) -> None:
    try:
        define_toolkit(id=toolkit_id, name="New", credential_ref=None)
    except DeclarationError as error:
        raise NewToolkitError(str(error)) from None
    module = toolkit_id.replace("-", "_")
    if keyword.iskeyword(module) or module in sys.stdlib_module_names or module.startswith("searchport"):
        raise NewToolkitError(
            f"the id {toolkit_id!r} would make a module {module!r}, which Python or Searchport has; add -search"
        )
    if toolkit_id in {entry.name for entry in entry_points(group="searchport.toolkits")}:
        raise NewToolkitError(f"an installed toolkit has the id {toolkit_id!r} already; choose another")


def _build_names(toolkit_id: str) -> Mapping[str, str]:
    """What stands in the example -> what stands in the new package."""
    vendor = toolkit_id.removesuffix("-search") or toolkit_id
    title = " ".join(part.capitalize() for part in vendor.split("-"))
    return {
        "Acme Search": " ".join(part.capitalize() for part in toolkit_id.split("-")),
        "AcmeSettings": f"{title.replace(' ', '')}Settings",
        "X-Acme": f"X-{title.replace(' ', '-')}",
        "acme-search": toolkit_id,
        "acme_search": toolkit_id.replace("-", "_"),
        "Acme": title,
        "acme": vendor,
    }


def _renamed(text: str, names: Mapping[str, str]) -> str:
    return _NAMES.sub(lambda found: names[found[0]], text)
