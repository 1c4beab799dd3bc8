"""Vertex AI Search: its exact requests, its answers, its errors."""

import json
import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aioresponses import aioresponses

from searchport import ErrorCode, SearchError, SearchRequest, SearchResponse
from searchport.egress import AddressPolicy, HttpClient
from searchport.published_date import normalize
from searchport.testing import ask, vendor_wire
from searchport_toolkits.google_cse import toolkit as google_cse
from searchport_toolkits.vertex import toolkit

PATH = "/collections/default_collection/engines/app_1/servingConfigs/default_search:searchLite"
FIND = f"https://discoveryengine.googleapis.com/v1/projects/project-1/locations/global{PATH}"
SETTINGS = {"project": "project-1", "app": "app_1"}
NOW = datetime(2026, 9, 20, 12, tzinfo=UTC)
EMPTY = {"attributionToken": "AbCe", "totalSize": 0}
PLAIN = {
    "query": "red pandas",
    "pageSize": 10,
    "offset": 0,
    "spellCorrectionSpec": {"mode": "SUGGESTION_ONLY"},
    "queryExpansionSpec": {"condition": "DISABLED"},
    "contentSearchSpec": {"snippetSpec": {"returnSnippet": True}},
}
SCENARIOS = tomllib.loads((Path(__file__).parent / "answers" / "vertex.toml").read_text("utf-8"))["answers"]
CASES = [
    json.loads(line) for line in (Path(__file__).parents[1] / "cases" / "cse_metatags.jsonl").read_text("utf-8").splitlines()
]


def found(*pages: dict[str, Any]) -> dict[str, Any]:
    return {"attributionToken": "AbCd", "results": [{"id": "1", "document": {"derivedStructData": page}} for page in pages]}


async def search(
    wire: aioresponses, *answers: object, url: str = FIND, settings: Mapping[str, object] = SETTINGS, **options: Any
) -> SearchResponse:
    for answer in answers:
        wire.post(url, payload=answer)
    async with HttpClient(AddressPolicy()) as http:
        request = SearchRequest("red pandas", **options)
        return await ask(toolkit, request, http=http, credential="KEY", settings=settings, now=NOW)


def sent(wire: aioresponses) -> list[dict[str, Any]]:
    return [call.kwargs["json"] for calls in wire.requests.values() for call in calls]


async def test_a_plain_search_changes_nothing_about_the_query_and_has_the_key_in_its_header() -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY)
        assert sent(wire) == [PLAIN]
        ((call,),) = wire.requests.values()
        assert call.kwargs["headers"]["X-Goog-Api-Key"] == "KEY"


async def test_every_option_has_its_member() -> None:
    with vendor_wire() as wire:
        response = await search(wire, EMPTY, site="example.org", language="pt-BR", country="br", safe="moderate", freshness="P7D")
        assert sent(wire) == [
            PLAIN
            | {
                "filter": 'siteSearch:"https://example.org"',
                "languageCode": "pt-BR",
                "params": {"user_country_code": "br"},
                "safeSearch": True,
            }
        ]
        assert response.ignored == ()


async def test_safe_search_can_be_switched_off() -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY, safe="off")
        assert sent(wire) == [PLAIN | {"safeSearch": False}]


async def test_a_window_is_named_as_ignored() -> None:
    with vendor_wire() as wire:
        assert (await search(wire, EMPTY, recency="week")).ignored == ("recency",)
        assert sent(wire) == [PLAIN]


@pytest.mark.parametrize(("location", "host"), [("us", "us-discoveryengine"), ("eu", "eu-discoveryengine")])
async def test_the_location_decides_the_host(location: str, host: str) -> None:
    url = f"https://{host}.googleapis.com/v1/projects/project-1/locations/{location}{PATH}"
    with vendor_wire() as wire:
        await search(wire, EMPTY, url=url, settings={**SETTINGS, "location": location})
        assert len(sent(wire)) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("location", "evil.example/"),
        ("location", "us-east1"),
        ("project", "a/b"),
        ("project", ""),
        ("app", "../x"),
        ("app", "App"),
        ("app", 5),
    ],
)
async def test_what_would_bend_the_url_is_refused_by_name(name: str, value: object) -> None:
    with vendor_wire() as wire, pytest.raises(SearchError, match=rf"settings\.{name}") as caught:
        await search(wire, settings={**SETTINGS, name: value})
    assert caught.value.code is ErrorCode.PROVIDER_NOT_CONFIGURED
    assert not wire.requests


async def test_more_than_twenty_five_results_are_paged_by_offset() -> None:
    full = found(*({"link": f"https://example.org/{number}"} for number in range(25)))
    with vendor_wire() as wire:
        assert len((await search(wire, full, full, max_results=50)).results) == 50
        assert [(body["offset"], body["pageSize"]) for body in sent(wire)] == [(0, 25), (25, 25)]


async def test_titles_and_snippets_are_html_whichever_field_they_come_from() -> None:
    with vendor_wire() as wire:
        response = await search(
            wire,
            found(
                {
                    "title": "x",
                    "htmlTitle": "The <b>turbine</b>",
                    "link": "https://a.example/",
                    "snippets": [{"snippet": "a&nbsp;b"}],
                },
                {"title": "The <form> element", "link": "https://b.example/", "snippets": []},
                {"link": "https://c.example/", "snippets": [{"snippet": "words", "snippet_status": "NO_SNIPPET_AVAILABLE"}]},
            ),
        )
    assert [(result.title, result.snippet) for result in response.results] == [
        ("The <b>turbine</b>", "a&nbsp;b"),
        ("The &lt;form&gt; element", None),
        (None, None),
    ]


async def test_a_result_without_a_link_has_none() -> None:
    with vendor_wire() as wire:
        response = await search(wire, found({"snippets": []}, {"title": "t", "link": "https://a.example/"}))
    assert [result.url for result in response.results] == [None, "https://a.example/"]


@pytest.mark.parametrize("case", CASES)
async def test_the_date_is_the_first_metatag_that_states_one(case: dict[str, Any]) -> None:
    with vendor_wire() as wire:
        answer = found({"link": "https://a.example/", "pagemap": {"metatags": [case["metatags"]]}})
        (result,) = (await search(wire, answer)).results
    assert normalize(result.published_date) == case["expected"]


@pytest.mark.parametrize("case", SCENARIOS, ids=lambda case: case["scenario"])
async def test_what_is_no_page_of_results_has_its_meaning(case: dict[str, Any]) -> None:
    with vendor_wire() as wire:
        wire.post(FIND, status=case.get("status", 200), body=case["body"], headers=case.get("headers"))
        async with HttpClient(AddressPolicy()) as http:
            if case["expect"] == "empty":
                assert list((await ask(toolkit, SearchRequest("red pandas"), http=http, settings=SETTINGS)).results) == []
                return
            with pytest.raises(SearchError) as caught:
                await ask(toolkit, SearchRequest("red pandas"), http=http, settings=SETTINGS)
    assert (caught.value.code, caught.value.provider) == (case["expect"], "vertex")
    assert caught.value.vendor_code == case.get("vendor_code", caught.value.vendor_code)


async def test_a_wrong_app_and_a_private_one_say_what_to_check() -> None:
    for code, words in (("NOT_FOUND", "check `project`"), ("FAILED_PRECONDITION", "public websites")):
        with vendor_wire() as wire, pytest.raises(SearchError, match=words):
            await search(wire, {"error": {"status": code}})


def test_it_is_where_google_custom_search_leads_to() -> None:
    assert google_cse.sunset is not None
    assert "vertex" in google_cse.sunset.successors
