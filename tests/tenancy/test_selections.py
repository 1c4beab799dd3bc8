"""Selections: which provider a call goes to, with which settings, and whom it is sent to where that one fails."""

import json
import time
from typing import Any

import pytest
from freezegun import freeze_time

from searchport.errors import SearchError
from searchport.request import SearchRequest
from searchport_platform.platform import Caller
from searchport_platform.tenancy.selections import Choice, Selection

KEYS = {"acme": "key-of-ours-acme", "beta": "key-of-ours-beta"}
ACME, BETA, OPEN = "api.acme.example", "api.beta.example", "api.open.example"


@pytest.fixture
async def ours(bench: Any) -> Any:
    return await bench.tenant("ours", keys=KEYS)


async def put(bench: Any, tenant: Any, **body: object) -> tuple[int, Any]:
    return await bench.call("PUT", f"{tenant.path}/search/selection", tenant.admin, body)


def hosts(bench: Any) -> list[str]:
    """Whom the platform asked, in order."""
    return [request.host for request in bench.web.requests]


async def test_a_selection_counts_at_the_very_next_call(bench: Any, ours: Any) -> None:
    named = []
    for provider in ("acme", "beta", "open", "acme"):
        assert (await put(bench, ours, provider=provider))[0] == 200
        named.append((await bench.search(ours.search))[1]["provider"])
    assert (named, hosts(bench)) == (["acme", "beta", "open", "acme"], [ACME, BETA, OPEN, ACME])


async def test_a_selection_counts_in_another_process_too(bench: Any, ours: Any) -> None:
    caller, request = Caller(organization="ours"), SearchRequest("tea")
    async with bench.open() as other:
        for provider in ("acme", "beta"):
            await put(bench, ours, provider=provider)
            assert (await other.search(caller, request)).provider == provider


async def test_what_another_process_selects_counts_here(bench: Any, ours: Any) -> None:
    async with bench.open() as other:
        for provider in ("acme", "beta"):
            await other.administration().put_selection("ours", Selection(choice=Choice(provider=provider)))
            assert (await bench.search(ours.search))[1]["provider"] == provider


async def test_a_key_stored_by_another_process_counts_here(bench: Any, ours: Any) -> None:
    await put(bench, ours, provider="acme")
    async with bench.open() as other:
        await other.administration().store_credential("ours", "acme", "key-of-another-process")
    await bench.search(ours.search)
    assert bench.keys_seen(ACME) == ["key-of-another-process"]


async def test_a_selection_can_be_read_and_taken_away(bench: Any, ours: Any) -> None:
    path = f"{ours.path}/search/selection"
    assert (await bench.call("GET", path, ours.admin))[0] == 404
    stored = await put(bench, ours, provider="acme", settings={"collection": "news"}, fallbacks=["open"])
    assert await bench.call("GET", path, ours.admin) == stored
    assert stored[1] == {
        "provider": "acme",
        "model": None,
        "settings": {"collection": "news"},
        "fallbacks": [{"provider": "open", "model": None, "settings": {}}],
        "defaultResults": 10,
        "maxResults": 50,
        "deadlineSeconds": 15.0,
        "cacheSeconds": 0,
    }
    assert [(await bench.call("DELETE", path, ours.admin))[0] for _ in range(2)] == [204, 404]
    assert (await bench.search(ours.search))[1]["code"] == "provider_not_configured"


WRONG_SELECTIONS: list[tuple[dict[str, object], str]] = [
    ({}, "$.provider"),
    ({"provider": 5}, "$.provider"),
    ({"provider": "acme", "settings": []}, "$.settings"),
    ({"provider": "acme", "fallbacks": "beta"}, "$.fallbacks"),
    ({"provider": "acme", "fallbacks": ["open"] * 9}, "$.fallbacks"),
    ({"provider": "acme", "fallbacks": [{"settings": {}}]}, "$.fallbacks"),
    ({"provider": "acme", "fallbaks": []}, "$.fallbaks"),
    ({"provider": "acme", "defaultResults": 0}, "$.defaultResults"),
    ({"provider": "acme", "defaultResults": True}, "$.defaultResults"),
    ({"provider": "acme", "maxResults": 51}, "$.maxResults"),
    ({"provider": "acme", "maxResults": "10"}, "$.maxResults"),
    ({"provider": "acme", "maxResults": 5}, "$.defaultResults"),
    ({"provider": "acme", "deadlineSeconds": 21}, "$.deadlineSeconds"),
    ({"provider": "acme", "deadlineSeconds": 0.5}, "$.deadlineSeconds"),
    ({"provider": "acme", "deadlineSeconds": True}, "$.deadlineSeconds"),
    ({"provider": "acme", "settings": {"colection": "news"}}, "$.settings.colection"),
    ({"provider": "acme", "settings": {"collection": 5}}, "$.settings.collection"),
    ({"provider": "acme", "settings": {"level": "1"}}, "$.settings.level"),
    ({"provider": "acme", "settings": {"base_url": "https://evil.example"}}, "$.settings.base_url"),
    ({"provider": "open", "settings": {"anything": 1}}, "$.settings.anything"),
    ({"provider": "google-cse"}, "$.settings.cx"),
]


