"""Many calls are admitted by what is read for all of them at once; each by nothing but its own organization's rows."""

from collections.abc import Collection, Iterator
from itertools import product
from typing import Any

import pytest
from sqlalchemy import Engine, event

from searchport import SearchError
from searchport_platform.storage.engine import transaction
from searchport_platform.tenancy import tokens
from searchport_platform.tenancy.admission import Admission, Caller, admit, admit_all

Outcomes = dict[Caller, Admission | SearchError]


@pytest.fixture
def statements() -> Iterator[list[str]]:
    """The SQL of everything that reaches a database."""
    found: list[str] = []

    def look(_connection: object, _cursor: object, sql: str, *_rest: object) -> None:
        if not sql.startswith("BEGIN"):
            found.append(sql)

    event.listen(Engine, "before_cursor_execute", look)
    yield found
    event.remove(Engine, "before_cursor_execute", look)


async def read(bench: Any, callers: Collection[Caller]) -> Outcomes:
    async with transaction(bench.platform.engine) as connection:
        return await admit_all(connection, callers)


async def read_each_alone(bench: Any, callers: Collection[Caller]) -> Outcomes:
    found: Outcomes = {}
    async with transaction(bench.platform.engine) as connection:
        for caller in callers:
            try:
                found[caller] = await admit(connection, caller)
            except SearchError as error:
                found[caller] = error
    return found


def comparable(found: Outcomes) -> dict[Caller, object]:
    return {caller: str(each) if isinstance(each, SearchError) else each for caller, each in found.items()}


async def make_two(bench: Any) -> list[str]:
    """Two organizations with the same names and different things, and a third that has selected nothing; gives tokens' ids."""
    for name, provider in (("ours", "acme"), ("theirs", "beta")):
        await bench.tenant(name, provider, keys={"acme": f"key-of-{name}-acme", "beta": f"key-of-{name}-beta"})
        await bench.administration.put_operator_settings(name, "acme", {"base_url": f"https://{name}.acme.example"})
        await bench.administration.put_agent(
            name, "robot", tools=["web.*"], credentials=["search.apiKey"], max_searches_per_day=len(name)
        )
        await bench.administration.put_agent(name, "barred", tools=[], credentials=[])
    await bench.administration.create_organization("bare", "Bare")
    texts = [await bench.token(name, "search") for name in ("ours", "theirs")]
    return [text.removeprefix(tokens.PREFIX)[:16] for text in texts]


async def test_callers_that_are_read_together_are_decided_as_each_alone(bench: Any) -> None:
    """Every mix of organizations, agents and tokens, those of another and of nobody with them."""
    made = await make_two(bench)
    organizations = ["ours", "theirs", "bare", "nobody", "ours\0", "' OR '1'='1"]
    agents = ["default", "robot", "barred", "nobody", "robot\0", "", '"]', "ü"]
    callers = {
        Caller(organization=organization, agent=agent, token=token)
        for organization, agent, token in product(organizations, agents, [None, *made, "0" * 16, "", "\0"])
    }
    together = await read(bench, callers)
    assert comparable(together) == comparable(await read_each_alone(bench, callers))
    assert {
        (caller.organization, caller.agent, caller.token) for caller, found in together.items() if isinstance(found, Admission)
    } == {
        (name, agent, token)
        for name, own in zip(("ours", "theirs"), made, strict=True)
        for agent in ("default", "robot")
        for token in (None, own)
    }


async def test_each_is_given_what_is_its_organizations_own(bench: Any) -> None:
    """Also no key of a provider that another organization has selected and this one has not."""
    await make_two(bench)
    callers = {name: Caller(organization=name, agent="robot") for name in ("ours", "theirs")}
    together = await read(bench, callers.values())
    for name, provider in (("ours", "acme"), ("theirs", "beta")):
        found = together[callers[name]]
        assert isinstance(found, Admission)
        assert (found.organization.id, found.selection.choice.provider, found.agent.max_searches_per_day) == (
            name,
            provider,
            len(name),
        )
        assert {**found.operator_settings} == {"acme": {"base_url": f"https://{name}.acme.example"}}
        assert list(found.credentials) == [provider]
        assert bench.platform._build_route(found, found.selection.choice).credential == f"key-of-{name}-{provider}"


async def test_more_callers_take_no_more_statements(bench: Any, statements: list[str]) -> None:
    """And one refused alone takes a single one; nobody, none."""
    await make_two(bench)
    many = [Caller(organization=of, agent=agent) for of in ("ours", "theirs", "x") for agent in ("robot", *map(str, range(700)))]
    counts = []
    for callers in (many, many[:1], [Caller(organization="nobody")], []):
        del statements[:]
        assert set(await read(bench, callers)) == set(callers)
        counts.append(len(statements))
    assert counts == [4, 4, 1, 0]


async def test_a_name_that_no_database_takes_is_an_error_and_no_other_name(bench: Any) -> None:
    """A lone surrogate; the writer then tries the callers of its batch one by one."""
    await make_two(bench)
    with pytest.raises((UnicodeEncodeError, SearchError)):
        await read(bench, [Caller(organization="ours", agent="robot\ud800"), Caller(organization="ours", agent="robot")])
