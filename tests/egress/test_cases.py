"""Each labelled case, through the real client: what is allowed arrives, and what is refused is never connected to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from yarl import URL

from searchport.egress import AddressPolicy
from searchport.errors import ErrorCode, SearchError

if TYPE_CHECKING:
    from searchport.testing import FakeWeb

CASES = [json.loads(line) for line in (Path(__file__).parents[1] / "cases/egress.jsonl").read_text("utf-8").splitlines()]
# Where good guards differ, we refuse: nothing is redirected to, and so neither is a path of the same host.
OURS = {"https://www.example.com/r8": "refuse"}
POLICY = AddressPolicy()


def expected(case: dict[str, Any]) -> str:
    label: str = case["expected"]
    return OURS.get(case["url"], label) if case.get("debatable") else label


def dialled_url(case: dict[str, Any]) -> str:
    """OpenSSL takes no certificate for a name with an underscore, so that case is dialled without TLS."""
    url: str = case["url"]
    return url.replace("https:", "http:") if "_" in url and expected(case) == "allow" else url


@pytest.fixture
def scripted(web: FakeWeb, request: pytest.FixtureRequest) -> dict[str, Any]:
    case: dict[str, Any] = request.param
    if case["resolves_to"] is not None and POLICY.url_fault(case["url"], any_port=True) is None:
        host = (URL(case["url"]).raw_host or "").removesuffix(".")
        later = [case["rebind_to"]] if "rebind_to" in case else []
        web.resolves(host, case["resolves_to"], *later)
    if case["redirect_to"] is not None:
        web.answer(case["url"], status=302, headers={"Location": case["redirect_to"]})
    elif expected(case) == "allow":
        web.answer(dialled_url(case), json={"reached": True})
    return case


def ids(case: dict[str, Any]) -> str:
    return ascii(case["url"])[1:60]


ALLOWED = [case for case in CASES if expected(case) == "allow"]
REDIRECTED = [case for case in CASES if case["redirect_to"] is not None]
REFUSED = [case for case in CASES if expected(case) == "refuse" and case["redirect_to"] is None]


def test_every_case_is_tried() -> None:
    assert len(ALLOWED) + len(REDIRECTED) + len(REFUSED) == len(CASES) == 151


@pytest.mark.parametrize("scripted", ALLOWED, ids=ids, indirect=True)
async def test_an_allowed_url_is_answered(web: FakeWeb, scripted: dict[str, Any]) -> None:
    body = await web.client().get_json(dialled_url(scripted))
    assert body.flag("reached")
    assert all(address in (scripted["resolves_to"] or [address]) for address, _ in web.dialled)


@pytest.mark.parametrize("scripted", REFUSED, ids=ids, indirect=True)
async def test_a_refused_url_is_never_connected_to(web: FakeWeb, scripted: dict[str, Any]) -> None:
    with pytest.raises(SearchError) as caught:
        await web.client().get_json(scripted["url"])
    assert caught.value.code is ErrorCode.UPSTREAM_UNREACHABLE
    assert web.dialled == []


@pytest.mark.parametrize("scripted", REDIRECTED, ids=ids, indirect=True)
async def test_a_redirect_ends_at_the_first_host(web: FakeWeb, scripted: dict[str, Any]) -> None:
    with pytest.raises(SearchError) as caught:
        await web.client().get_json(scripted["url"], headers={"X-API-KEY": "CANARY"})
    assert caught.value.code is ErrorCode.PROVIDER_REJECTED
    assert [request.url for request in web.requests] == [scripted["url"]]


async def test_a_name_that_is_rebound_is_refused_at_its_next_look_up(web: FakeWeb) -> None:
    web.resolves("rebind.example.com", ["93.184.215.14"], ["127.0.0.1"])
    web.answer("http://rebind.example.com/", json={})
    await web.client().get_json("http://rebind.example.com/")
    with pytest.raises(SearchError):
        await web.client().get_json("http://rebind.example.com/")
    assert web.dialled == [("93.184.215.14", 80)]
    assert web.resolver.looked_up == ["rebind.example.com"] * 2
