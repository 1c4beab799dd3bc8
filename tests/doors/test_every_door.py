"""What holds at every door alike: who gets in, whose provider answers, and that a failure is never an answer.

A door joins by one entry in DOORS.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

import attrs
import pytest

from searchport import ErrorCode, SearchError, SearchResult

QUERY = "canary query 51c2 & more"
UNKNOWN = "nosuchoption"
ABSENT = object()


@attrs.frozen(kw_only=True)
class Told:
    """What a caller is told. code: None for an answer. links: of the results. text: the whole body."""

    status: int
    code: str | None
    links: list[str]
    text: str
    headers: Mapping[str, str]


@attrs.frozen(kw_only=True)
class Door:
    """How one door is asked and read.

    fixed: what every request holds. query, count: its names for these; count None: it has none. unsupported: an option that the
    provider `bare` cannot honour; None: the door has no such option. read: decoded body -> (code, links); a code of None where
    only the header tells it. wrap: the options -> the body.
    """

    method: str = "POST"
    path: str
    query: str = "query"
    count: str | None = "maxResults"
    fixed: Mapping[str, str] = {}
    unsupported: Mapping[str, Any] | None
    read: Callable[[Any], tuple[str | None, list[str]]]
    wrap: Callable[[dict[str, Any]], dict[str, Any]] = dict
    headers: Mapping[str, str] = {}

    async def ask(self, place: Any, token: str | None, query: str = QUERY, **options: Any) -> Told:
        """One request, its options by the door's own names."""
        given = {**self.fixed, self.query: query, **options}
        return await self.send(place, token, **({"params": given} if self.method == "GET" else {"json": self.wrap(given)}))

    async def send(self, place: Any, token: str | None, *, more: Mapping[str, str] = {}, **sent: Any) -> Told:
        """One request, as it stands. more: headers."""
        headers = {**self.headers, **more, **({} if token is None else {"Authorization": f"Bearer {token}"})}
        async with place.client.request(self.method, self.path, headers=headers, **sent) as response:
            text = await response.text()
            code, links = self.read(json.loads(text))
            code = code or response.headers.get("X-Error-Code")
            return Told(status=response.status, code=code, links=links, text=text, headers=response.headers)


def reads(*path: str, link: str = "url") -> Callable[[Any], tuple[str | None, list[str]]]:
    """Reads the links of the rows at a path, and a `code` at the top."""

    def read(body: Any) -> tuple[str | None, list[str]]:
        rows = body
        for name in path:
            rows = rows.get(name, {}) if isinstance(rows, dict) else {}
        code = body.get("code") if isinstance(body, dict) else None
        return code, [row[link] for row in rows] if isinstance(rows, list) else []

    return read


def read_tool(body: Any) -> tuple[str | None, list[str]]:
    found = body.get("structured") or {}
    return body.get("code"), [row["url"] for row in found.get("results", [])]


_OF_HTTP = {"invalid_token": "unauthorized", "insufficient_scope": "forbidden"}
_OF_PROTOCOL = {-32700: "validation_error", -32600: "validation_error"}


def wrap_mcp(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "web_search", "arguments": arguments}}


def read_refusal(error: Any) -> str | None:
    """Of what the protocol never sees, a name; of a message that is none, the protocol's own number."""
    return _OF_PROTOCOL[error["code"]] if isinstance(error, dict) else _OF_HTTP.get(error, error)


def read_mcp(body: Any) -> tuple[str | None, list[str]]:
    result = body.get("result")
    if result is None:
        return read_refusal(body["error"]), []
    if result["isError"]:
        return result["content"][0]["text"].partition(":")[0], []
    return None, [row["url"] for row in result["structuredContent"]["results"]]


def read_block(body: Any) -> tuple[str | None, list[str]]:
    return body.get("error", {}).get("code"), body.get("outputs", {}).get("urls", [])


