"""What the client sends, gives back and keeps."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from searchport.egress import AddressPolicy, Deadline, HttpClient, TextAnswer
from searchport.egress.outgoing import build_form, build_url
from searchport.errors import ErrorCode, SearchError
from searchport.testing import FakeAnswer, FakeRequest, FakeWeb, vendor_wire

FIND = "https://api.acme.example/v2/find"


if TYPE_CHECKING:
    from collections.abc import Awaitable


async def code_of(awaitable: Awaitable[object]) -> ErrorCode:
    with pytest.raises(SearchError) as caught:
        await awaitable
    return caught.value.code


# Sending.


async def test_parameters_arrive_exactly(web: FakeWeb, client: HttpClient) -> None:
    web.answer(FIND, json={})
    query = 'a+b & c=d #e %41 %zz é 日本 "quoted" ;/?:@ \u202e'
    await client.get_json(FIND, params={"q": query})
    assert web.requests[0].query == {"q": query}


async def test_none_is_left_out_and_booleans_are_words(web: FakeWeb, client: HttpClient) -> None:
    web.answer(FIND, json={})
    await client.get_json(FIND, params={"a": None, "b": True, "c": False, "d": 3, "e": ""})
    assert web.requests[0].query == {"b": "true", "c": "false", "d": "3", "e": ""}


async def test_parameters_join_the_query_of_the_url(web: FakeWeb, client: HttpClient) -> None:
    web.answer(FIND, json={})
    await client.get_json(f"{FIND}?v=2&x=a%26b", params={"q": "tea"})
    assert web.requests[0].query == {"v": "2", "x": "a&b", "q": "tea"}


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
                       st.text(st.characters(exclude_categories=["Cs"]))))  # fmt: skip
def test_any_parameters_survive_encoding(params: dict[str, str]) -> None:
    url = build_url(FIND, params, None, AddressPolicy())
    assert dict(URL(str(url), encoded=True).query) == params
    assert (url.host, url.path) == ("api.acme.example", "/v2/find")
    assert dict(URL.build(query_string=build_form(params).decode(), encoded=True).query) == params


async def test_a_long_query_is_not_refused_as_a_long_url(web: FakeWeb, client: HttpClient) -> None:
    web.answer(FIND, json={})
    await client.get_json(FIND, params={"q": "語" * 700})
    assert web.requests[0].query == {"q": "語" * 700}


@pytest.mark.parametrize("params", [{"q": "\ud800"}, {"\udfff": "x"}])
async def test_a_lone_surrogate_is_refused_before_sending(client: HttpClient, params: dict[str, str]) -> None:
    assert await code_of(client.get_json(FIND, params=params)) is ErrorCode.VALIDATION_ERROR
    assert client.requests_sent == 0


async def test_json_is_sent_as_it_is(web: FakeWeb, client: HttpClient) -> None:
    web.answer(FIND, json={})
    await client.post_json(FIND, body={"q": "é", "n": [1, None, True]}, params={"v": 2})
    sent = web.requests[0]
    assert (sent.method, sent.json(), sent.query) == ("POST", {"q": "é", "n": [1, None, True]}, {"v": "2"})
    assert sent.headers["content-type"] == "application/json"


async def test_members_that_are_none_are_left_out_with_objects_that_held_nothing_else(web: FakeWeb, client: HttpClient) -> None:
    web.answer(FIND, json={})
    body = {"q": "x", "n": None, "o": {"a": None, "b": 0}, "p": {"c": None, "d": {"e": None}}, "given": {}, "off": False}
    await client.post_json(FIND, body=body)
    assert web.requests[0].json() == {"q": "x", "o": {"b": 0}, "given": {}, "off": False}


async def test_a_form_can_be_answered_with_json(web: FakeWeb, client: HttpClient) -> None:
    web.answer(FIND, json={"a": 1})
    assert (await client.post_form_json(FIND, form={"q": "a+b", "n": None})).number("a") == 1
    sent = web.requests[0]
    assert (sent.method, sent.form()) == ("POST", {"q": "a+b"})
    assert sent.headers["Content-Type"] == "application/x-www-form-urlencoded"


async def test_html_in_answer_to_a_form_is_not_json(web: FakeWeb, client: HttpClient) -> None:
    web.answer(FIND, text="<html>")
    assert await code_of(client.post_form_json(FIND, form={})) is ErrorCode.PROVIDER_UNAVAILABLE


async def test_json_with_a_lone_surrogate_is_refused(client: HttpClient) -> None:
    assert await code_of(client.post_json(FIND, body={"q": "\ud800"})) is ErrorCode.VALIDATION_ERROR


async def test_a_form_is_sent_as_a_form(web: FakeWeb, client: HttpClient) -> None:
    web.answer(FIND, text="ok")
    await client.post_form(FIND, form={"q": "a+b&c é", "kl": None, "s": 10}, headers={"Referer": "https://acme.example/"})
    sent = web.requests[0]
    assert (sent.form(), sent.headers["Content-Type"]) == (
        {"q": "a+b&c é", "s": "10"},
        "application/x-www-form-urlencoded",
    )
    assert sent.headers["Referer"] == "https://acme.example/"


@pytest.mark.parametrize("key", ["KEY\n", "KEY\r\nX-Other: 1", "KEY\x00", "ключ", "clé", "KEY ", " KEY", "K\u200bEY"])
async def test_a_header_that_http_cannot_carry_is_named_without_its_value(client: HttpClient, key: str) -> None:
    with pytest.raises(SearchError) as caught:
        await client.get_json(FIND, headers={"X-API-KEY": key})
    assert caught.value.code is ErrorCode.PROVIDER_NOT_CONFIGURED
    assert caught.value.reason == "a header value holds characters that HTTP does not allow"
    assert client.requests_sent == 0


async def test_the_user_agent_says_no_more_than_the_product(web: FakeWeb, client: HttpClient) -> None:
    web.answer(FIND, json={})
    await client.get_json(FIND)
    assert web.requests[0].headers["User-Agent"].startswith("searchport/")
    assert "aiohttp" not in str(web.requests[0].headers).lower()


async def test_a_toolkit_can_name_another_user_agent(web: FakeWeb, client: HttpClient) -> None:
    web.answer(FIND, json={})
    await client.get_json(FIND, headers={"user-agent": "Browser"})
    assert web.requests[0].headers.getall("User-Agent") == ["Browser"]


# Answers.


async def test_text_is_read_in_the_charset_it_states(web: FakeWeb, client: HttpClient) -> None:
    web.answer(FIND, body="é".encode("latin-1"), content_type="text/html; charset=ISO-8859-1", status=202)
    assert await client.get_text(FIND) == TextAnswer(status=202, text="é")


@pytest.mark.parametrize("content_type", ["text/html", "text/html; charset=unknown", "text/html; charset=punycode",
                                          "text/html; charset=hex", "text/html; charset=\"utf-8\"", "x"])  # fmt: skip
async def test_text_without_a_usable_charset_is_utf_8(web: FakeWeb, client: HttpClient, content_type: str) -> None:
    web.answer(FIND, body="\ufeffé".encode() + b"\xff", content_type=content_type)
    assert (await client.get_text(FIND)).text == "é\ufffd"


@pytest.mark.parametrize("status", [204, 205])
async def test_a_status_without_content_is_an_answer_with_no_rows(web: FakeWeb, client: HttpClient, status: int) -> None:
    web.answer(FIND, status=status)
    assert (await client.get_json(FIND)).rows("hits") == []


@pytest.mark.parametrize("status", [200, 201, 202, 203, 206, 226])
async def test_any_other_success_status_is_an_answer(web: FakeWeb, client: HttpClient, status: int) -> None:
    web.answer(FIND, json={"hits": [1]}, status=status)
    assert len((await client.get_json(FIND)).rows("hits")) == 1


@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 307, 308])
async def test_a_redirect_is_rejected_and_nobody_else_sees_the_key(web: FakeWeb, client: HttpClient, status: int) -> None:
    web.answer(FIND, status=status, headers={"Location": "https://elsewhere.example/"})
    assert await code_of(client.get_json(FIND, headers={"X-API-KEY": "KEY"})) is ErrorCode.PROVIDER_REJECTED
    assert [request.host for request in web.requests] == ["api.acme.example"]


# Binding.


async def test_a_bound_view_counts_its_own_requests(web: FakeWeb, client: HttpClient) -> None:
    web.answer(FIND, json={})
    view = client.bind(provider="acme")
    await view.get_json(FIND)
    await view.get_json(FIND)
    assert (view.requests_sent, client.requests_sent, view.bind().requests_sent) == (2, 0, 0)


async def test_a_failed_answer_counts_and_a_refused_url_does_not(web: FakeWeb, client: HttpClient) -> None:
    web.answer(FIND, status=500)
    await code_of(client.get_json(FIND))
    await code_of(client.get_json("http://localhost/"))
    assert client.requests_sent == 1


async def test_views_share_the_connections_and_only_the_client_closes_them(web: FakeWeb, client: HttpClient) -> None:
    web.answer(FIND, json={})
    async with client.bind() as view:
        await view.get_json(FIND)
    await client.bind().get_json(FIND)
    assert len(web.dialled) == 1


async def test_the_provider_is_named_in_every_error(web: FakeWeb, client: HttpClient) -> None:
    view = client.bind(provider="acme")
    web.answer(FIND, status=500)
    web.answer("https://api.acme.example/html", text="<html>")
    for url in (FIND, "http://localhost/", "https://api.acme.example/html"):
        with pytest.raises(SearchError) as caught:
            await view.get_json(url)
        assert caught.value.provider == "acme"


async def test_an_origin_replaces_where_to_and_keeps_what(web: FakeWeb) -> None:
    web.answer("http://127.0.0.1:9001/v2/find", json={})
    client = web.client(AddressPolicy(allowed_hosts=["127.0.0.1:9001"])).bind(origin="http://127.0.0.1:9001")
    await client.get_json(f"{FIND}?x=a%2Bb", params={"q": "c+d"})
    assert web.requests[0].query == {"x": "a+b", "q": "c+d"}
    assert web.requests[0].headers["Host"] == "127.0.0.1:9001"


async def test_an_origin_must_pass_the_policy(web: FakeWeb, client: HttpClient) -> None:
    assert await code_of(client.bind(origin="http://127.0.0.1:9001").get_json(FIND)) is ErrorCode.UPSTREAM_UNREACHABLE
    assert web.dialled == []


async def test_a_malformed_url_is_refused_under_an_origin_too(web: FakeWeb) -> None:
    client = web.client(AddressPolicy(allowed_hosts=["127.0.0.1:9001"])).bind(origin="http://127.0.0.1:9001/")
    for url in ("ftp://a.example/x", "https://u:p@a.example/x", "https://a.example/\n"):
        assert await code_of(client.get_json(url)) is ErrorCode.UPSTREAM_UNREACHABLE


async def test_an_origin_must_pass_the_rules_of_a_url_too(web: FakeWeb, client: HttpClient) -> None:
    assert await code_of(client.bind(origin="http://www.example.com:22").get_json(FIND)) is ErrorCode.UPSTREAM_UNREACHABLE
    assert web.dialled == []


@pytest.mark.parametrize(
    "origin",
    ["127.0.0.1:9001", "ftp://a.example", "http://a.example/path", "http://a.example?x", "http://a.example/#x",
     "http://u:p@a.example", "", "http://", "http://127.1", "http://169.254.169.254"],
)  # fmt: skip
def test_what_is_more_or_less_than_an_origin_is_refused(origin: str) -> None:
    with pytest.raises(ValueError, match="is not an origin"):
        HttpClient(AddressPolicy()).bind(origin=origin)


# What stays from call to call.


async def test_connections_are_reused(web: FakeWeb, client: HttpClient) -> None:
    web.answer(FIND, json={})
    web.answer("https://api.acme.example/error", status=500, json={"error": "x"})
    await client.get_json(FIND)
    await code_of(client.get_json("https://api.acme.example/error"))
    await client.get_json(FIND)
    assert len(web.dialled) == 1


async def test_no_cookie_is_kept(web: FakeWeb, client: HttpClient) -> None:
    web.answer(FIND, json={}, headers={"Set-Cookie": "session=CANARY; Path=/"})
    await client.get_json(FIND)
    await client.get_json(FIND)
    assert "Cookie" not in web.requests[1].headers


async def test_proxies_and_netrc_of_the_environment_are_ignored(
    web: FakeWeb, client: HttpClient, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    netrc = f"{tmp_path}/netrc"
    with open(netrc, "w", encoding="ascii") as file:  # noqa: ASYNC230, PTH123
        file.write("machine api.acme.example login user password CANARY\n")
    monkeypatch.setenv("NETRC", netrc)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://proxy.example:8080")
    web.answer(FIND, json={})
    await client.get_json(FIND)
    assert web.resolver.looked_up == ["api.acme.example"]
    assert "Authorization" not in web.requests[0].headers


# Time.


@pytest.mark.timeout(5)
async def test_an_answer_that_never_comes_ends_at_the_deadline(web: FakeWeb, client: HttpClient) -> None:
    web.stall(FIND)
    started = time.monotonic()
    assert await code_of(client.bind(deadline=Deadline.after(0.1)).get_json(FIND)) is ErrorCode.UPSTREAM_TIMEOUT
    assert time.monotonic() - started < 2.0


async def test_an_answer_that_stops_half_way_ends_at_the_deadline(web: FakeWeb, client: HttpClient) -> None:
    web.drip(FIND, body=b'{"a":')
    assert await code_of(client.bind(deadline=Deadline.after(0.1)).get_json(FIND)) is ErrorCode.UPSTREAM_TIMEOUT


async def test_a_resolver_that_never_answers_ends_at_the_deadline(web: FakeWeb, client: HttpClient) -> None:
    web.resolves("api.acme.example", TimeoutError())
    assert await code_of(client.get_json(FIND)) is ErrorCode.UPSTREAM_TIMEOUT


async def test_nothing_is_sent_after_the_deadline(web: FakeWeb, client: HttpClient) -> None:
    view = client.bind(deadline=Deadline.after(0))
    assert await code_of(view.get_json(FIND)) is ErrorCode.UPSTREAM_TIMEOUT
    assert (web.requests, view.requests_sent) == ([], 0)


async def test_a_cancelled_call_ends_its_connection(web: FakeWeb, client: HttpClient) -> None:
    arrived = asyncio.Event()

    async def hold(_: FakeRequest) -> FakeAnswer:
        if arrived.is_set():
            return FakeAnswer(json={})
        arrived.set()
        await asyncio.Event().wait()
        raise AssertionError

    web.handle(FIND, hold)
    call = asyncio.create_task(client.get_json(FIND))
    await arrived.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await client.get_json(FIND)
    assert len(web.dialled) == 2
    assert client.requests_sent == 2


async def test_a_closed_client_says_so(client: HttpClient) -> None:
    await client.close()
    await client.close()
    assert await code_of(client.get_json(FIND)) is ErrorCode.INTERNAL_ERROR


# Pinned requests.


async def test_a_pinned_request_is_answered() -> None:
    with vendor_wire() as wire:
        wire.get(f"{FIND}?q=tea", payload={"hits": [1]})
        async with HttpClient(AddressPolicy()) as client:
            assert len((await client.get_json(FIND, params={"q": "tea"})).rows("hits")) == 1
