"""Keys, selections, switches and rotations of three tenants in any order: a search's outcome is what a simple model says."""

import asyncio
import base64
import json
import sqlite3
import tempfile
from contextlib import AsyncExitStack, closing
from pathlib import Path
from types import MappingProxyType
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from searchport.errors import SearchError
from searchport.request import SearchRequest
from searchport.testing import FakeAnswer, FakeWeb
from searchport_platform.platform import Caller, Platform
from searchport_platform.registry import Registry
from searchport_platform.routing.clients import HttpClients
from searchport_platform.routing.router import Router
from searchport_platform.tenancy.sealing import new_key
from searchport_platform.tenancy.selections import Choice, Selection

TENANTS = st.sampled_from(["one", "two", "three"])
KEYED = ("acme", "beta")
PROVIDERS = (*KEYED, "open")


@attrs.define
class Model:
    """What an organization is. keys: provider -> its key. selected: the provider, then its fallbacks."""

    keys: dict[str, str] = attrs.field(factory=dict)
    selected: tuple[str, ...] = ()


class Tenancy(RuleBasedStateMachine):
    """Runs the real platform on a real file beside the model."""

    registry: Registry

    @initialize()
    def begin(self) -> None:
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory(prefix="searchport-machine-")
        self.database = Path(self.folder.name) / "searchport.db"
        self.stack = AsyncExitStack()
        self.ring = [new_key()]
        self.model: dict[str, Model] = {}
        self.off: set[str] = set()
        self.failing: set[str] = set()
        self.stored = 0
        self.runner.run(self.start())

    async def start(self) -> None:
        self.web = await self.stack.enter_async_context(FakeWeb())
        for name in PROVIDERS:

            async def answer(_request: object, name: str = name) -> FakeAnswer:
                return FakeAnswer(status=403) if name in self.failing else FakeAnswer(json={"hits": []})

            self.web.handle(f"https://api.{name}.example/find", answer)
        self.opened = AsyncExitStack()
        await self.reopen()

    async def reopen(self) -> None:
        """Another process, with the ring as it is now."""
        await self.opened.aclose()
        clients = await self.opened.enter_async_context(HttpClients(build=self.web.client))
        keys = ",".join(base64.b64encode(key).decode() for key in self.ring)
        router = Router(registry=self.registry, clients=clients)
        opening = Platform.open(f"sqlite:///{self.database}", secret_keys=keys, router=router, prepare=False)
        self.platform = await self.opened.enter_async_context(opening)

    def teardown(self) -> None:
        async def close() -> None:
            await self.opened.aclose()
            await self.stack.aclose()

        if hasattr(self, "runner"):
            self.runner.run(close())
            self.runner.close()
            self.folder.cleanup()

    def change(self, verb: str, tenant: str, *arguments: Any) -> bool:
        """Runs a verb of administration; False where there is no such organization, which the model must say too."""
        try:
            self.runner.run(getattr(self.platform.administration(), verb)(tenant, *arguments))
        except SearchError as error:
            assert (str(error.code), tenant in self.model) == ("forbidden", False)
            return False
        assert tenant in self.model
        return True

    @rule(tenant=TENANTS)
    def create(self, tenant: str) -> None:
        made = self.platform.administration().create_organization(tenant, tenant)
        if tenant in self.model:
            with pytest.raises(SearchError, match="is taken"):
                self.runner.run(made)
        else:
            self.runner.run(made)
            self.model[tenant] = Model()

    @rule(tenant=TENANTS, provider=st.sampled_from(KEYED))
    def store(self, tenant: str, provider: str) -> None:
        self.stored += 1
        key = f"key-{self.stored:04}-of-{tenant}-for-{provider}"
        if self.change("store_credential", tenant, provider, key):
            self.model[tenant].keys[provider] = key

    @rule(tenant=TENANTS, provider=st.sampled_from(KEYED))
    def delete_key(self, tenant: str, provider: str) -> None:
        if self.change("remove_credential", tenant, provider):
            self.model[tenant].keys.pop(provider, None)

    @rule(tenant=TENANTS, chosen=st.permutations(PROVIDERS), most=st.integers(1, 3))
    def select(self, tenant: str, chosen: list[str], most: int) -> None:
        first, *others = (Choice(provider=provider) for provider in chosen[:most])
        if self.change("put_selection", tenant, Selection(choice=first, fallbacks=tuple(others))):
            self.model[tenant].selected = tuple(chosen[:most])

    @rule(tenant=TENANTS)
    def deselect(self, tenant: str) -> None:
        if self.change("remove_selection", tenant):
            self.model[tenant].selected = ()

    @rule(provider=st.sampled_from(PROVIDERS))
    def turn_off(self, provider: str) -> None:
        self.runner.run(self.platform.administration().turn_off(provider, "a drill"))
        self.off.add(provider)

    @precondition(lambda self: self.off)
    @rule(data=st.data())
    def turn_on(self, data: st.DataObject) -> None:
        provider = data.draw(st.sampled_from(sorted(self.off)))
        assert self.runner.run(self.platform.administration().turn_on(provider))
        self.off.discard(provider)

    @rule(provider=st.sampled_from(PROVIDERS))
    def vendor_fails_or_mends(self, provider: str) -> None:
        self.failing ^= {provider}

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        tenant = data.draw(st.sampled_from(sorted(self.model)))
        self.runner.run(self.platform.administration().delete_organization(tenant))
        del self.model[tenant]

    @rule()
    def rotate(self) -> None:
        """A new key first; every credential sealed anew; the old key taken out."""

        async def rotate() -> None:
            self.ring.insert(0, new_key())
            await self.reopen()
            assert [left async for left in self.platform.administration().rotate_keys()][-1] == 0
            del self.ring[1:]
            await self.reopen()

        self.runner.run(rotate())

    def expect(self, tenant: str) -> tuple[str, list[tuple[str, str | None]]]:
        """What the model says: who answers, or the error's code; and whom the platform asked, with which key."""
        if tenant not in self.model:
            return "unauthorized", []
        asked: list[tuple[str, str | None]] = []
        first_error = ""
        for provider in self.model[tenant].selected:
            key = self.model[tenant].keys.get(provider)
            if provider in self.off or (provider in KEYED and key is None):
                if not first_error:
                    return "provider_not_configured", []
                continue
            asked.append((provider, key))
            if provider not in self.failing:
                return provider, asked
            first_error = first_error or "provider_rejected"
        return first_error or "provider_not_configured", asked

    @rule(tenant=TENANTS)
    def search(self, tenant: str) -> None:
        before = len(self.web.requests)
        try:
            envelope = self.runner.run(self.platform.search(Caller(organization=tenant), SearchRequest("tea")))
            outcome = envelope.provider
        except SearchError as error:
            outcome = str(error.code)
        requests = self.web.requests[before:]
        asked = [(request.host.split(".")[1], request.headers.get("X-Key")) for request in requests]
        assert (outcome, asked) == self.expect(tenant)

    @invariant()
    def every_tenant_is_as_the_model_says(self) -> None:
        if not hasattr(self, "runner"):
            return

        with closing(sqlite3.connect(self.database)) as connection:
            found: dict[str, tuple[set[str], tuple[str, ...]]] = {
                row[0]: (set(), ()) for row in connection.execute("SELECT id FROM organizations")
            }
            for organization, provider in connection.execute("SELECT organization, provider FROM credentials"):
                found[organization][0].add(provider)
            for organization, provider, fallbacks in connection.execute(
                "SELECT organization, provider, fallbacks FROM selections"
            ):
                chosen = (provider, *(fallback["provider"] for fallback in json.loads(fallbacks)))
                found[organization] = found[organization][0], chosen
        assert found == {tenant: (set(m.keys), m.selected) for tenant, m in self.model.items()}


def test_tenants_do_what_the_model_says(registry: Registry) -> None:
    """Every step, and every search, against the model."""
    machine = type("Machine", (Tenancy,), {"registry": Registry(MappingProxyType(dict(registry.toolkits)))})
    chosen = settings(max_examples=max(20, settings().max_examples // 5), stateful_step_count=15, deadline=None)
    run_state_machine_as_test(machine, settings=settings(chosen, suppress_health_check=[HealthCheck.too_slow]))
