"""What records tell: to admins, to listeners, and nothing that they must not."""

import asyncio
import csv
import io
import json
from collections.abc import AsyncIterator, Callable
from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer
from click.testing import CliRunner, Result
from freezegun import freeze_time

from searchport import ErrorCode, SearchError, SearchRequest
from searchport_platform.app import build_app
from searchport_platform.cli.commands import cli as command_line
from searchport_platform.metering import listeners
from searchport_platform.metering.ledger import Record
from searchport_platform.metering.listeners import Listeners
from searchport_platform.metering.usage import Question, Usage
from searchport_platform.registry import RegistryError
from searchport_platform.settings import Settings, SettingsError, load_settings
from searchport_platform.tenancy.tokens import Scope

ROOT = "/api/platform/v1"
TODAY = date(2026, 11, 30)


async def fail(*_: object) -> None:
    raise SearchError(ErrorCode.PROVIDER_UNAVAILABLE)


@pytest.fixture
async def history(place: Any) -> Any:
    """Two days of two agents, one failure, one record that was never closed."""
    await place.cap(10, "robot")
    with freeze_time("2026-11-29T12:00:00Z", real_asyncio=True) as clock:
        await place.search()
        await place.search(agent="robot")
        clock.move_to("2026-11-30T12:00:00Z")
        await place.search()
        await place.search()
        place.vendors.act = fail
        await place.try_search()
        place.vendors.act = None
        await place.search(agent="robot")
    place.sql("UPDATE records SET outcome = 'started', cost_microusd = NULL WHERE agent = 'robot' AND day = '2026-11-30'")
    return place


async def read(place: Any, *, by: str | None = None) -> list[Usage]:
    question = Question.parse("2026-11-01", "2026-11-30", by, TODAY)
    return await place.platform.administration().read_usage("ours", question)


async def test_usage_is_told_by_day_agent_provider_and_outcome(history: Any) -> None:
    lines = await read(history)
    assert [(line.day, line.agent, line.provider, line.outcome, line.searches, line.cost_microusd) for line in lines] == [
        ("2026-11-29", "default", "acme", "ok", 1, 0),
        ("2026-11-29", "robot", "acme", "ok", 1, 0),
        ("2026-11-30", "default", "acme", "ok", 2, 0),
        ("2026-11-30", "default", "acme", "provider_unavailable", 1, 0),
        ("2026-11-30", "robot", "acme", "unknown", 1, 10_000),
    ]


async def test_usage_can_be_told_by_less(history: Any) -> None:
    assert [(line.agent, line.day, line.searches) for line in await read(history, by="agent")] == [
        ("default", None, 4),
        ("robot", None, 2),
    ]
    assert [(line.day, line.searches) for line in await read(history, by="day")] == [("2026-11-29", 2), ("2026-11-30", 4)]


async def test_a_record_is_started_until_its_deadline_and_unknown_after_it(place: Any) -> None:
    with freeze_time("2026-11-30T12:00:00Z", real_asyncio=True) as clock:
        await place.search()
        place.sql("UPDATE records SET outcome = 'started', cost_microusd = NULL")
        assert [line.outcome for line in await read(place)] == ["started"]
        clock.tick(16)
        assert [line.outcome for line in await read(place)] == ["unknown"]
    assert place.records() == ["started"], "nothing is reconciled"


async def test_a_start_counts_what_was_left_open_as_spent(place: Any) -> None:
    await place.cap(1)
    await place.search()
    place.sql("UPDATE records SET outcome = 'started', ends_ms = 1")
    async with place.open() as other:
        with pytest.raises(SearchError) as refused:
            await other.search(place.caller, SearchRequest("tea"))
    assert refused.value.code is ErrorCode.DAILY_CAP_REACHED


async def test_one_organization_never_sees_anothers(history: Any) -> None:
    await history.platform.administration().create_organization("theirs", "Theirs", provider="free")
    question = Question.parse("2026-11-01", "2026-11-30", None, TODAY)
    assert await history.platform.administration().read_usage("theirs", question) == []


@pytest.mark.parametrize(
    ("asked", "paths"),
    [
        (("yesterday", None, None), ["$.from"]),
        (("2026-02-30", "2026-13-01", "week"), ["$.to", "$.from", "$.by"]),
        (("2026-12-01", "2026-11-01", None), ["$.from"]),
        (("2020-01-01", "2026-11-01", None), ["$.from"]),
    ],
)
def test_a_wrong_question_is_refused_with_every_fault(asked: Any, paths: list[str]) -> None:
    with pytest.raises(SearchError) as refused:
        Question.parse(*asked, TODAY)
    assert [fault.path for fault in refused.value.faults] == paths


def test_a_question_is_about_this_month_by_default() -> None:
    assert Question.parse(None, None, None, TODAY) == Question(first=date(2026, 11, 1), last=TODAY)


# The doors