async def test_a_wrong_selection_is_refused_and_changes_nothing(bench: Any, ours: Any) -> None:
    """Settings are checked by the toolkit's own class; what is the operator's is refused to an admin."""
    await put(bench, ours, provider="beta")
    before = bench.rows()
    for body, path in WRONG_SELECTIONS:
        status, refusal = await put(bench, ours, **body)
        assert (status, refusal["code"], refusal["faults"][0]["path"]) == (400, "validation_error", path)
    assert bench.rows() == before


async def test_every_fault_of_a_selection_is_told_at_once(bench: Any, ours: Any) -> None:
    settings = {"level": "1", "base_url": "https://evil.example", "colour": "red"}
    _, body = await put(bench, ours, provider="acme", settings=settings)
    assert {fault["path"] for fault in body["faults"]} == {"$.settings.level", "$.settings.base_url", "$.settings.colour"}


async def test_settings_reach_the_vendor(bench: Any, ours: Any) -> None:
    await put(bench, ours, provider="acme", settings={"collection": "news"})
    await bench.search(ours.search)
    assert bench.web.requests[-1].query["collection"] == "news"


async def test_a_calls_options_override_settings_for_this_call(bench: Any, ours: Any) -> None:
    await put(bench, ours, provider="acme", settings={"collection": "news"})
    for options in ({"collection": "books"}, {}):
        await bench.search(ours.search, providerOptions=options)
    assert [request.query["collection"] for request in bench.web.requests] == ["books", "news"]


async def test_a_calls_options_cannot_give_what_is_the_operators(bench: Any, ours: Any) -> None:
    await put(bench, ours, provider="acme")
    status, body = await bench.search(ours.search, providerOptions={"base_url": "https://evil.example"})
    assert (status, body["code"], bench.web.requests) == (400, "validation_error", [])


async def test_an_operator_sets_what_is_the_operators(bench: Any, ours: Any) -> None:
    bench.web.answer("https://acme-proxy.example/find", json={"hits": []})
    await put(bench, ours, provider="acme")
    await bench.administration.put_operator_settings("ours", "acme", {"base_url": "https://acme-proxy.example"})
    await bench.search(ours.search)
    await bench.administration.put_operator_settings("ours", "acme", {})
    await bench.search(ours.search)
    assert hosts(bench) == ["acme-proxy.example", ACME]


async def test_operator_settings_are_of_one_organization(bench: Any, ours: Any) -> None:
    theirs = await bench.tenant("theirs", "acme", keys=KEYS)
    await bench.administration.put_operator_settings("ours", "acme", {"base_url": "https://acme-proxy.example"})
    await bench.search(theirs.search)
    assert hosts(bench) == [ACME]


# Providers that cannot be used


async def test_a_provider_that_is_not_enabled_cannot_be_selected(bench: Any, ours: Any) -> None:
    status, body = await put(bench, ours, provider="acne")
    assert (status, body["code"], "acme" in body["alternatives"]) == (409, "provider_not_configured", True)
    assert "did you mean 'acme'?" in body["detail"]


async def test_a_selected_provider_that_is_no_longer_enabled_is_refused(bench: Any, ours: Any) -> None:
    """An operator removed its toolkit."""
    await put(bench, ours, provider="acme")
    bench.sql("UPDATE selections SET provider = 'gone'")
    status, body = await bench.search(ours.search)
    assert (status, body["code"], body["provider"]) == (409, "provider_not_configured", "gone")
    assert "acme" in body["alternatives"]


async def test_a_provider_that_is_not_allowed_cannot_be_selected(bench: Any, ours: Any) -> None:
    await bench.administration.bound_organization("ours", allowed_providers=["open"])
    status, body = await put(bench, ours, provider="acme")
    assert (status, body["code"], body["gate"], body["provider"]) == (403, "forbidden", "provider", "acme")
    assert (await put(bench, ours, provider="open"))[0] == 200


