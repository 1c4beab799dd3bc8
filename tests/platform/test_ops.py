"""`POST /ops/search`, as a caller of the stateless wire sees it."""

from collections.abc import Callable
from typing import Any

import pytest
from aiohttp.test_utils import TestClient
from freezegun import freeze_time

from searchport.testing import FakeWeb

BRAVE = "https://api.search.brave.com/res/v1/web/search"
GOOGLE = "https://www.googleapis.com/customsearch/v1"
AUTH = {"type": "header", "name": "X-Subscription-Token", "value": "canary-key"}
FAKE = {"provider": "fake", "query": "red pandas"}
ANSWER = {
    "web": {
        "results": [
            {
                "title": "A <strong>b</strong>",
                "url": "https://a.example/",
                "description": "x &amp; y",
                "age": "July 25, 2024",
            },
            {"title": "No snippet", "url": "https://b.example/"},
        ]
    }
}


async def post(client: TestClient, payload: Any, **kwargs: Any) -> tuple[int, dict[str, Any]]:
    response = await client.post("/ops/search", json=payload, **kwargs)
    assert response.headers["Cache-Control"] == "no-store"
    return response.status, await response.json()


def assert_error(answer: tuple[int, dict[str, Any]], status: int, code: str, *words: str) -> None:
    """The one shape of a failure on this wire."""
    assert (answer[0], answer[1]["code"]) == (status, code)
    assert answer[1].keys() == {"ok", "code", "message", "contractVersion"}
    assert (answer[1]["ok"], answer[1]["contractVersion"]) == (False, "web-search@1")
    for word in words:
        assert word in answer[1]["message"]


async def test_a_search_answers_the_wires_shape(serve: Any, web: FakeWeb) -> None:
    web.answer(BRAVE, json=ANSWER)
    answer = await post(await serve(), {"version": "web-search@1", "provider": "brave", "query": "red pandas", "auth": AUTH})
    assert answer == (
        200,
        {
            "ok": True,
            "results": [
                {
                    "title": "A b",
                    "url": "https://a.example/",
                    "snippet": "x & y",
                    "rank": 1,
                    "publishedDate": "2024-07-25",
                },
                {"title": "No snippet", "url": "https://b.example/", "snippet": "", "rank": 2},
            ],
            "contractVersion": "web-search@1",
            "source": "external",
        },
    )


async def test_every_field_reaches_the_vendor(serve: Any, web: FakeWeb) -> None:
    web.answer(BRAVE, json=ANSWER)
    payload = {
        "query": "red pandas",
        "count": 7,
        "freshness": "week",
        "locale": "en-US",
        "providerOptions": {},
        "auth": AUTH,
    }
    status, _ = await post(await serve(), payload)
    assert status == 200
    (request,) = web.requests
    assert request.headers["X-Subscription-Token"] == "canary-key"
    assert (
        request.query.items()
        >= {
            "q": "red pandas",
            "count": "7",
            "freshness": "pw",
            "search_lang": "en",
            "country": "US",
        }.items()
    )


async def test_the_default_provider_is_brave(serve: Any, web: FakeWeb) -> None:
    web.answer(BRAVE, json=ANSWER)
    assert (await post(await serve(), {"query": "q", "auth": AUTH}))[0] == 200


async def test_a_providers_setting_comes_in_its_options(serve: Any, web: FakeWeb) -> None:
    web.answer(GOOGLE, json={})
    payload = {"provider": "google-cse", "query": "q", "providerOptions": {"cx": "0aa11"}, "auth": AUTH}
    with freeze_time("2026-12-31T23:59:59Z", real_asyncio=True):
        assert (await post(await serve(), payload))[0] == 200
    assert web.requests[0].query["cx"] == "0aa11"
    assert web.requests[0].query["key"] == "canary-key"


async def test_an_ended_provider_is_refused_with_the_way_out(serve: Any, web: FakeWeb) -> None:
    payload = {"provider": "google-cse", "query": "q", "providerOptions": {"cx": "0aa11"}, "auth": AUTH}
    with freeze_time("2027-01-01T00:00:00Z", real_asyncio=True):
        answer = await post(await serve(), payload)
    assert_error(answer, 409, "provider_not_configured", "2027-01-01", "choose one of: brave")
    assert web.requests == []


async def test_an_operator_can_keep_an_ended_provider_on(serve: Any, web: FakeWeb) -> None:
    web.answer(GOOGLE, json={})
    payload = {"provider": "google-cse", "query": "q", "providerOptions": {"cx": "0aa11"}, "auth": AUTH}
    with freeze_time("2027-06-01T00:00:00Z", real_asyncio=True):
        assert (await post(await serve(keep="google-cse"), payload))[0] == 200


async def test_the_closed_door_of_a_vendor_has_a_way_out(serve: Any, web: FakeWeb) -> None:
    message = "This project does not have the access to Custom Search JSON API."
    web.answer(GOOGLE, json={"error": {"code": 403, "message": message}}, status=403)
    payload = {"provider": "google-cse", "query": "q", "providerOptions": {"cx": "0aa11"}, "auth": AUTH}
    answer = await post(await serve(keep="google-cse"), payload)
    assert_error(answer, 502, "provider_rejected", "closed this API to new customers", "choose one of: brave")


