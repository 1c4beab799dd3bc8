"""What the admin API tells of a body that it does not take: the place, by name, and never a key."""

from typing import Any

import pytest

ROOT = "/api/platform/v1/organizations/acme"


async def send(place: Any, method: str, path: str, body: object) -> tuple[int, str]:
    """Status and words of one change."""
    headers = {"Authorization": f"Bearer {place.tokens['acme', 'admin']}"}
    async with place.client.request(method, f"{ROOT}/{path}", json=body, headers=headers) as response:
        return response.status, (await response.json())["detail"]


async def test_an_unknown_field_of_a_fallback_is_named(place: Any) -> None:
    body = {"provider": "ours", "fallbacks": ["theirs", {"provider": "bare", "setings": {}}]}
    status, words = await send(place, "PUT", "search/selection", body)
    assert (status, "$.setings: unknown field; did you mean 'settings'?" in words) == (400, True)


@pytest.mark.parametrize("body", ["sk-canary-1", ["sk-canary-1"], {"value": ["sk-canary-1"]}, {"value": {"a": "sk-canary-1"}}])
async def test_a_key_in_the_wrong_place_is_not_shown(place: Any, body: object) -> None:
    status, words = await send(place, "PUT", "search/providers/brave/credential", body)
    assert (status, "canary" in words) == (400, False)


@pytest.mark.parametrize("expiry", ["9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59", "2027-01-01T00:00:00", "soon", 1])
async def test_an_expiry_that_is_no_instant_is_refused_with_one_that_is(place: Any, expiry: object) -> None:
    status, words = await send(place, "POST", "tokens", {"name": "a", "scopes": ["search"], "expiresAt": expiry})
    assert (status, "such as 2027-01-01T00:00:00Z" in words) == (400, True)