async def test_a_fallback_that_is_not_allowed_cannot_be_selected(bench: Any, ours: Any) -> None:
    await bench.administration.bound_organization("ours", allowed_providers=["open"])
    assert (await put(bench, ours, provider="open", fallbacks=["acme"]))[0] == 403


async def test_a_provider_that_is_no_longer_allowed_is_refused_at_the_next_call(bench: Any, ours: Any) -> None:
    await put(bench, ours, provider="acme")
    await bench.administration.bound_organization("ours", allowed_providers=["open"])
    status, body = await bench.search(ours.search)
    assert (status, body["code"], body["provider"], bench.web.requests) == (409, "provider_not_configured", "acme", [])
    assert "does not allow it" in body["detail"]


async def test_no_provider_allowed_is_none_at_all(bench: Any, ours: Any) -> None:
    await bench.administration.bound_organization("ours", allowed_providers=[])
    assert (await put(bench, ours, provider="fake"))[0] == 403


async def test_a_switched_off_provider_is_refused_at_once_everywhere(bench: Any, ours: Any) -> None:
    theirs = await bench.tenant("theirs", "acme", keys=KEYS)
    await put(bench, ours, provider="acme")
    async with bench.open() as other:
        await other.administration().turn_off("acme", "a leak at the vendor")
        for tenant in (ours, theirs):
            status, body = await bench.search(tenant.search)
            assert (status, body["code"], body["provider"]) == (409, "provider_not_configured", "acme")
            assert "a leak at the vendor" in body["detail"]
        assert bench.web.requests == []
        assert await other.administration().turn_on("acme")
    assert [(await bench.search(tenant.search))[0] for tenant in (ours, theirs)] == [200, 200]


async def test_the_provider_list_tells_how_each_stands(bench: Any, ours: Any) -> None:
    await put(bench, ours, provider="beta")
    await bench.administration.turn_off("brave", "a leak")
    await bench.administration.bound_organization("ours", allowed_providers=["acme", "beta", "brave"])
    _, body = await bench.call("GET", f"{ours.path}/search/providers", ours.admin)
    rows = {row["id"]: row for row in body["providers"]}
    assert {name for name, row in rows.items() if row["allowed"]} == {"acme", "beta", "brave"}
    assert {name: row["switchedOff"] for name, row in rows.items() if row["switchedOff"]} == {"brave": "a leak"}
    assert {name for name, row in rows.items() if row["selected"]} == {"beta"}
    assert {name: row["credential"]["lastFour"] for name, row in rows.items() if row["credential"]} == {
        "acme": "acme",
        "beta": "beta",
    }
    assert rows["google-cse"]["sunset"]["ends"] == "2027-01-01"
    assert rows["beta"]["options"]["safe"] == "unsupported"


async def search_google(bench: Any) -> tuple[int, Any]:
    tenant = await bench.tenant("moving", keys={"google-cse": "key-of-google"})
    bench.web.answer("https://www.googleapis.com/customsearch/v1", json={"items": [{"title": "T", "link": "https://t.example/"}]})
    assert (await put(bench, tenant, provider="google-cse", settings={"cx": "0123"}))[0] == 200
    return await bench.search(tenant.search)


@pytest.mark.only("sqlite", "what becomes of a selection once it is read")
async def test_a_provider_past_its_end_is_refused_with_the_way_out(bench: Any) -> None:
    with freeze_time("2027-01-01T00:00:00Z", real_asyncio=True):
        status, body = await search_google(bench)
    assert (status, body["code"], body["alternatives"]) == (409, "provider_not_configured", ["brave", "vertex"])
    assert "it ended on 2027-01-01" in body["detail"]
    assert bench.web.requests == []


@pytest.mark.only("sqlite", "what becomes of a selection once it is read")
async def test_a_provider_before_its_end_answers_with_a_notice(bench: Any) -> None:
    with freeze_time("2026-12-31T23:59:59Z", real_asyncio=True):
        status, body = await search_google(bench)
    assert (status, [notice["code"] for notice in body["notices"]]) == (200, ["sunset"])
    assert "move to one of: brave" in body["notices"][0]["message"]


# Models


