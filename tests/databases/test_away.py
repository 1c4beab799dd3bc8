"""The server stops, is killed, cuts its connections, falls silent, and comes back: on a real one."""

import asyncio
import signal
import time
from typing import Any

import pytest
from sqlalchemy import select

from searchport import SearchError
from searchport_platform.platform import Platform
from searchport_platform.storage import transactions
from searchport_platform.storage.transactions import transaction
from searchport_platform.tenancy.selections import Choice, Selection
from searchport_platform.tenancy.tokens import Scope

TERMINATE = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'searchport'"


async def seconds(call: Any) -> tuple[Any, float]:
    """What it gives, and how long it took."""
    started = time.monotonic()
    return await call, time.monotonic() - started


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT], ids=["stopped", "killed"])
async def test_a_server_that_is_away_is_told_at_once_and_no_vendor_is_asked(
    platform: Platform, own_server: Any, vendor: Any, search: Any, number: int
) -> None:
    assert (await search(platform), vendor.asked) == ("ok", 1)
    await asyncio.to_thread(own_server.stop, number)
    told, took = await seconds(search(platform))
    assert (told, vendor.asked) == ("storage_unavailable", 1)
    assert took < 5, "a server that refuses connections is known at once"
    await asyncio.to_thread(own_server.start)
    assert (await search(platform), vendor.asked) == ("ok", 2)


async def test_every_verb_is_told(platform: Platform, own_server: Any) -> None:
    _, token = await platform.administration().issue_token("ours", name="test", scopes=[Scope.SEARCH])
    await asyncio.to_thread(own_server.stop)
    administration = platform.administration()
    for call in (
        platform.authenticate(token),
        administration.list_organizations(),
        administration.create_organization("theirs", "Theirs"),
        platform.check_storage(),
    ):
        with pytest.raises(SearchError) as refused:
            await call
        assert (str(refused.value.code), refused.value.code.is_retryable) == ("storage_unavailable", True)
    await asyncio.to_thread(own_server.start)
    assert (await platform.authenticate(token)).organization == "ours"


async def test_connections_that_were_cut_are_not_used_again(
    platform: Platform, server_store: Any, search: Any, vendor: Any
) -> None:
    """Also those of calls that came at once, so that the pool is full of them."""
    assert await asyncio.gather(*(search(platform) for _ in range(12))) == ["ok"] * 12
    await asyncio.gather(*(platform.administration().list_organizations() for _ in range(12)))
    cut = await asyncio.to_thread(server_store.sql, TERMINATE)
    assert len(cut) >= 2
    assert await asyncio.gather(*(search(platform) for _ in range(12))) == ["ok"] * 12
    assert len(await platform.administration().list_organizations()) == 1
    assert vendor.asked == 24


async def test_a_connection_that_is_cut_within_a_transaction_is_storage_that_is_away(
    platform: Platform, server_store: Any, search: Any
) -> None:
    async def ask_twice() -> None:
        async with transaction(platform.engine) as connection:
            await connection.execute(select(1))
            await asyncio.to_thread(server_store.sql, TERMINATE)
            await connection.execute(select(1))

    with pytest.raises(SearchError, match="database"):
        await ask_twice()
    assert await search(platform) == "ok"


async def test_an_answer_waits_for_a_server_that_restarts_to_close_its_record(
    platform: Platform, own_server: Any, server_store: Any, search: Any, vendor: Any
) -> None:
    async def restart() -> None:
        await asyncio.to_thread(own_server.stop)
        await asyncio.to_thread(own_server.start)

    vendor.act = restart
    assert await search(platform) == "ok"
    assert server_store.sql("SELECT outcome FROM records") == [("ok",)]


async def test_an_answer_whose_record_cannot_be_closed_is_not_given_and_counts(
    platform: Platform, own_server: Any, server_store: Any, search: Any, vendor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("searchport_platform.metering.meter.CLOSING_SECONDS", 0.2)
    vendor.act = lambda: asyncio.to_thread(own_server.stop)
    assert await search(platform) == "storage_unavailable"
    await asyncio.to_thread(own_server.start)
    assert server_store.sql("SELECT outcome FROM records") == [("started",)]
    assert server_store.sql("SELECT searches FROM agent_days") == [(1,)]


async def test_a_server_that_falls_silent_is_told_within_the_deadline(
    platform: Platform, own_server: Any, search: Any, vendor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As behind a network that is cut: nothing answers and nothing hangs up."""
    monkeypatch.setattr(transactions, "LONGEST_SECONDS", 0.5)
    await platform.administration().put_selection("ours", Selection(choice=Choice(provider="acme"), deadline_seconds=1))
    assert (await search(platform), vendor.asked) == ("ok", 1)
    own_server.freeze(on=True)
    try:
        told, took = await seconds(search(platform))
        assert (told, vendor.asked) == ("storage_unavailable", 1)
        assert took < 1.5
        with pytest.raises(SearchError, match="database"):
            _, took = await seconds(platform.check_storage())
        assert took < 5
    finally:
        own_server.freeze(on=False)
    async with asyncio.timeout(10):
        while await search(platform) != "ok":  # each waits for the server as long as a call does
            pass


async def test_a_start_without_a_server_is_one_clear_error(own_server: Any, server_store: Any, open_on: Any, logged: Any) -> None:
    await asyncio.to_thread(own_server.stop)
    with pytest.raises(SearchError) as refused:
        async with open_on(server_store):
            pass
    assert str(refused.value.code) == "storage_unavailable"
    assert str(own_server.folder) not in f"{refused.value} {logged()}"