@pytest.fixture
async def door(place: Any) -> AsyncIterator[Any]:
    """Calls the served platform: `await door("GET", path)` gives status, headers and text."""
    administration = place.platform.administration()
    tokens = {
        scope: (await administration.issue_token("ours", name="test", scopes=[Scope(scope)]))[1] for scope in ("admin", "search")
    }
    app = build_app(Settings(), place.platform.router, place.platform)
    async with TestClient(TestServer(app, host="127.0.0.1")) as client:

        async def call(method: str, path: str, *, scope: str = "admin", json: object = None, **headers: str) -> Any:
            sent = {"Authorization": f"Bearer {tokens[scope]}"} | headers
            async with client.request(method, f"{ROOT}{path}", json=json, headers=sent) as response:
                text = await response.text()
                return SimpleNamespace(status=response.status, headers=response.headers, text=text)

        yield call


USAGE = "/organizations/ours/search/usage?from=2026-11-01&to=2026-11-30"


async def test_usage_as_json(history: Any, door: Any) -> None:
    answer = await door("GET", f"{USAGE}&by=agent,outcome")
    assert json.loads(answer.text) == {
        "from": "2026-11-01",
        "to": "2026-11-30",
        "rows": [
            {"agent": a, "outcome": o, "searches": n, "vendorRequests": 0, "costMicrousd": c, "results": r, "cached": 0}
            for a, o, n, c, r in [
                ("default", "ok", 3, 0, 3),
                ("default", "provider_unavailable", 1, 0, 0),
                ("robot", "ok", 1, 0, 1),
                ("robot", "unknown", 1, 10_000, 1),
            ]
        ],
        "total": {"searches": 6, "vendorRequests": 0, "costMicrousd": 10_000, "results": 5, "cached": 0},
    }


@pytest.mark.parametrize(("suffix", "headers"), [("", {"Accept": "text/csv"}), ("&format=csv", {})])
async def test_usage_as_csv(history: Any, door: Any, suffix: str, headers: dict[str, str]) -> None:
    answer = await door("GET", USAGE + suffix, **headers)
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(rows) == 5
    assert rows[0] == {
        "day": "2026-11-29", "agent": "default", "provider": "acme", "outcome": "ok", "searches": "1",
        "vendorRequests": "0", "costMicrousd": "0", "results": "1", "cached": "0",
    }  # fmt: skip


async def test_usage_is_an_admins(door: Any) -> None:
    assert (await door("GET", USAGE, scope="search")).status == 403
    assert (await door("GET", "/organizations/theirs/search/usage")).status == 403
    assert (await door("GET", f"{USAGE}&format=xml")).status == 400


async def test_limits_and_caps_are_set_at_the_door(place: Any, door: Any) -> None:
    answer = await door("PUT", "/organizations/ours/limits", json={"monthlyBudgetMicrousd": 25_000_000, "searchesPerMinute": 1})
    told = json.loads(answer.text)
    assert [told[name] for name in ("monthlyBudgetMicrousd", "searchesPerMinute", "concurrency")] == [25_000_000, 1, 16]
    answer = await door("PUT", "/organizations/ours/agents/default", json={"tools": ["web.*"], "maxSearchesPerDay": 2})
    assert json.loads(answer.text)["maxSearchesPerDay"] == 2
    for name in ("searchesPerMinute", "maxSearchesPerDay"):
        path = "limits" if name == "searchesPerMinute" else "agents/default"
        refused = await door("PUT", f"/organizations/ours/{path}", json={name: "many"})
        assert (refused.status, json.loads(refused.text)["faults"][0]["path"]) == (400, f"$.{name}")


async def test_a_refusal_tells_when_to_come_back(place: Any, door: Any) -> None:
    await place.cap(0)
    with freeze_time("2026-11-30T23:00:00Z", real_asyncio=True):
        answer = await door("POST", "/action/search/web", scope="search", json={"query": "tea"})
    assert (answer.status, answer.headers["Retry-After"], json.loads(answer.text)["code"]) == (429, "3600", "daily_cap_reached")


async def test_a_dry_run_at_the_door(place: Any, door: Any) -> None:
    answer = await door("POST", "/action/search/web", scope="search", json={"query": "tea", "maxResults": 30, "dryRun": True})
    told = json.loads(answer.text)
    assert (answer.status, told["vendorRequests"], told["leftToday"], told["refused"]) == (200, 3, 200, None)
    assert (place.records(), place.vendors.asked) == ([], [])
    for is_dry in (False, None):
        done = await door("POST", "/action/search/web", scope="search", json={"query": "tea", "dryRun": is_dry})
        assert (done.status, "results" in json.loads(done.text)) == (200, True)
    refused = await door("POST", "/action/search/web", scope="search", json={"query": "tea", "dryRun": "yes"})
    assert (refused.status, json.loads(refused.text)["faults"][0]["path"]) == (400, "$.dryRun")
    refused = await door("POST", "/action/search/web", scope="search", json={"query": "tea", "dryRun": True, "freshnes": "P7D"})
    assert refused.status == 400


# The command line