@pytest.mark.only("sqlite", "what becomes of a selection once it is read")
async def test_models_are_the_vendors_asked_with_the_organizations_key(bench: Any, ours: Any) -> None:
    status, body = await bench.call("GET", f"{ours.path}/search/providers/acme/models", ours.admin)
    assert (status, bench.keys_seen(ACME)) == (200, ["key-of-ours-acme"])
    assert body["models"] == [
        {"id": "swift", "name": "swift", "capability": "webSearch"},
        {"id": "deep", "name": "deep", "capability": "webSearch"},
    ]


@pytest.mark.only("sqlite", "what becomes of a selection once it is read")
async def test_a_provider_without_models_has_none(bench: Any, ours: Any) -> None:
    assert await bench.call("GET", f"{ours.path}/search/providers/beta/models", ours.admin) == (200, {"models": []})


@pytest.mark.only("sqlite", "what becomes of a selection once it is read")
async def test_models_without_a_key_are_refused_clearly(bench: Any) -> None:
    bare = await bench.tenant("bare")
    status, body = await bench.call("GET", f"{bare.path}/search/providers/acme/models", bare.admin)
    assert (status, body["code"], body["provider"], bench.web.requests) == (409, "provider_not_configured", "acme", [])


@pytest.mark.only("sqlite", "what becomes of a selection once it is read")
async def test_a_model_is_sent_and_named(bench: Any, ours: Any) -> None:
    assert (await put(bench, ours, provider="acme", model="deep"))[1]["model"] == "deep"
    status, body = await bench.search(ours.search)
    assert (status, body["model"], bench.web.requests[-1].query["model"]) == (200, "deep", "deep")


@pytest.mark.only("sqlite", "what becomes of a selection once it is read")
async def test_a_model_that_the_vendor_lacks_is_refused(bench: Any, ours: Any) -> None:
    status, body = await put(bench, ours, provider="acme", model="deeper")
    assert (status, body["code"], body["faults"][0]["path"]) == (400, "validation_error", "$.model")
    assert "it has: swift, deep" in body["detail"]


@pytest.mark.only("sqlite", "what becomes of a selection once it is read")
async def test_a_model_of_a_provider_without_models_is_refused(bench: Any, ours: Any) -> None:
    status, body = await put(bench, ours, provider="beta", model="deep")
    assert (status, "leave it out" in body["detail"]) == (400, True)


# Fallbacks


@pytest.mark.only("sqlite", "what becomes of a selection once it is read")
async def test_without_fallbacks_nobody_else_is_asked(bench: Any, ours: Any, vendors: Any) -> None:
    vendors.fail("acme", 500)
    await put(bench, ours, provider="acme")
    status, body = await bench.search(ours.search)
    assert (status, body["code"], body["provider"]) == (503, "provider_unavailable", "acme")
    assert set(hosts(bench)) == {ACME}


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 503])
@pytest.mark.only("sqlite", "what becomes of a selection once it is read")
async def test_a_fallback_answers_where_the_provider_fails(bench: Any, ours: Any, vendors: Any, status: int) -> None:
    vendors.fail("acme", status)
    await put(bench, ours, provider="acme", fallbacks=["beta"])
    answered, body = await bench.search(ours.search)
    assert (answered, body["provider"], len(body["results"])) == (200, "beta", 10)
    assert [attempt["provider"] for attempt in body["attempts"]] == ["acme", "beta"]
    assert (body["attempts"][0]["outcome"].startswith("provider_"), body["attempts"][1]["outcome"]) == (True, "ok")
    assert [notice["code"] for notice in body["notices"]] == ["fallback"]
    assert body["notices"][0]["message"].startswith("answered by beta instead of acme (provider_")


@pytest.mark.only("sqlite", "what becomes of a selection once it is read")
async def test_fallbacks_are_asked_in_their_order(bench: Any, ours: Any, vendors: Any) -> None:
    vendors.fail("acme", 500)
    vendors.fail("open", 403)
    await put(bench, ours, provider="acme", fallbacks=["open", "beta"])
    _, body = await bench.search(ours.search)
    outcomes = [(attempt["provider"], attempt["outcome"]) for attempt in body["attempts"]]
    assert [provider for provider, _ in outcomes] == ["acme", "open", "beta"]
    assert outcomes[-1] == ("beta", "ok")
    assert list(dict.fromkeys(hosts(bench))) == [ACME, OPEN, BETA]


@pytest.mark.only("sqlite", "what becomes of a selection once it is read")
async def test_a_provider_that_answers_leaves_its_fallbacks_alone(bench: Any, ours: Any) -> None:
    await put(bench, ours, provider="acme", fallbacks=["beta"])
    _, body = await bench.search(ours.search)
    assert (hosts(bench), body["notices"], len(body["attempts"])) == ([ACME], [], 1)


