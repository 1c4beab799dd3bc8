"""The opt-in cache, as an organization meets it."""

from typing import Any

import pytest


@pytest.mark.parametrize("seconds", [-1, 86_401, "10", 1.5, True])
@pytest.mark.only("sqlite", "refused before anything is written")
async def test_cache_seconds_are_whole_and_at_most_a_day(bench: Any, seconds: Any) -> None:
    ours = await bench.tenant("ours", "open")
    body = {"provider": "open", "cacheSeconds": seconds}
    assert (await bench.call("PUT", f"{ours.path}/search/selection", ours.admin, body))[0] == 400


async def test_an_answer_is_given_again_to_the_same_organization_alone(bench: Any) -> None:
    for name in ("ours", "theirs"):
        tenant = await bench.tenant(name, "open")
        body = {"provider": "open", "cacheSeconds": 60}
        assert (await bench.call("PUT", f"{tenant.path}/search/selection", tenant.admin, body))[0] == 200
        answers = [await bench.search(tenant.search, "tea") for _ in range(2)]
        assert [answer["cached"] for _, answer in answers] == [False, True]
    assert len(bench.web.requests) == 2


async def test_without_cache_seconds_every_call_asks_the_vendor(bench: Any) -> None:
    ours = await bench.tenant("ours", "open")
    answers = [await bench.search(ours.search, "tea") for _ in range(2)]
    assert [answer["cached"] for _, answer in answers] == [False, False]
    assert len(bench.web.requests) == 2