@pytest.fixture
def command(place: Any, monkeypatch: pytest.MonkeyPatch, registry: Any) -> Callable[..., Result]:
    """Runs a command on the test's database, in this process."""
    monkeypatch.setattr("searchport_platform.cli.tenants.configure_logs", lambda **_: None)
    monkeypatch.setattr("searchport_platform.app.Registry.discover", lambda _: registry)

    def run(*arguments: str, **environment: str) -> Result:
        store = place.store
        env: dict[str, str | None] = {
            "SEARCHPORT_DATABASE_URL": store.url,
            "SEARCHPORT_SECRET_KEYS": store.secret_keys or None,
            "COLUMNS": "100",
        }
        env |= environment
        return CliRunner().invoke(command_line, list(arguments), env=env, prog_name="searchport")

    return run


async def test_the_command_line_draws_bars(history: Any, command: Any) -> None:
    done = await asyncio.to_thread(command, "usage", "ours", "--from", "2026-11-01", "--to", "2026-11-30")
    assert (done.exit_code, [line.rstrip() for line in done.output.splitlines()]) == (
        0,
        [
            " day         searches                            requests   USD",
            " 2026-11-29         2  ████████████                     0  0.00",
            " 2026-11-30         4  ████████████████████████         0  0.01",
            " total              6                                   0  0.01",
        ],
    )


async def test_the_command_line_tells_json_and_nothing(history: Any, command: Any) -> None:
    done = await asyncio.to_thread(command, "usage", "ours", "--json", "--from", "2026-11-30", "--to", "2026-11-30")
    assert json.loads(done.output)["total"]["searches"] == 4
    done = await asyncio.to_thread(command, "usage", "ours", "--from", "2026-10-01", "--to", "2026-10-31")
    assert done.output.strip() == "No searches from 2026-10-01 to 2026-10-31."
    assert (await asyncio.to_thread(command, "usage", "ours", "--by", "week")).exit_code == 2


async def test_limits_and_caps_are_set_on_the_command_line(place: Any, command: Any) -> None:
    done = await asyncio.to_thread(command, *"org limit ours --monthly-budget 25.50 --per-minute 60 --concurrency 8".split())
    assert done.exit_code == 0, done.output
    (firm,) = await place.platform.administration().list_organizations()
    assert (firm.monthly_budget_microusd, firm.searches_per_minute, firm.concurrency) == (25_500_000, 60, 8)
    done = await asyncio.to_thread(command, *"agent put ours robot --tool web.* --max-searches-per-day 5".split())
    assert done.exit_code == 0, done.output
    (robot,) = await place.platform.administration().list_agents("ours", agent="robot")
    assert robot.max_searches_per_day == 5
    assert (await asyncio.to_thread(command, "org", "limit", "ours", "--monthly-budget", "much")).exit_code == 2


def test_a_price_table_that_cannot_be_read_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCHPORT_PRICES", '{"acme": "cheap"}')
    with pytest.raises(SettingsError, match="SEARCHPORT_PRICES: the price of 'acme'"):
        load_settings()


# Listeners


async def test_listeners_are_given_each_record_and_one_that_fails_harms_nobody(place: Any, logged: Callable[[], str]) -> None:
    told: list[Record] = []

    def broken(_: Record) -> None:
        raise RuntimeError("canary-of-the-listener")

    async with place.open(listeners=Listeners({"broken": broken, "books": told.append})) as other:
        envelope = await other.search(place.caller, SearchRequest("canary-query"))
    (record,) = told
    assert (record.opening.id, record.closing.outcome, record.closing.results) == (envelope.request_id, "ok", 1)
    assert "canary" not in repr(record)
    assert "RuntimeError" in logged()
    assert "canary-of-the-listener" not in logged()


def entry(load: Callable[[], object]) -> Any:
    return SimpleNamespace(name="books", dist=SimpleNamespace(name="acme-books"), load=load)


def test_listeners_are_found_by_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    monkeypatch.setattr(listeners, "entry_points", lambda *, group: [entry(lambda: seen.append)] if "usage" in group else [])
    assert Listeners.discover().functions == {"books": seen.append}


@pytest.mark.parametrize("loaded", [lambda: 1 / 0, lambda: "no function"])
def test_a_listener_that_cannot_be_loaded_stops_the_start_by_name(monkeypatch: pytest.MonkeyPatch, loaded: Any) -> None:
    monkeypatch.setattr(listeners, "entry_points", lambda *, group: [entry(loaded)])
    with pytest.raises(RegistryError, match="'books' of 'acme-books'"):
        Listeners.discover()


async def test_the_books_hold_no_query_url_or_key(place: Any) -> None:
    await place.platform.administration().store_credential("ours", "keyed", "canary-key-0123456789")
    await place.select("keyed")
    await place.search("canary-query", site="canary-site.example")
    disk = place.store.bytes_on_disk()
    assert b"keyed" in disk
    assert [word for word in (b"canary-query", b"canary-site", b"canary-key", b"https://") if word in disk] == []
