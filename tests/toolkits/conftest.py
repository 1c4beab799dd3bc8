"""A vendor under `aioresponses`: of the toolkit after which a test module is named, at the address `FIND` that it states."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from aioresponses import aioresponses

from searchport import SearchError, SearchModel, SearchRequest, SearchResponse, Toolkit
from searchport.egress import AddressPolicy, Deadline, HttpClient
from searchport.testing import ask, vendor_wire
from searchport.web_search import Page, SearchContext

NOW = datetime(2026, 9, 20, 12, tzinfo=UTC)


class Vendor:
    """Answers what it is told to, and keeps what it was sent.

    find: a pattern for a vendor that is asked with GET, whose URL holds the query; a text for one that is asked with POST.
    """

    def __init__(self, toolkit: Toolkit[Any], find: str | re.Pattern[str], wire: aioresponses) -> None:
        self.toolkit = toolkit
        self.find = find
        self.wire = wire

    async def search(
        self, *answers: object, query: str = "red pandas", model: str | None = None, **options: Any
    ) -> SearchResponse:
        """A call at 2026-09-20T12:00Z with the key `KEY`, its pages answered in order."""
        for answer in answers:
            self.answer(payload=answer)
        return await self._ask(SearchRequest(query, **options), model)

    def answer(self, **answer: Any) -> None:
        """One more answer: `payload` or `body`, `status`, `headers`."""
        self.wire.add(self.find, method="POST" if isinstance(self.find, str) else "GET", **answer)

    @property
    def sent(self) -> list[dict[str, Any]]:
        """The JSON body, or the URL's query, of each request."""
        calls = [(url, call.kwargs) for (_, url), calls in self.wire.requests.items() for call in calls]
        return [dict(url.query) if kwargs["json"] is None else kwargs["json"] for url, kwargs in calls]

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the only request."""
        ((call,),) = self.wire.requests.values()
        headers: Mapping[str, str] = call.kwargs["headers"]
        return {name: value for name, value in headers.items() if name != "User-Agent"}

    async def check(self, case: Mapping[str, Any]) -> None:
        """That one of the `[[answers]]` of its answers file means what stands there."""
        self.answer(status=case.get("status", 200), body=case.get("body", ""), headers=case.get("headers"))
        if case["expect"] == "empty":
            assert list((await self._ask(SearchRequest("red pandas"), None)).results) == []
            return
        with pytest.raises(SearchError) as caught:
            await self._ask(SearchRequest("red pandas"), None)
        assert (caught.value.code, caught.value.provider) == (case["expect"], self.toolkit.id)
        assert caught.value.retry_after == case.get("retry_after")
        assert case.get("vendor_code", caught.value.vendor_code) == caught.value.vendor_code

    async def list_models(self) -> list[SearchModel]:
        async with HttpClient(AddressPolicy()) as http:
            context = SearchContext(http=http, page=Page(size=10), settings=None, now=NOW, deadline=Deadline.after(1))
            return await self.toolkit.web_search.list_models(context)

    async def _ask(self, request: SearchRequest, model: str | None) -> SearchResponse:
        async with HttpClient(AddressPolicy()) as http:
            return await ask(self.toolkit, request, http=http, credential="KEY", model=model, now=NOW)


def toolkit_of(module: ModuleType) -> Toolkit[Any]:
    name = module.__name__.rpartition("test_")[2]
    toolkit: Toolkit[Any] = import_module(f"searchport_toolkits.{name}").toolkit
    return toolkit


@pytest.fixture
def vendor(request: pytest.FixtureRequest) -> Iterator[Vendor]:
    with vendor_wire() as wire:
        yield Vendor(toolkit_of(request.module), request.module.FIND, wire)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes `answered` runs for each of the `[[answers]]` of the toolkit's answers file."""
    if "answered" in metafunc.fixturenames:
        path = Path(__file__).parent / "answers" / f"{toolkit_of(metafunc.module).id}.toml"
        cases = tomllib.loads(path.read_text("utf-8"))["answers"]
        metafunc.parametrize("answered", cases, ids=[case["scenario"] for case in cases])
