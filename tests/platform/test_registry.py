"""Which toolkits there are: installed is not enabled, and what is enabled must work."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from searchport import ErrorCode, SearchError, SearchRequest
from searchport_platform.registry import Registry, RegistryError

BUILT_IN = [
    "bing", "brave", "duckduckgo", "exa", "fake", "firecrawl", "google-cse", "jina", "kagi", "linkup", "local", "marginalia",
    "mojeek", "parallel", "perplexity", "searchapi", "searxng", "serpapi", "serper", "tavily", "vertex", "you",
]  # fmt: skip

TOOLKIT = """
from searchport import SearchResponse, SearchResult, define_toolkit, define_web_search
toolkit = define_toolkit(id={id!r}, name="Acme", credential_ref=None)
@define_web_search(toolkit, recency=None, unsupported={{"safe"}})
async def search(request, context):
    return SearchResponse([SearchResult("Found", "https://acme.example/")], vendor="acme")
"""

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a distribution with one toolkit on the path, as pip would."""
    monkeypatch.syspath_prepend(tmp_path)

    def put(distribution: str, *, name: str = "acme-search", module: str = "", entry: str = "", source: str = TOOLKIT) -> None:
        module = module or distribution.replace("-", "_")
        (tmp_path / f"{module}.py").write_text(source.format(id=name), encoding="utf-8")
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n", encoding="utf-8")
        (info / "entry_points.txt").write_text(f"[searchport.toolkits]\n{entry or name} = {module}:toolkit\n", encoding="utf-8")
        monkeypatch.delitem(sys.modules, module, raising=False)

    return put


def test_built_in_toolkits_are_enabled() -> None:
    assert list(Registry.discover().toolkits) == BUILT_IN


def test_a_third_party_is_off_until_the_operator_names_it(install: Install) -> None:
    install("acme-toolkit")
    assert "acme-search" not in Registry.discover().toolkits
    assert list(Registry.discover(["acme-search"]).toolkits) == ["acme-search", *BUILT_IN]


def test_what_is_not_enabled_is_not_imported(install: Install) -> None:
    install("acme-toolkit", source="raise RuntimeError")
    assert list(Registry.discover().toolkits) == BUILT_IN


def test_a_built_in_can_be_removed() -> None:
    assert list(Registry.discover(["-brave"]).toolkits) == [name for name in BUILT_IN if name != "brave"]


def test_adding_what_is_not_installed_stops_the_start() -> None:
    with pytest.raises(RegistryError, match="adds 'acme-serch', which no installed distribution provides"):
        Registry.discover(["acme-serch"])


def test_removing_what_is_not_installed_is_no_fault() -> None:
    assert list(Registry.discover(["-acme-search"]).toolkits) == BUILT_IN


def test_an_enabled_toolkit_that_does_not_import_stops_the_start(install: Install) -> None:
    install("acme-toolkit", source="raise RuntimeError('broken')")
    with pytest.raises(
        RegistryError, match="'acme-search' of distribution 'acme-toolkit' cannot be loaded: RuntimeError: broken"
    ):
        Registry.discover(["acme-search"])


def test_a_wrong_declaration_stops_the_start_with_its_fix(install: Install) -> None:
    install("acme-toolkit", source=TOOLKIT.replace("recency=None", 'recency=None, contract="web-search@2"'))
    with pytest.raises(RegistryError, match="contract 'web-search@2' is unknown"):
        Registry.discover(["acme-search"])


@pytest.mark.parametrize("source", ["toolkit = 5", "toolkit = None"])
def test_an_entry_point_that_is_no_toolkit_stops_the_start(install: Install, source: str) -> None:
    install("acme-toolkit", source=source)
    with pytest.raises(RegistryError, match="acme_toolkit:toolkit is no Toolkit"):
        Registry.discover(["acme-search"])


def test_a_toolkit_without_web_search_stops_the_start(install: Install) -> None:
    install("acme-toolkit", source=TOOLKIT.partition("@define_web_search")[0])
    with pytest.raises(RegistryError, match="declares no web search"):
        Registry.discover(["acme-search"])


def test_two_enabled_distributions_with_one_id_stop_the_start(install: Install) -> None:
    install("acme-one")
    install("acme-two")
    with pytest.raises(RegistryError, match=r"'acme-search' is provided by both 'acme-(one|two)' and 'acme-(one|two)'"):
        Registry.discover(["acme-search"])


def test_a_third_party_cannot_take_a_built_ins_place_unseen(install: Install) -> None:
    install("acme-toolkit", name="brave")
    assert Registry.discover().get("brave").name == "Brave Search"
    with pytest.raises(RegistryError, match="provided by both"):
        Registry.discover(["brave"])


def test_an_id_is_its_entry_points_name(install: Install) -> None:
    install("acme-toolkit", entry="acme")
    with pytest.raises(RegistryError, match="has the id 'acme-search'; its entry point must have the same name"):
        Registry.discover(["acme"])


def test_an_unknown_provider_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(SearchError, match="did you mean 'brave'") as caught:
        Registry.discover().get("brvae")
    assert caught.value.code is ErrorCode.PROVIDER_NOT_CONFIGURED
    assert list(caught.value.alternatives) == BUILT_IN


def test_the_providers_that_can_take_a_call_are_known(install: Install) -> None:
    install("acme-toolkit")
    registry = Registry.discover(["acme-search"])
    refuse = {toolkit.id for toolkit in registry if "safe" in toolkit.web_search.unsupported}
    assert {"acme-search", "local"} < refuse
    assert set(registry.able(SearchRequest("q", safe="strict"), but="fake")) == {*BUILT_IN} - refuse - {"fake"}
    assert set(registry.able(SearchRequest("q"), but="fake")) == {"acme-search", *BUILT_IN} - {"fake"}