async def test_a_missing_setting_is_named_where_this_wire_has_it(serve: Any) -> None:
    answer = await post(await serve(keep="google-cse"), {"provider": "google-cse", "query": "q", "auth": AUTH})
    assert_error(answer, 409, "provider_not_configured", "$.providerOptions.cx")


async def test_what_is_ignored_has_this_wires_names(serve: Any, web: FakeWeb) -> None:
    """Brave has neither Swahili nor the Vatican."""
    web.answer(BRAVE, json=ANSWER)
    _, body = await post(await serve(), {"query": "q", "locale": "sw-VA", "auth": AUTH})
    assert body["ignored"] == ["locale"]


async def test_options_that_a_provider_does_not_know_are_ignored_and_named(serve: Any) -> None:
    status, body = await post(await serve(), FAKE | {"providerOptions": {"zzz": 1}})
    assert (status, body["ignored"]) == (200, ["providerOptions.zzz"])


@pytest.mark.parametrize("count", [51, 1_000, 10**18])
async def test_a_count_above_the_maximum_is_clamped(serve: Any, count: int) -> None:
    status, body = await post(await serve(), FAKE | {"count": count})
    assert (status, len(body["results"])) == (200, 3)


async def test_a_count_is_a_maximum(serve: Any) -> None:
    assert len((await post(await serve(), FAKE | {"count": 2}))[1]["results"]) == 2


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"query": ""}, "$.query"),
        ({"query": None}, "$.query"),
        ({"version": "web-search@2"}, "$.version"),
        ({"count": "10"}, "$.count"),
        ({"count": True}, "$.count"),
        ({"count": 0}, "$.count"),
        ({"count": 2.5}, "$.count"),
        ({"freshness": "P7D"}, "$.freshness"),
        ({"freshness": "hour"}, "$.freshness"),
        ({"locale": "english"}, "$.locale"),
        ({"locale": 5}, "$.locale"),
        ({"provider": 5}, "$.provider"),
        ({"providerOptions": []}, "$.providerOptions"),
        ({"auth": "canary-key"}, "$.auth"),
        ({"auth": {"value": 5}}, "$.auth"),
        ({"auth": AUTH | {"type": "oauth"}}, "$.auth"),
        ({"auth": AUTH | {"value": " "}}, "$.auth"),
        ({"auth": AUTH | {"canary-key": 1}}, "$.auth"),
        ({"freshnes": "week"}, "did you mean 'freshness'?"),
        ({"maxResults": 5}, "$.maxResults: unknown field"),
    ],
)
async def test_a_wrong_field_is_refused_by_its_name_on_this_wire(serve: Any, fields: dict[str, Any], path: str) -> None:
    answer = await post(await serve(), FAKE | fields)
    assert_error(answer, 400, "validation_error", path)
    assert "canary" not in answer[1]["message"]


async def test_all_faults_are_reported_together(serve: Any) -> None:
    answer = await post(await serve(), {"query": "", "count": "x", "zzz": 1})
    assert_error(answer, 400, "validation_error", "$.query", "$.count", "$.zzz")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'"text"',
        b"5",
        b"\xff",
        b"[" * 5_000,
        b'{"query": NaN}',
        b'{"query": "a", "query": "b"}',
        b"{" + b" " * 70_000,
    ],
)
async def test_a_body_that_is_no_json_object_is_refused(serve: Any, body: bytes) -> None:
    client = await serve()
    response = await client.post("/ops/search", data=body, headers={"Content-Type": "application/json"})
    assert_error((response.status, await response.json()), 400, "validation_error", "$: ")


async def test_an_unknown_provider_is_refused_naming_those_there_are(serve: Any) -> None:
    answer = await post(await serve(), {"provider": "bravo", "query": "q"})
    assert_error(answer, 409, "provider_not_configured", "did you mean 'brave'?", "bing, brave, duckduckgo, exa, fake, ")


@pytest.mark.parametrize("provider", ["https://evil.example/", "../fake", "FAKE", ""])
async def test_a_provider_is_a_slug_never_an_address(serve: Any, web: FakeWeb, provider: str) -> None:
    assert_error(await post(await serve(), {"provider": provider, "query": "q"}), 409, "provider_not_configured")
    assert web.requests == []


async def test_a_missing_key_is_said_before_anything_is_sent(serve: Any, web: FakeWeb) -> None:
    assert_error(await post(await serve(), {"query": "q"}), 409, "provider_not_configured", "takes a key")
    assert web.requests == []