@pytest.mark.only("sqlite", "what becomes of a selection once it is read")
async def test_no_results_is_an_answer_not_a_failure(bench: Any, ours: Any) -> None:
    await put(bench, ours, provider="fake", fallbacks=["beta"])
    _, body = await bench.search(ours.search, "empty: tea")
    assert (body["provider"], body["results"], hosts(bench)) == ("fake", [], [])


async def test_each_fallback_has_its_own_key_and_settings(bench: Any, ours: Any, vendors: Any) -> None:
    vendors.fail("beta", 500)
    chosen = Choice(provider="acme", settings={"collection": "news"})
    await bench.administration.put_selection("ours", Selection(choice=Choice(provider="beta"), fallbacks=(chosen,)))
    await bench.search(ours.search)
    assert set(bench.keys_seen(BETA)) == {"key-of-ours-beta"}
    assert bench.keys_seen(ACME) == ["key-of-ours-acme"]
    assert bench.web.requests[-1].query["collection"] == "news"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"maxResults": 0}, "validation_error"),
        ({"freshnes": "P1D"}, "validation_error"),
        ({"safe": "strict"}, "unsupported_option"),
    ],
)
@pytest.mark.only("sqlite", "what becomes of a selection once it is read")
async def test_a_callers_mistake_asks_no_fallback(bench: Any, ours: Any, options: dict[str, object], code: str) -> None:
    await put(bench, ours, provider="beta", fallbacks=["open"])
    status, body = await bench.search(ours.search, **options)
    assert (status, body["code"], bench.web.requests) == (400, code, [])


@pytest.mark.only("sqlite", "what becomes of a selection once it is read")
async def test_a_configurations_mistake_asks_no_fallback(bench: Any, ours: Any) -> None:
    """Answering from a provider although the chosen one is set up wrongly would hide the mistake."""
    await put(bench, ours, provider="brave", fallbacks=["open"])
    status, body = await bench.search(ours.search)
    assert (status, body["code"], body["provider"], bench.web.requests) == (409, "provider_not_configured", "brave", [])


async def test_wrong_settings_of_a_fallback_are_refused(bench: Any, ours: Any) -> None:
    wrong = Selection(choice=Choice(provider="open"), fallbacks=(Choice(provider="acme", settings={"level": "1"}),))
    with pytest.raises(SearchError) as refused:
        await bench.administration.put_selection("ours", wrong)
    assert ([fault.path for fault in refused.value.faults], refused.value.provider) == (["$.settings.level"], "acme")


@pytest.mark.only("sqlite", "what becomes of a selection once it is read")
async def test_a_fallback_that_cannot_honour_the_call_is_passed_over(bench: Any, ours: Any, vendors: Any) -> None:
    vendors.fail("acme", 500)
    await put(bench, ours, provider="acme", fallbacks=["beta", "open"])
    _, body = await bench.search(ours.search, safe="strict")
    assert (body["provider"], bench.keys_seen(BETA)) == ("open", [])


async def test_a_fallback_without_a_key_is_passed_over(bench: Any, ours: Any, vendors: Any) -> None:
    vendors.fail("acme", 500)
    await put(bench, ours, provider="acme", fallbacks=["brave", "open"])
    status, body = await bench.search(ours.search)
    assert (status, body["provider"]) == (200, "open")
    assert [attempt["outcome"] for attempt in body["attempts"]] == ["provider_unavailable", "provider_not_configured", "ok"]


async def test_a_switched_off_fallback_is_passed_over(bench: Any, ours: Any, vendors: Any) -> None:
    vendors.fail("acme", 500)
    await put(bench, ours, provider="acme", fallbacks=["beta", "open"])
    await bench.administration.turn_off("beta", "a leak")
    assert (await bench.search(ours.search))[1]["provider"] == "open"
    assert bench.keys_seen(BETA) == []


async def test_provider_options_never_reach_a_fallback(bench: Any, ours: Any, vendors: Any) -> None:
    """Both have the setting; the call's own is for the selected provider alone."""
    vendors.fail("acme", 500)
    fallback = Choice(provider="acme", settings={"collection": "of the fallback"})
    fallbacks = (fallback, Choice(provider="beta"))
    await bench.administration.put_selection("ours", Selection(choice=Choice(provider="acme"), fallbacks=fallbacks))
    _, body = await bench.search(ours.search, providerOptions={"collection": "of the call", "unknown": 1})
    asked = list(dict.fromkeys(request.query["collection"] for request in bench.web.requests if request.host == ACME))
    assert asked == ["of the call", "of the fallback"]
    assert (body["provider"], body["ignored"]) == ("beta", [])


