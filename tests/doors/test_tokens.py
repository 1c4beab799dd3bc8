"""One token, in every spelling that other vendors' clients have for theirs."""

import base64
from typing import Any

import pytest

PATH = "/compat/searxng/search"


def basic(user: str, password: str, encoding: str = "utf-8") -> str:
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode(encoding)).decode()}"


async def enter(place: Any, headers: Any, path: str = PATH, **params: str) -> tuple[int, str | None]:
    """Status and code of a search with these headers."""
    given = {"q": "tea", **({"format": "json"} if path == PATH else {}), **params}
    async with place.client.get(path, params=given, headers=headers) as response:
        return response.status, response.headers.get("X-Error-Code")


@pytest.mark.parametrize(
    "spell",
    [
        lambda token: {"Authorization": f"Bearer {token}"},
        lambda token: {"authorization": f"bearer  {token} "},
        lambda token: {"Authorization": basic("acme", token)},
        lambda token: {"Authorization": basic("anything", token)},
        lambda token: {"Authorization": basic("", token)},
        lambda token: {"Authorization": basic("zoë", token)},
        lambda token: {"Authorization": basic("zoë", token, "latin-1")},
        lambda token: {"X-API-Key": token},
        lambda token: {"x-api-key": token},
        lambda token: {"X-API-KEY": token},
        lambda token: {"X-Subscription-Token": token},
        lambda token: {"X-API-Key": token, "Authorization": f"Bearer {token}"},
    ],
)
async def test_a_token_is_taken_in_every_spelling(place: Any, spell: Any) -> None:
    assert await enter(place, spell(place.token)) == (200, None)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer  "},
        {"Authorization": "Basic"},
        {"Authorization": "Basic !!!"},
        {"Authorization": "Basic /////w=="},
        {"Authorization": basic("acme", "")},
        {"X-API-Key": ""},
        {"X-Subscription-Token": " "},
    ],
)
async def test_what_is_no_token_is_none(place: Any, headers: dict[str, str]) -> None:
    assert await enter(place, headers) == (401, "unauthorized")


async def test_other_schemes_and_users_are_no_tokens(place: Any) -> None:
    for value in (f"Token {place.token}", place.token, basic(place.token, "x"), f"Digest {place.token}"):
        assert await enter(place, {"Authorization": value}) == (401, "unauthorized")


async def test_two_different_tokens_are_none(place: Any) -> None:
    headers = {"Authorization": f"Bearer {place.token}", "X-API-Key": place.tokens["beta", "search"]}
    assert await enter(place, headers) == (401, "unauthorized")
    assert [script.asked for script in place.scripts.values()] == [[], [], []]


async def test_a_token_in_the_url_is_taken_at_googles_door_alone(place: Any) -> None:
    google, brave = "/compat/google/customsearch/v1", "/compat/brave/res/v1/web/search"
    assert await enter(place, {}, google, key=place.token) == (200, None)
    assert await enter(place, {}, brave, key=place.token) == (422, "unauthorized")
    assert await enter(place, {}, key=place.token) == (401, "unauthorized")


async def test_the_organization_is_the_tokens_whatever_user_is_named(place: Any) -> None:
    assert await enter(place, {"Authorization": basic("beta", place.token)}) == (200, None)
    assert (len(place.ours.asked), place.scripts["theirs"].asked) == (1, [])


async def test_an_agent_is_named_as_at_the_platforms_own_door(place: Any) -> None:
    headers = {"Authorization": f"Bearer {place.token}", "X-Searchport-Agent": "robot"}
    assert await enter(place, headers) == (403, "forbidden")