@pytest.mark.parametrize(
    ("vendor", "status", "code"),
    [
        ({"status": 401}, 502, "provider_unauthorized"),
        ({"status": 400}, 502, "provider_rejected"),
        ({"status": 302, "headers": {"Location": "https://evil.example/"}}, 502, "provider_rejected"),
        ({"status": 429, "headers": {"Retry-After": "7"}}, 503, "provider_rate_limited"),
        ({"status": 500}, 502, "upstream_unreachable"),
        ({"text": "<html>blocked</html>"}, 502, "upstream_unreachable"),
        ({"json": {"web": "?"}}, 502, "upstream_unreachable"),
    ],
)
async def test_a_vendors_failure_is_one_of_seven_codes(
    serve: Any, web: FakeWeb, vendor: dict[str, Any], status: int, code: str
) -> None:
    web.answer(BRAVE, **({"json": {}} | vendor if "text" not in vendor else vendor))
    answer = await post(await serve(), {"query": "canary query", "auth": AUTH})
    assert_error(answer, status, code, "provider 'brave'")
    assert "canary" not in str(answer)


async def test_a_vendor_that_drops_the_connection_is_unreachable(serve: Any, web: FakeWeb) -> None:
    web.drop(BRAVE)
    assert_error(await post(await serve(), {"query": "q", "auth": AUTH}), 502, "upstream_unreachable")


async def test_a_rate_limit_says_when_to_come_back(serve: Any) -> None:
    client = await serve()
    response = await client.post("/ops/search", json=FAKE | {"query": "limited: q"})
    assert (response.status, response.headers["Retry-After"]) == (503, "30")


async def test_an_empty_answer_is_a_success(serve: Any) -> None:
    status, body = await post(await serve(), FAKE | {"query": "empty: q"})
    assert (status, body["ok"], body["results"]) == (200, True, [])


async def test_a_defect_is_told_without_its_words(serve: Any, monkeypatch: pytest.MonkeyPatch, logged: Callable[[], str]) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("canary")

    monkeypatch.setattr("searchport.guarantees.apply", fail)
    answer = await post(await serve(), FAKE)
    assert_error(answer, 500, "internal_error")
    assert "RuntimeError" in logged()
    assert "canary" not in str(answer) + logged()


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer wrong", "Basic dDo=", "tok", "Bearer tök", "Bearer \xff"])
async def test_with_a_token_set_only_its_bearer_is_answered(serve: Any, header: str | None) -> None:
    client = await serve(ops_token="tok")
    headers = {} if header is None else {"Authorization": header}
    assert_error(await post(client, FAKE, headers=headers), 401, "unauthorized", "Bearer")
    assert (await client.get("/info", headers=headers)).status == 401
    assert (await post(client, FAKE, headers={"Authorization": "bearer tok"}))[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Forwarded-For": "203.0.113.9"},
        {"X-Real-IP": "203.0.113.9"},
        {"Via": "1.1 proxy"},
        {"X-Forwarded-Host": "searchport.example"},
        {"Forwarded": "for=203.0.113.9"},
        {"Host": "searchport.example"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ],
)
async def test_without_a_token_only_direct_callers_on_this_machine_are_answered(serve: Any, headers: dict[str, str]) -> None:
    client = await serve()
    assert_error(await post(client, FAKE, headers=headers), 401, "unauthorized", "SEARCHPORT_OPS_TOKEN")
    assert (await client.get("/info", headers=headers)).status == 401
    assert (await post(client, FAKE, headers={"Origin": "http://localhost:3000"}))[0] == 200


async def test_health_is_open_and_names_the_ends_that_are_announced(serve: Any) -> None:
    client = await serve(ops_token="tok")
    assert (await client.get("/healthz")).status == 200
    ready = await client.get("/readyz")
    assert (ready.status, (await ready.json())["sunsets"]) == (200, {"bing": "2025-08-11", "google-cse": "2027-01-01"})


async def test_info_says_what_the_service_speaks_and_whom_it_asks(serve: Any) -> None:
    client = await serve(ops_token="tok")
    info = await (await client.get("/info", headers={"Authorization": "Bearer tok"})).json()
    assert info["contractVersions"] == ["web-search@1"]
    assert {"brave", "fake", "google-cse", "local"} < {provider["id"] for provider in info["providers"]}
    assert "tok" not in str(info)


async def test_a_providers_address_can_be_moved_by_the_operator_alone(serve: Any, web: FakeWeb) -> None:
    """To a loopback port too: the operator's word exempts that very address from the address policy."""
    web.answer("http://127.0.0.1:9001/res/v1/web/search", json=ANSWER)
    client = await serve(provider_base_urls='{"brave": "http://127.0.0.1:9001"}')
    assert (await post(client, {"query": "q", "auth": AUTH}))[0] == 200
    assert web.requests[0].query["q"] == "q"


async def test_a_parameter_in_the_url_is_refused_by_name(serve: Any) -> None:
    client = await serve(ops_token="tok")
    headers = {"Authorization": "Bearer tok"}
    assert_error(await post(client, FAKE, headers=headers, params={"count": "3"}), 400, "validation_error", "'count'")
    assert (await client.get("/info", headers=headers, params={"providers": "fake"})).status == 400
