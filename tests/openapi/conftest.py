"""The whole server on a real database file, with an organization that selected the `fake` provider; vendors are a fake web's."""

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from jsonschema import Draft202012Validator
from stores import copy_sqlite

from searchport.testing import FakeWeb
from searchport_platform.app import build_app
from searchport_platform.doors.openapi import build_description
from searchport_platform.platform import Platform
from searchport_platform.registry import Registry
from searchport_platform.routing.clients import HttpClients
from searchport_platform.routing.router import Router
from searchport_platform.settings import Settings
from searchport_platform.tenancy.tokens import Scope

OPS_TOKEN = "ops-token"


def closed(schema: Any) -> Any:
    """The schema with every object closed, so that a property that it does not name is seen."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: closed(value) for key, value in schema.items()}
    return inner | ({"additionalProperties": False} if "properties" in schema and "type" in schema else {})


@attrs.frozen(kw_only=True)
class Served:
    """A server, its platform, and what it says of itself."""

    client: TestClient
    platform: Platform
    web: FakeWeb
    tokens: Mapping[str, str]

    @property
    def app(self) -> web.Application:
        """The server's application."""
        assert self.client.app is not None
        return self.client.app

    @property
    def description(self) -> dict[str, Any]:
        """Its OpenAPI description, made anew."""
        return build_description(self.app, "0")

    def errors_of(self, shape: str, value: object) -> list[str]:
        """What is wrong with a value as one of the description's components, a property that it does not name included."""
        schemas = closed(self.description["components"]["schemas"])
        schema = {"$ref": f"#/components/schemas/{shape}", "components": {"schemas": schemas}}
        return [f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(value)]

    async def call(
        self, method: str, path: str, body: object = None, *, token: str | None = None, **headers: str
    ) -> tuple[int, Any, Mapping[str, str]]:
        """Status, decoded body and headers of one call. token: the name of one."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            sent["Authorization"] = f"Bearer {self.tokens[token]}"
        async with self.client.request(method, path, json=body, headers=sent) as response:
            text = await response.text()
            is_json = response.content_type.endswith("json")
            return response.status, json.loads(text) if is_json and text else text, response.headers


@pytest.fixture
async def served(tmp_path: Path, migrated: Path) -> AsyncIterator[Served]:
    """The server, with tokens named by what they allow: `search`, `admin`, `all` of an organization's, `operator`, `ops`."""
    store = copy_sqlite(migrated, tmp_path / "searchport.db")
    async with FakeWeb() as fake_web, HttpClients(build=fake_web.client) as clients:
        router = Router(registry=Registry.discover(), clients=clients)
        async with Platform.open(store.url, router=router, prepare=False) as platform:
            administration = platform.administration()
            await administration.create_organization("acme", "Acme", provider="fake")
            tokens = {"ops": OPS_TOKEN}
            for name, organization, scopes in (
                ("search", "acme", ["search"]),
                ("admin", "acme", ["admin"]),
                ("all", "acme", ["search", "agents", "admin"]),
                ("operator", None, ["operator"]),
            ):
                _, tokens[name] = await administration.issue_token(organization, name=name, scopes=[*map(Scope, scopes)])
            fake_web.answer("https://api.search.brave.com/res/v1/web/search", json={"type": "search", "web": {"results": []}})
            app = build_app(Settings(ops_token=OPS_TOKEN), router, platform)
            async with TestClient(TestServer(app, host="127.0.0.1")) as client:
                yield Served(client=client, platform=platform, web=fake_web, tokens=tokens)
