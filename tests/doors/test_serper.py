"""The Serper drop-in: LiteLLM's exact request, and the form with everything in the URL."""

from typing import Any

import pytest

from searchport import ErrorCode, Recency, Safe, SearchError, SearchRequest

PATH = "/compat/serper/search"


async def post(place: Any, token: str | None = None, **given: Any) -> tuple[int, dict[str, Any]]:
    headers = {"X-API-KEY": token or place.token}
    async with place.client.post(PATH, json={"q": "tea", **given}, headers=headers) as response:
        return response.status, await response.json()


async def test_an_answer_is_of_serpers_shape(place: Any) -> None:
    place.ours.pages(1, snippet="About tea", published_date="2026-09-05T10:15Z")
    assert (await post(place, num=5))[1] == {
        "searchParameters": {"q": "tea", "type": "search", "num": 5, "page": 1, "engine": "google"},
        "organic": [
            {
                "title": "Page 1",
                "link": "https://pages.example/1",
                "snippet": "About tea",
                "position": 1,
                "date": "Sep 5, 2026",
            }
        ],
        "credits": 1,
    }


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"q": "(tea) (site:example.com)", "num": 10}, {"site": "example.com"}),
        ({"gl": "us", "hl": "en"}, {"country": "US", "language": "en"}),
        ({"tbs": "qdr:w"}, {"recency": Recency.WEEK}),
        ({"safe": "active"}, {"safe": Safe.STRICT}),
        ({"autocorrect": False, "type": "search", "page": 1}, {}),
        ({"num": 4, "page": 3}, {"max_results": 12}),
    ],
)
async def test_an_honoured_parameter_reaches_the_provider(place: Any, given: dict[str, Any], expected: dict[str, Any]) -> None:
    assert (await post(place, **given))[0] == 200
    assert place.ours.asked == [SearchRequest("tea", **expected)]


async def test_parameters_in_the_url_with_an_empty_body_are_read(place: Any) -> None:
    params = {"q": "tea", "num": "3", "gl": "us", "hl": "en"}
    headers = {"X-API-KEY": place.token, "Content-Type": "application/json"}
    async with place.client.post(PATH, params=params, headers=headers) as response:
        assert response.status == 200
    assert place.ours.asked == [SearchRequest("tea", max_results=3, country="US", language="en")]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("num", "3"),
        ("num", 51),
        ("page", 0),
        ("page", 6),
        ("page", True),
        ("tbs", "qdr:h"),
        ("tbs", "cdr:1,cd_min:1/1/2026"),
        ("type", "news"),
        ("location", "Austin"),
        ("q", "(tea) (site:a.example OR site:b.example)"),
    ],
)
async def test_what_would_change_the_results_unseen_is_refused_by_name(place: Any, name: str, value: Any) -> None:
    status, body = await post(place, **{name: value})
    assert (status, body["statusCode"], f"$.{name}: " in body["message"]) == (400, 400, True)
    assert place.ours.asked == []


async def test_a_wrong_key_is_told_as_serper_tells_it(place: Any) -> None:
    status, body = await post(place, token="wrong")
    assert (status, body) == (403, {"message": "Unauthorized.", "statusCode": 403, "code": "unauthorized"})


async def test_a_cap_is_a_429(place: Any) -> None:
    place.ours.outcome = SearchError(ErrorCode.DAILY_CAP_REACHED)
    assert (await post(place))[0] == 429
