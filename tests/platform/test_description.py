"""The stateless service describes itself too."""

from collections.abc import Awaitable, Callable

from aiohttp.test_utils import TestClient
from openapi_spec_validator import validate

Serve = Callable[..., Awaitable[TestClient]]


async def test_a_server_without_a_database_describes_the_routes_that_it_has(serve: Serve) -> None:
    client = await serve(ops_token="t")
    async with client.get("/openapi.json") as response:
        description = await response.json()
    assert set(description["paths"]) == {"/healthz", "/readyz", "/ops/search", "/info", "/openapi.json"}
    validate(description)


async def test_it_names_no_tag_that_it_has_no_route_of(serve: Serve) -> None:
    client = await serve(ops_token="t")
    async with client.get("/openapi.json") as response:
        description = await response.json()
    assert {tag["name"] for tag in description["tags"]} == {"Health", "Stateless service", "Description"}