DOORS = {
    "platform": Door(path="/api/platform/v1/action/search/web", unsupported={"safe": "strict"}, read=reads("results")),
    "agent tool": Door(
        path="/api/platform/v1/tools/web_search/call", count="count", unsupported={"recency": "day"}, read=read_tool
    ),
    "block": Door(path="/api/platform/v1/blocks/search/run", unsupported={"safe": "strict"}, read=read_block),
    "mcp": Door(
        path="/mcp",
        count="count",
        unsupported={"recency": "day"},
        read=read_mcp,
        wrap=wrap_mcp,
        headers={"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"},
    ),
    "google": Door(
        method="GET",
        path="/compat/google/customsearch/v1",
        query="q",
        count="num",
        fixed={"cx": ""},
        unsupported={"safe": "active"},
        read=reads("items", link="link"),
    ),
    "searxng": Door(
        method="GET",
        path="/compat/searxng/search",
        query="q",
        count=None,
        fixed={"format": "json"},
        unsupported={"safesearch": "2"},
        read=reads("results"),
    ),
    "tavily": Door(path="/compat/tavily/search", count="max_results", unsupported={"time_range": "day"}, read=reads("results")),
    "perplexity": Door(
        path="/compat/perplexity/search",
        count="max_results",
        unsupported={"search_domain_filter": ["example.com"]},
        read=reads("results"),
    ),
    "brave": Door(
        method="GET",
        path="/compat/brave/res/v1/web/search",
        query="q",
        count="count",
        unsupported={"safesearch": "strict"},
        read=reads("web", "results"),
    ),
    "openwebui": Door(path="/compat/openwebui/search", count="count", unsupported=None, read=reads(link="link")),
    "serper": Door(
        path="/compat/serper/search", query="q", count="num", unsupported={"safe": "active"}, read=reads("organic", link="link")
    ),
}
MODEL_READS = frozenset({"agent tool", "mcp"})
"""Doors whose failures are results that a model reads, with status 200."""


@pytest.fixture(params=DOORS)
def name(request: pytest.FixtureRequest) -> str:
    """Each door's name."""
    return request.param


@pytest.fixture
def door(name: str) -> Door:
    """Each door."""
    return DOORS[name]


def spellings(text: str) -> list[str]:
    """As it stands, and as a URL or JSON would hold it."""
    return [text, quote(text), quote_plus(text), json.dumps(text)[1:-1]]


async def test_no_token_is_no_entry(place: Any, door: Door) -> None:
    told = await door.ask(place, None)
    assert (told.code, told.links) == ("unauthorized", [])
    assert told.status >= 400
    assert place.ours.asked == []


async def test_a_token_that_is_none_is_no_entry(place: Any, door: Door) -> None:
    told = await door.ask(place, f"{place.token}x")
    assert (told.code, told.links) == ("unauthorized", [])
    assert place.token not in told.text


async def test_a_token_without_the_scope_does_not_search(place: Any, door: Door) -> None:
    told = await door.ask(place, place.tokens["acme", "admin"])
    assert (told.code, told.links) == ("forbidden", [])
    assert place.ours.asked == []


async def test_each_organization_gets_its_own_providers_answer(place: Any, door: Door) -> None:
    own, other = await door.ask(place, place.token), await door.ask(place, place.tokens["beta", "search"])
    assert [f"https://ours.example/{n}" for n in (1, 2, 3)] == own.links
    assert [f"https://theirs.example/{n}" for n in (1, 2, 3)] == other.links


async def test_the_query_arrives_as_it_was_sent(place: Any, door: Door) -> None:
    await door.ask(place, place.token)
    assert [request.query for request in place.ours.asked] == [QUERY]


async def test_an_unknown_option_is_refused_by_name(place: Any, door: Door) -> None:
    told = await door.ask(place, place.token, **{UNKNOWN: "1"})
    assert (told.code, told.links) == ("validation_error", [])
    assert UNKNOWN in told.text
    assert place.ours.asked == []


