"""The fake web, as a toolkit's author uses it."""

from __future__ import annotations

import pytest
from yarl import URL

from searchport.egress import AddressPolicy, HttpClient
from searchport.errors import ErrorCode, SearchError
from searchport.testing import FakeAnswer, FakeRequest, FakeWeb, vendor_wire

FIND = "https://api.acme.example/v2/find"


@pytest.mark.parametrize(
    "url",
    ["http://api.acme.example/x", "https://api.acme.example/x", "http://api.acme.example:8080/x",
     "https://api.acme.example:8443/x", "http://api.acme.example:443/x", "https://api.acme.example:80/x",
     "https://8.8.8.8/x", "https://[2606:4700:4700::1111]/x", "https://bücher.example/x", "https://a.example./x",
     "https://a.example/d%C3%A9j%C3%A0%20vu%2F", "https://a.example"],
)  # fmt: skip
async def test_any_host_answers_over_http_and_https(url: str) -> None:
    async with FakeWeb() as web:
        web.answer(url, json={"url": url})
        assert (await web.client().get_json(url)).text("url") == url


async def test_the_same_host_answers_each_scheme_and_path_for_itself() -> None:
    async with FakeWeb() as web:
        for url in ("http://a.example/x", "https://a.example/x", "https://a.example/y", "https://b.example/x"):
            web.answer(url, text=url)
        for url in ("http://a.example/x", "https://a.example/x", "https://a.example/y", "https://b.example/x"):
            assert (await web.client().get_text(url)).text == url


async def test_several_answers_come_in_order_and_the_last_repeats() -> None:
    async with FakeWeb() as web:
        for number in (1, 2):
            web.answer(FIND, json=number)
        client = web.client()
        assert [(await client.get_json(FIND)).raw for _ in range(3)] == [1, 2, 2]


async def test_an_answer_for_every_url_gives_way_to_one_for_a_url() -> None:
    async with FakeWeb() as web:
        web.answer("*", json="any")
        web.answer(FIND, json="one")
        client = web.client()
        assert [(await client.get_json(url)).raw for url in (FIND, "https://b.example/x")] == ["one", "any"]


async def test_what_was_registered_can_be_taken_back() -> None:
    async with FakeWeb(allow_unexpected=True) as web:
        web.answer("*", json=1)
        web.forget()
        with pytest.raises(SearchError) as caught:
            await web.client().get_json(FIND)
    assert caught.value.code is ErrorCode.PROVIDER_REJECTED


async def test_an_answer_can_be_null() -> None:
    async with FakeWeb() as web:
        web.answer(FIND, json=None)
        assert (await web.client().get_json(FIND)).raw is None


async def test_a_handler_scripts_pages() -> None:
    async def page(request: FakeRequest) -> FakeAnswer:
        return FakeAnswer(json={"page": int(request.query["page"]) * 10})

    async with FakeWeb() as web:
        web.handle(FIND, page)
        client = web.client()
        assert [(await client.get_json(FIND, params={"page": n})).number("page") for n in (1, 2)] == [10, 20]


async def test_a_request_is_recorded_as_it_arrived() -> None:
    async with FakeWeb() as web:
        web.answer(FIND, text="")
        await web.client().post_form(f"{FIND}?v=2", form={"q": "é"}, headers={"X-API-KEY": "k"})
        (request,) = web.requests
    assert (request.method, request.url, request.host, request.path) == (
        "POST",
        f"{FIND}?v=2",
        "api.acme.example",
        "/v2/find",
    )
    assert (request.query, request.form(), request.headers["x-api-key"]) == ({"v": "2"}, {"q": "é"}, "k")


async def test_an_unexpected_request_is_404_and_fails_the_block_by_name() -> None:
    web = FakeWeb()
    await web.__aenter__()
    with pytest.raises(SearchError):
        await web.client().get_json(FIND, params={"q": "secret"})
    with pytest.raises(AssertionError, match=r"GET https://api\.acme\.example:443/v2/find$"):
        await web.__aexit__(None, None, None)
    assert len(web.unexpected) == 1


