"""What others may rely on: names, and what importing them costs."""

import importlib
import inspect
import subprocess
import sys

import pytest

import searchport
from searchport import SearchContext
from searchport.egress import HtmlBody, HttpClient, JsonBody
from searchport.testing import FakeWeb


def public(cls: type) -> set[str]:
    fields = {field.name.lstrip("_") for field in getattr(cls, "__attrs_attrs__", ())}
    return fields | {name for name, _ in inspect.getmembers(cls) if not name.startswith("_")}


def test_what_a_provider_calls_keeps_its_names() -> None:
    assert public(SearchContext) == {
        "http", "page", "settings", "now", "deadline", "window", "window_value", "language", "country", "lower_country", "model",
        "public_url", "credential", "bearer",
    }  # fmt: skip
    assert public(HttpClient) == {
        "get_json", "post_json", "get_text", "post_form", "post_form_json", "bind", "close", "policy", "requests_sent",
    }  # fmt: skip
    assert public(JsonBody) == {"raw", "at", "has", "text", "number", "flag", "keys", "rows", "texts"}
    assert public(HtmlBody) == {"node", "rows", "has", "text", "attribute", "fields"}


def test_what_a_test_of_a_toolkit_calls_keeps_its_names() -> None:
    assert public(FakeWeb) == {"answer", "handle", "drop", "stall", "cut", "drip", "resolves", "forget", "client", "port"}


@pytest.mark.parametrize(
    "package", ["searchport", "searchport.client", "searchport.egress", "searchport.published_date", "searchport.testing"]
)
def test_every_public_name_of_a_package_can_be_imported(package: str) -> None:
    module = importlib.import_module(package)
    assert [name for name in module.__all__ if getattr(module, name, None) is None] == []
    assert set(module.__all__) <= set(dir(module))


def test_a_module_of_the_package_is_an_attribute_of_it() -> None:
    code = "import searchport; assert searchport.published_date.normalize('Sep 20, 2026') == '2026-09-20'"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'zzz'"):
        _ = searchport.zzz  # type: ignore[attr-defined]  # it is not there


def test_declaring_a_toolkit_imports_nothing_of_the_http_stack() -> None:
    code = (
        "import sys; from searchport import *; import searchport_toolkits.brave; "
        "print([name for name in ('aiohttp', 'yarl', 'ssl', 'idna') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