async def test_a_blank_query_is_refused(place: Any, door: Door) -> None:
    told = await door.ask(place, place.token, "  ")
    assert (told.code, told.links) == ("validation_error", [])


async def test_an_option_that_the_provider_lacks_is_refused_before_it_is_asked(place: Any, door: Door) -> None:
    await place.select("bare")
    if door.unsupported is None:
        assert {"query", "count"} == {door.query, door.count}
        return
    told = await door.ask(place, place.token, **door.unsupported)
    assert (told.code, told.links) == ("unsupported_option", [])
    assert place.scripts["bare"].asked == []
    assert next(iter(door.unsupported)) in told.text


async def test_a_failed_provider_is_a_failure_and_never_an_answer(place: Any, name: str, door: Door) -> None:
    for code in ErrorCode:
        place.ours.outcome = SearchError(code)
        told = await door.ask(place, place.token)
        assert (told.code, told.links) == (str(code), [])
        assert told.status >= 400 or name in MODEL_READS
        assert [text for text in spellings(QUERY) if text in told.text] == []


async def test_a_defect_is_a_failure_that_tells_nothing(place: Any, name: str, door: Door) -> None:
    place.ours.outcome = ValueError(QUERY)
    told = await door.ask(place, place.token)
    assert (told.code, told.links) == ("internal_error", [])
    assert [text for text in spellings(QUERY) if text in told.text] == []


async def test_a_failure_says_when_to_try_again(place: Any, name: str, door: Door) -> None:
    place.ours.outcome = SearchError(ErrorCode.PROVIDER_RATE_LIMITED, retry_after=29.5)
    told = await door.ask(place, place.token)
    assert name in MODEL_READS or told.headers["Retry-After"] == "30"
    assert "30 s" in told.text


async def test_a_cap_that_is_used_up_is_not_worth_another_try(place: Any, name: str, door: Door) -> None:
    administration = place.platform.administration()
    await administration.put_agent("acme", "default", tools=["web.*"], credentials=["search.apiKey"], max_searches_per_day=0)
    told = await door.ask(place, place.token)
    assert (told.code, told.links) == ("daily_cap_reached", [])
    assert name in MODEL_READS or (told.status, told.headers["x-should-retry"]) == (429, "false")
    assert place.ours.asked == []


@pytest.fixture(params=[name for name, door in DOORS.items() if door.method == "POST"])
def taker(request: pytest.FixtureRequest) -> Door:
    """Each door that takes a body."""
    return DOORS[request.param]


async def test_a_body_that_is_not_encoded_as_it_says_is_the_senders_mistake(place: Any, taker: Door) -> None:
    encoded = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    told = await taker.send(place, place.token, more=encoded, data=b'{"query": "tea"}')
    assert (told.code, told.links) == ("validation_error", [])
    assert told.status < 500


async def test_a_body_beyond_the_limit_is_refused_in_the_doors_own_words(place: Any, taker: Door) -> None:
    told = await taker.ask(place, place.token, "x" * 70_000)
    assert (told.code, told.links) == ("validation_error", [])
    assert told.status < 413
    assert "65,536 bytes" in told.text


async def test_a_key_that_comes_twice_is_refused(place: Any, taker: Door) -> None:
    """One of two queries would be dropped."""
    wrapped = json.dumps(taker.wrap({taker.query: "tea"})).replace('"tea"', f'"tea", "{taker.query}": "coffee"')
    told = await taker.send(place, place.token, more={"Content-Type": "application/json"}, data=wrapped)
    assert (told.code, told.links) == ("validation_error", [])
    assert place.ours.asked == []


async def test_what_stands_where_an_object_belongs_is_not_shown(place: Any, taker: Door) -> None:
    """It may well be the query."""
    for body in (QUERY, [QUERY], json.dumps(QUERY)):
        told = await taker.send(place, place.token, json=body)
        assert (told.code, told.links) == ("validation_error", [])
        assert "canary" not in told.text


