"""What is Acme's alone; the promises that every toolkit makes are tested by the conformance kit, see pyproject.toml."""

import asyncio

from searchport import SearchRequest, SearchResponse
from searchport.testing import FakeRequest, FakeWeb, ask

from acme_search import FIND, toolkit

HIT = {"t": "A lantern", "u": "https://a.example/lantern", "s": "It shines.", "date": "31.12.2026"}


def search(**options: str) -> tuple[SearchResponse, FakeRequest]:
    async def run() -> tuple[SearchResponse, FakeRequest]:
        async with FakeWeb() as web, web.client() as http:
            web.answer(FIND, json={"hits": [HIT]})
            response = await ask(toolkit, SearchRequest("harbour lantern", **options), http=http, model="deep")
            return response, web.requests[0]

    return asyncio.run(run())


def test_a_plain_search_sends_the_query_the_page_the_edition_and_the_tier() -> None:
    _, request = search()
    assert request.query == {"q": "harbour lantern", "n": "10", "from": "0", "edition": "world", "tier": "deep"}
    assert request.headers["X-Api-Key"] == "test-key"


def test_every_option_has_its_parameter() -> None:
    _, request = search(recency="week", site="example.com", language="ja")
    assert (request.query["age"], request.query["site"], request.query["lang"]) == ("1w", "example.com", "jp")


def test_a_date_is_read_day_first() -> None:
    response, _ = search()
    assert response.results[0].published_date == "2026-12-31"