@pytest.mark.only("sqlite", "what becomes of a selection once it is read")
async def test_the_first_error_is_told_where_every_provider_fails(bench: Any, ours: Any, vendors: Any) -> None:
    vendors.fail("acme", 429)
    vendors.fail("beta", 500)
    await put(bench, ours, provider="acme", fallbacks=["beta"])
    status, body = await bench.search(ours.search)
    assert (status, body["code"], body["provider"]) == (503, "provider_rate_limited", "acme")
    assert (ACME in hosts(bench), BETA in hosts(bench)) == (True, True)


# Limits


async def test_a_call_without_a_number_gets_the_organizations_default(bench: Any, ours: Any) -> None:
    await put(bench, ours, provider="acme", defaultResults=3)
    assert len((await bench.search(ours.search))[1]["results"]) == 3
    assert len((await bench.search(ours.search, maxResults=None))[1]["results"]) == 3
    assert len((await bench.search(ours.search, maxResults=7))[1]["results"]) == 7


async def test_more_than_the_organizations_maximum_is_refused_before_spending(bench: Any, ours: Any) -> None:
    await put(bench, ours, provider="acme", defaultResults=3, maxResults=5)
    assert (await bench.search(ours.search, maxResults=5))[0] == 200
    asked = len(bench.web.requests)
    status, body = await bench.search(ours.search, maxResults=6)
    assert (status, body["faults"][0]["path"], len(bench.web.requests)) == (400, "$.maxResults", asked)
    assert "organization's maximum of 5" in body["detail"]


async def test_a_call_in_this_process_is_bound_by_the_maximum_too(bench: Any, ours: Any) -> None:
    await put(bench, ours, provider="acme", maxResults=12)
    with pytest.raises(SearchError, match="maximum of 12"):
        await bench.platform.search(Caller(organization="ours"), SearchRequest("tea", max_results=13))


@pytest.mark.only("sqlite", "what becomes of a selection once it is read")
async def test_a_vendor_that_stalls_is_left_at_the_organizations_deadline(bench: Any, ours: Any) -> None:
    bench.web.stall("https://stalling.example/find")
    await bench.administration.put_operator_settings("ours", "acme", {"base_url": "https://stalling.example"})
    await bench.select("ours", "acme", deadline_seconds=0.2)
    started = time.monotonic()
    status, body = await bench.search(ours.search)
    assert (status, body["code"], body["provider"]) == (504, "upstream_timeout", "acme")
    assert 0.2 <= time.monotonic() - started < 2


@pytest.mark.only("sqlite", "what becomes of a selection once it is read")
async def test_one_deadline_covers_the_fallbacks_too(bench: Any, ours: Any) -> None:
    bench.web.stall("https://stalling.example/find")
    await bench.administration.put_operator_settings("ours", "acme", {"base_url": "https://stalling.example"})
    await bench.select("ours", "acme", "acme", "acme", deadline_seconds=0.2)
    started = time.monotonic()
    assert (await bench.search(ours.search))[1]["code"] == "upstream_timeout"
    assert 0.2 <= time.monotonic() - started < 0.5


async def test_an_admins_deadline_is_kept(bench: Any, ours: Any) -> None:
    await put(bench, ours, provider="acme", deadlineSeconds=2.5)
    selection = await bench.administration.find_selection("ours")
    assert (selection.deadline_seconds, bench.sql("SELECT deadline_ms FROM selections")) == (2.5, [(2_500,)])


async def test_the_plain_payload_answers_what_the_route_answers(bench: Any, ours: Any) -> None:
    """`Platform.call` is the route without HTTP."""
    await put(bench, ours, provider="acme", defaultResults=3)
    _, by_route = await bench.search(ours.search)
    called = await bench.platform.call("action.search.web", {"query": "tea"}, Caller(organization="ours"))
    volatile = ("requestId",)
    assert {k: v for k, v in json.loads(json.dumps(called)).items() if k not in volatile} == {
        k: v for k, v in by_route.items() if k not in volatile
    }


@pytest.mark.only("sqlite", "what becomes of a selection once it is read")
async def test_an_unknown_action_is_refused_by_name(bench: Any, ours: Any) -> None:
    with pytest.raises(SearchError, match=r"there is 'action\.search\.web'"):
        await bench.platform.call("action.search.images", {"query": "tea"}, Caller(organization="ours"))