@pytest.mark.parametrize("name", ["platform", "agent tool", "block", "tavily", "perplexity", "openwebui", "serper"])
async def test_a_parameter_in_the_url_is_never_dropped_beside_a_body(place: Any, name: str) -> None:
    body = {DOORS[name].query: "tea"}
    told = await DOORS[name].send(place, place.token, json=body, params={"count": "3", UNKNOWN: "1"})
    assert (told.code, told.links) == ("validation_error", [])
    assert UNKNOWN in told.text
    assert place.ours.asked == []


async def test_no_results_is_an_answer(place: Any, door: Door) -> None:
    place.ours.outcome = []
    told = await door.ask(place, place.token)
    assert (told.status, told.code, told.links) == (200, None, [])


async def test_no_url_of_a_result_breaks_an_answer(place: Any, door: Door) -> None:
    odd = [
        f"https://{host}/x?q=a b&c=<d>#é"
        for host in ("a\u2100.example", "münchen.example", "xn--a", "a.example:99999", "[2001:db8::1")
    ]
    odd += [
        "https://[2606:4700::1]:8443/",
        "https://a.example/%zz/\u202e",
        "https://a.example\\@b.example/",
        "http:///",
        "javascript:alert(1)",
    ]
    place.ours.outcome = [SearchResult("Odd", url) for url in odd] + [SearchResult("Plain", "https://a.example/last")]
    told = await door.ask(place, place.token)
    assert (told.status, told.code, told.links[-1]) == (200, None, "https://a.example/last")


async def test_the_organizations_default_count_holds(place: Any, door: Door) -> None:
    await place.select("ours", default_results=4)
    place.ours.pages(20)
    told = await door.ask(place, place.token)
    assert [f"https://pages.example/{n}" for n in range(1, 5)] == told.links


async def test_a_count_is_a_maximum(place: Any, door: Door) -> None:
    place.ours.pages(20)
    if door.count is None:
        return
    asked = "2" if door.method == "GET" else 2
    assert len((await door.ask(place, place.token, **{door.count: asked})).links) == 2


async def test_an_answer_is_stored_nowhere_on_its_way(place: Any, door: Door) -> None:
    place.ours.outcome = SearchError(ErrorCode.PROVIDER_UNAVAILABLE)
    failed = await door.ask(place, place.token)
    place.ours.pages(1)
    answered = await door.ask(place, place.token)
    assert [told.headers["Cache-Control"] for told in (failed, answered)] == ["no-store", "no-store"]


async def test_nothing_that_is_written_holds_the_query_or_the_token(logged: Callable[[], str], place: Any, door: Door) -> None:
    for outcome in (*map(SearchError, ErrorCode), ValueError(QUERY), place.ours.pages(3, snippet=QUERY)):
        place.ours.outcome = outcome
        await door.ask(place, place.token)
        await door.ask(place, place.token, **{UNKNOWN: "1"})
    written = logged() + place.store.bytes_on_disk().decode("latin-1")
    assert "duration_ms" in written
    assert [text for text in (*spellings(QUERY), place.token) if text in written] == []


async def test_a_search_token_administers_nothing(place: Any) -> None:
    prefix = "/api/platform/v1/organizations"
    found = [(route.method, route.resource.canonical) for route in place.client.app.router.routes() if route.resource]
    routes = [(method, path) for method, path in found if path.startswith(prefix) and method != "HEAD"]
    assert len(routes) > 10
    before = place.store.rows()
    for method, path in routes:
        filled = path.format(organization="acme", provider="ours", agent="default", token="x", org="acme", id="x")
        headers = {"Authorization": f"Bearer {place.token}"}
        async with place.client.request(method, filled, headers=headers, json=None if method == "GET" else {}) as response:
            assert (response.status, (await response.json())["code"]) == (403, "forbidden"), (method, path)
    after = place.store.rows()
    assert {table for table in before if before[table] != after[table]} <= {"tokens"}
