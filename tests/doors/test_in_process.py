"""The door in the platform's own process answers as the route does."""

from typing import Any

import pytest

from searchport import ErrorCode, SearchError
from searchport_platform.doors.in_process import LocalTransport
from searchport_platform.platform import ACTION, Caller

ACME = Caller(organization="acme")


async def test_what_cannot_be_read_is_a_mistake_whatever_the_plan_would_be_refused_with(place: Any) -> None:
    await place.platform.administration().put_agent("acme", "default", tools=[], credentials=[])
    transport = LocalTransport(place.platform, ACME)
    refused = (await transport.call(ACTION, {"query": "tea", "dryRun": True}))["refused"]
    assert refused["code"] == "forbidden"  # type: ignore[index]  # the platform API's JSON
    with pytest.raises(SearchError) as caught:
        await transport.call(ACTION, {"query": "tea", "freshness": "P1M", "dryRun": True})
    assert caught.value.code is ErrorCode.VALIDATION_ERROR


async def test_a_dry_run_is_true_or_false_or_not_given(place: Any) -> None:
    transport = LocalTransport(place.platform, ACME)
    for given in (None, False):
        assert (await transport.call(ACTION, {"query": "tea", "dryRun": given}))["provider"] == "ours"
    with pytest.raises(SearchError, match=r"\$\.dryRun: expected true or false"):
        await transport.call(ACTION, {"query": "tea", "dryRun": 1})