async def test_unexpected_requests_can_be_allowed() -> None:
    async with FakeWeb(allow_unexpected=True) as web:
        with pytest.raises(SearchError) as caught:
            await web.client().get_json(FIND)
    assert caught.value.code is ErrorCode.PROVIDER_REJECTED


async def test_an_error_in_the_block_is_not_hidden_by_an_unexpected_request() -> None:
    with pytest.raises(SearchError):
        async with FakeWeb() as web:
            await web.client().get_json(FIND)


async def test_a_handler_that_fails_is_raised_when_the_block_ends() -> None:
    async def fail(_: FakeRequest) -> FakeAnswer:
        raise LookupError("no such page")

    web = FakeWeb()
    await web.__aenter__()
    web.handle(FIND, fail)
    with pytest.raises(SearchError):
        await web.client().get_json(FIND)
    with pytest.raises(LookupError, match="no such page"):
        await web.__aexit__(None, None, None)


async def test_names_resolve_as_scripted_and_look_ups_are_recorded() -> None:
    async with FakeWeb() as web:
        web.answer("http://a.example/", text="")
        web.resolves("A.example", ["2606:4700:4700::1111"], [])
        await web.client().get_text("http://a.example/")
        with pytest.raises(SearchError):
            await web.client().get_text("http://a.example/")
        assert (web.resolver.looked_up, web.dialled) == (["a.example"] * 2, [("2606:4700:4700::1111", 80)])


async def test_the_guards_run_in_front_of_the_fake() -> None:
    async with FakeWeb() as web:
        web.answer("http://127.0.0.1/", text="")
        for url in ("http://127.0.0.1/", "http://localhost/"):
            with pytest.raises(SearchError):
                await web.client().get_text(url)
        assert (await web.client(AddressPolicy(allow_private_addresses=True)).get_text("http://127.0.0.1/")).status == 200


async def test_clients_are_closed_with_the_web() -> None:
    async with FakeWeb() as web:
        web.answer(FIND, text="")
        client = web.client()
        await client.get_text(FIND)
    with pytest.raises(SearchError) as caught:
        await client.get_text(FIND)
    assert caught.value.code is ErrorCode.INTERNAL_ERROR


async def test_an_answer_has_the_type_of_what_it_is_given() -> None:
    assert FakeAnswer(json={}).all_headers()["Content-Type"] == "application/json"
    assert FakeAnswer(text="").all_headers()["Content-Type"] == "text/html; charset=utf-8"
    assert FakeAnswer(json={}, content_type="text/plain").all_headers()["Content-Type"] == "text/plain"


async def test_a_pinned_request_is_answered_and_recorded() -> None:
    with vendor_wire() as wire:
        wire.get(f"{FIND}?q=tea", payload={"hits": [1]})
        wire.post(FIND, status=429, headers={"Retry-After": "7"})
        async with HttpClient(AddressPolicy()) as client:
            assert len((await client.get_json(FIND, params={"q": "tea"})).rows("hits")) == 1
            with pytest.raises(SearchError) as caught:
                await client.post_json(FIND, body={"q": "tea"})
        (sent,) = wire.requests["POST", URL(FIND)]
    assert (sent.kwargs["json"], sent.kwargs["allow_redirects"]) == ({"q": "tea"}, False)
    assert (caught.value.code, caught.value.retry_after) == (ErrorCode.PROVIDER_RATE_LIMITED, 7.0)


async def test_a_request_that_is_not_pinned_is_unreachable() -> None:
    with vendor_wire():
        async with HttpClient(AddressPolicy()) as client:
            with pytest.raises(SearchError) as caught:
                await client.get_json(FIND)
    assert caught.value.code is ErrorCode.UPSTREAM_UNREACHABLE


async def test_the_urls_text_is_checked_under_pinned_requests_too() -> None:
    with vendor_wire() as wire:
        wire.get("http://169.254.169.254/", payload={})
        async with HttpClient(AddressPolicy()) as client:
            with pytest.raises(SearchError):
                await client.get_json("http://169.254.169.254/")
