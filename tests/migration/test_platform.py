"""The same against a platform, whose organization has chosen its provider."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from aiohttp.test_utils import TestServer
from stores import copy_sqlite

from searchport_platform.app import build_app, build_router
from searchport_platform.platform import Platform
from searchport_platform.routing.clients import HttpClients
from searchport_platform.settings import Settings
from searchport_platform.tenancy.selections import Choice, Selection
from searchport_platform.tenancy.tokens import Scope

from .conftest import WITH_GOOGLE, Migrate, Vendor, call, read_report


@attrs.frozen
class Place:
    """A served platform with the organization `acme`. migrate: the command, with its address and its token."""

    platform: Platform
    migrate: Callable[..., Awaitable[Any]]

    async def select(self, provider: str, **limits: Any) -> None:
        """What the organization has chosen."""
        selection = Selection(choice=Choice(provider=provider), **limits)
        await self.platform.administration().put_selection("acme", selection)

    async def usage(self) -> int:
        """Calls that were counted."""
        async with self.platform.engine.connect() as connection:
            return int((await connection.exec_driver_sql("SELECT count(*) FROM records")).scalar_one())


@pytest.fixture
async def place(migrated: Path, migrate: Migrate, tmp_path: Path) -> AsyncIterator[Place]:
    """The platform, on loopback."""
    store = copy_sqlite(migrated, tmp_path / "searchport.db")
    async with (
        HttpClients() as clients,
        Platform.open(
            store.url, prepare=False, router=build_router(Settings(), clients, public_url="https://manual.example")
        ) as platform,
    ):
        administration = platform.administration()
        await administration.create_organization("acme", "Acme", provider="fake")
        _, token = await administration.issue_token("acme", name="test", scopes=[Scope.SEARCH])
        (tmp_path / "token").write_text(token, encoding="utf-8")
        async with TestServer(build_app(Settings(ops_token="ops"), platform.router, platform), host="127.0.0.1") as server:
            given = ("--url", str(server.make_url("")).rstrip("/"), "--token-file", "token")

            async def run(lines: list[str], *arguments: str) -> Any:
                return await asyncio.to_thread(migrate, lines, *given, *arguments)

            yield Place(platform, run)
    for thread in threading.enumerate():  # a database connection's thread ends a moment after it is closed
        if "_connection_worker_thread" in thread.name:
            await asyncio.to_thread(thread.join, 1)


async def test_the_organizations_provider_is_asked_and_compared(place: Place, google: Vendor) -> None:
    google.pages = {"*": ["https://example.com/tea/1", "https://example.com/tea/2", "https://elsewhere.example/"]}
    done = await place.migrate([call("tea"), call("tea")], *WITH_GOOGLE, "--json")
    report = read_report(done)
    assert (done.exit_code, report["target"], report["asked"]) == (0, "the platform", 1)
    assert report["overlap"] == pytest.approx(2 / 3, abs=1e-3)
    assert (report["targetNumbers"]["resultsPerCall"], report["targetNumbers"]["vendorRequests"]) == (3, 0)


async def test_a_dry_run_counts_nothing(place: Place) -> None:
    done = await place.migrate([call("tea"), call("milk", sort="date")], "--dry-run", "--json")
    report = read_report(done)
    assert (done.exit_code, report["refused"], report["expectedCostMicrousd"]) == (0, 1, 0)
    assert await place.usage() == 0


async def test_what_the_organizations_provider_refuses_is_named(place: Place) -> None:
    await place.select("duckduckgo")
    report = read_report(await place.migrate([call("tea", safe="active"), call("milk")], "--dry-run", "--json"))
    assert [(change["parameter"], change["becomes"], change["why"]) for change in report["changes"]] == [
        ("safe", "refused", "the provider cannot honour it")
    ]
    assert report["refusals"] == {"unsupported_option": 1}


async def test_what_the_organization_does_not_allow_is_named(place: Place) -> None:
    await place.select("fake", default_results=5, max_results=9)
    lines = [call("tea"), call("milk", num="5", start="6"), call("water", num="9")]
    report = read_report(await place.migrate(lines, "--json"))
    assert [(change["parameter"], change["becomes"]) for change in report["changes"]] == [
        ("num", "refused"),
        ("start", "refused"),
    ]
    assert (report["refused"], report["asked"]) == (2, 1)


async def test_what_only_the_answer_tells_to_be_ignored_is_counted(place: Place) -> None:
    await place.select("local")
    lines = [
        call("freshness", hl="de", gl="de"),
        call("freshness", hl="de", gl="de", quotaUser="u"),
        call("freshness", lr="lang_de"),
    ]
    report = read_report(await place.migrate(lines, "--json"))
    told = [(change["parameter"], change["becomes"], change["calls"]) for change in report["changes"]]
    assert told == [("gl", "ignored", 2), ("hl", "ignored", 2), ("lr", "ignored", 1)]


async def test_a_cap_that_is_used_up_is_told(place: Place) -> None:
    await place.platform.administration().put_agent("acme", "default", tools=["web.*"], credentials=[], max_searches_per_day=0)
    done = await place.migrate([call("tea")], "--json")
    assert (done.exit_code, read_report(done)["refusals"]) == (1, {"daily_cap_reached": 1})


async def test_plans_are_asked_of_no_more_calls_than_the_limit(place: Place) -> None:
    report = read_report(await place.migrate([call(q) for q in "abcd"], "--limit", "2", "--json"))
    assert (report["distinctCalls"], report["examined"], report["asked"]) == (4, 2, 2)
    assert await place.usage() == 2


async def test_a_wrong_token_stops_it(place: Place, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("canary", encoding="utf-8")
    done = await place.migrate([call("tea")])
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("searchport: unauthorized: ")
    assert "canary" not in done.output
