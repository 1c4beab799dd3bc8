"""The platform in one's own process, as a Python caller uses it."""

from pathlib import Path

import pytest

from searchport import ErrorCode, SearchError, SearchRequest
from searchport_platform import Caller, Platform


async def test_a_search_in_process_goes_to_the_organizations_provider(tmp_path: Path) -> None:
    async with Platform.open(database_url=f"sqlite:///{tmp_path / 'searchport.db'}") as platform:
        await platform.administration().create_organization("acme", "Acme", provider="fake")
        caller = Caller(organization="acme")
        envelope = await platform.search(caller, SearchRequest("red pandas", max_results=2))
        plain = await platform.call("action.search.web", {"query": "red pandas", "maxResults": 2}, caller)
    assert [result.title for result in envelope.results] == ["Result 1 for red pandas", "Result 2 for red pandas"]
    assert plain["results"][0]["title"] == "Result 1 for red pandas"  # type: ignore[index]  # the platform API's JSON


@pytest.mark.parametrize("action", ["action.search.images", "", "web.search"])
async def test_an_action_that_is_not_there_is_refused(tmp_path: Path, action: str) -> None:
    async with Platform.open(database_url="sqlite://") as platform:
        with pytest.raises(SearchError, match=r"\$\.action: no such action") as caught:
            await platform.call(action, {"query": "q"}, Caller(organization="acme"))
    assert caught.value.code is ErrorCode.VALIDATION_ERROR


async def test_an_organization_that_has_selected_nothing_says_so(tmp_path: Path) -> None:
    async with Platform.open(database_url="sqlite://") as platform:
        await platform.administration().create_organization("acme", "Acme")
        with pytest.raises(SearchError, match="selected no provider") as caught:
            await platform.search(Caller(organization="acme"), SearchRequest("q"))
    assert caught.value.code is ErrorCode.PROVIDER_NOT_CONFIGURED
