"""No statement on a tenant's rows without an organization, read from what SQLAlchemy compiled; and how many a search takes."""

import asyncio
from collections.abc import Iterator
from typing import Any

import click
import pytest
from sqlalchemy import Engine, and_, delete, event, insert, literal, or_, select, update
from sqlalchemy.sql import operators
from sqlalchemy.sql.ddl import ExecutableDDLElement
from sqlalchemy.sql.dml import Delete, Insert, Update
from sqlalchemy.sql.elements import BinaryExpression, BooleanClauseList, Null, TextClause
from sqlalchemy.sql.schema import Table
from sqlalchemy.sql.visitors import iterate

from searchport_platform.cli.commands import cli as command_line
from searchport_platform.storage.asked import Asked
from searchport_platform.storage.schema import METADATA, TENANT_TABLES
from searchport_platform.tenancy import tokens

STATEMENTS_A_SEARCH = {"sqlite": 11, "postgresql": 13}
"""What a search that comes alone takes; those that come together share all but the first.

The token. Admitted: the organization with selection and agent, keys, operator settings, switches, the month, the day, the unit,
the record. Closed: whether it is open, its end. Once a day the token's day too. PostgreSQL: the lock on the organization, twice.
"""

EXCEPTIONS = {
    ("select", "tokens", "tokens.id = :id_1"): "a token is looked up by its own id, which tells the organization",
    ("select", "tokens", "tokens.organization IS NOT DISTINCT FROM NULL"): "an operator's own tokens belong to no organization",
    ("update", "tokens", "tokens.id = :id_1 AND tokens.organization IS NOT DISTINCT FROM NULL"): "the same",
    ("select", "selections", ""): "a start warns of selected providers that are not enabled",
    ("select", "credentials", "credentials.key_id != :key_id_1"): "a rotation walks over all tenants",
}
"""(verb, table, condition) of the statements that name no organization, and why; each must be seen, or it is taken out."""

Seen = list[tuple[str, Any]]


@pytest.fixture
def seen() -> Iterator[Seen]:
    """(SQL, compiled statement or None) of everything that reaches a database."""
    found: Seen = []

    def look(_connection: object, _cursor: object, sql: str, _parameters: object, context: Any, _many: bool) -> None:
        if not sql.startswith("BEGIN"):
            found.append((sql, getattr(context, "compiled", None)))

    event.listen(Engine, "before_cursor_execute", look)
    yield found
    event.remove(Engine, "before_cursor_execute", look)


def tables_of(statement: Any) -> set[str]:
    """The tenants' tables that a statement reads or writes."""
    written = {statement.table.name} if isinstance(statement, Insert | Update | Delete) else set()
    read = {element.name for element in iterate(statement) if isinstance(element, Table)}
    columns = {element.table.name for element in iterate(statement) if getattr(element, "table", None) in METADATA.sorted_tables}
    return (written | read | columns) & TENANT_TABLES


def names_organization(statement: Any, table: str) -> bool:
    """True where the table's `organization` is given: as a value of an insert, or by a condition that always holds."""
    if isinstance(statement, Insert):
        return "organization" in (statement._select_names or statement.compile().params)
    for element in iterate(statement):
        if isinstance(element, BooleanClauseList) and element.operator is operators.or_:
            return False
        if isinstance(element, BinaryExpression) and element.operator in (operators.eq, operators.is_not_distinct_from):
            sides = (element.left, element.right)
            column = METADATA.tables[table].c.organization
            others = [side for side in sides if side is not column]
            if len(others) == 1 and is_given(others[0]):
                return True
    return False


def is_given(value: Any) -> bool:
    """True for a value, or a column of values that were asked for: not for one of a table, whose rows anybody may have made."""
    return not isinstance(value, Null) and getattr(value, "table", None) not in METADATA.sorted_tables


def unscoped(seen: Seen) -> set[tuple[str, str, str]]:
    """(verb, table, condition) of every statement on a tenant's table that names no organization."""
    found = set()
    for sql, compiled in seen:
        statement = None if compiled is None else compiled.statement
        if statement is None or isinstance(statement, TextClause):
            assert not any(table in sql for table in TENANT_TABLES), f"hand-written SQL on a tenant's table: {sql}"
        elif not isinstance(statement, ExecutableDDLElement):
            verb = type(statement).__name__.lower()
            where = getattr(statement, "whereclause", None)
            names = {table for table in tables_of(statement) if not names_organization(statement, table)}
            found |= {(verb, table, "" if where is None else str(where)) for table in names}
    return found


def test_the_check_finds_what_it_looks_for() -> None:
    """A statement with a condition on another column, under OR, on another table's column, or against no value."""
    agents, credentials, organizations = (METADATA.tables[name] for name in ("agents", "credentials", "organizations"))
    asked_for = [Asked({"organization": str}).table(dialect) for dialect in ("sqlite", "postgresql")]
    right = [
        select(agents).where(agents.c.organization == "ours"),
        select(agents.c.id).where(and_(agents.c.id == "a", agents.c.organization == "ours")),
        update(agents).where(agents.c.organization == "ours").values(id="a"),
        delete(agents).where(agents.c.organization.is_not_distinct_from("ours")),
        *(select(agents).join_from(rows, agents, agents.c.organization == rows.c.organization) for rows in asked_for),
    ]
    wrong = [
        select(agents),
        select(agents.c.id),
        select(agents).where(agents.c.id == "a"),
        select(agents).where(agents.c.organization != "ours"),
        select(agents).where(or_(agents.c.organization == "ours", agents.c.id == "a")),
        select(agents).where(agents.c.organization.in_(["ours", "theirs"])),
        update(agents).values(id="a"),
        delete(agents).where(agents.c.id == "a"),
        delete(agents).where(agents.c.organization.is_not_distinct_from(None)),
        select(agents).join(organizations, agents.c.organization == organizations.c.id),
        *(select(agents).join_from(rows, agents, agents.c.id == rows.c.organization) for rows in asked_for),
    ]
    assert [tables_of(statement) for statement in right + wrong] == [{"agents"}] * 18
    assert [names_organization(statement, "agents") for statement in right + wrong] == [True] * 6 + [False] * 12
    tokens_table = METADATA.tables["tokens"]
    inserts = [
        insert(tokens_table).values(id="a", organization="ours"),
        insert(tokens_table).from_select(["id", "organization"], select(literal("a"), literal("ours"))),
        insert(tokens_table).values(id="a"),
        insert(tokens_table).from_select(["id"], select(literal("a"))),
    ]
    assert [names_organization(statement, "tokens") for statement in inserts] == [True, True, False, False]
    joined = select(agents, credentials).where(agents.c.organization == "ours")
    assert {table: names_organization(joined, table) for table in tables_of(joined)} == {"agents": True, "credentials": False}


ROUTES: list[tuple[str, str, object]] = [
    ("POST", "/organizations", {"organization": "newcomer"}),
    ("GET", "/organizations", None),
    ("GET", "/organizations/{organization}", None),
    ("PUT", "/organizations/{organization}/limits", {"monthlyBudgetMicrousd": 25_000_000, "searchesPerMinute": 100}),
    ("GET", "/organizations/{organization}/search/usage", None),
    ("PUT", "/organizations/{organization}/agents/{agent}", {"tools": ["web.*"], "credentials": ["search.apiKey"]}),
    ("PUT", "/organizations/{organization}/agents/{agent}", {}),
    ("GET", "/organizations/{organization}/agents", None),
    ("GET", "/organizations/{organization}/agents/{agent}", None),
    ("PUT", "/organizations/{organization}/search/providers/{provider}/credential", {"value": "key-of-ours-0001"}),
    ("PUT", "/organizations/{organization}/search/providers/{provider}/credential", {"value": "key-of-ours-0002"}),
    ("GET", "/organizations/{organization}/search/providers/{provider}/credential", None),
    ("GET", "/organizations/{organization}/search/providers/{provider}/models", None),
    ("PUT", "/organizations/{organization}/search/selection", {"provider": "acme", "model": "deep", "fallbacks": ["open"]}),
    ("PUT", "/organizations/{organization}/search/selection", {"provider": "acme"}),
    ("GET", "/organizations/{organization}/search/selection", None),
    ("GET", "/organizations/{organization}/search/providers", None),
    ("POST", "/organizations/{organization}/tokens", {"name": "laptop", "scopes": ["search"], "agent": "robot"}),
    ("GET", "/organizations/{organization}/tokens", None),
    ("DELETE", "/organizations/{organization}/tokens/{token}", None),
    ("GET", "/organizations/{organization}/audit", None),
    ("DELETE", "/organizations/{organization}/agents/{agent}", None),
    ("DELETE", "/organizations/{organization}/search/selection", None),
    ("DELETE", "/organizations/{organization}/search/providers/{provider}/credential", None),
    ("DELETE", "/organizations/{organization}", None),
]

VERBS = [
    "org create firm --name Firm --provider acme",
    "org list",
    "org bound firm --allow-provider acme --allow-host 10.0.0.7:8080 --result-host 10.0.0.7:8080 --allow-private-addresses",
    "org limit firm --monthly-budget 25 --per-minute 100 --concurrency 4",
    "org setting firm acme base_url=https://api.acme.example",
    "org setting firm acme",
    "agent put firm robot --tool web.* --credential search.apiKey",
    "agent bound firm robot --allow-host vendor.internal:8443",
    "agent list firm",
    "token create firm --scope search --agent robot",
    "token create --scope operator",
    "token list firm",
    "token list",
    "token revoke TOKEN firm",
    "provider off brave --reason leak",
    "provider on brave",
    "keys rotate",
    "org delete firm --yes",
]


WITHOUT_TENANTS = {"migrate", "toolkit"}
"""Groups of commands that open no platform."""


def leaves(group: click.Group, *path: str) -> set[str]:
    """Every verb of the groups that work on tenants."""
    return {
        name
        for word, below in group.commands.items()
        for name in (leaves(below, *path, word) if isinstance(below, click.Group) else {" ".join([*path, word])})
        if path or (isinstance(below, click.Group) and word not in WITHOUT_TENANTS)
    }


async def run_every_route(bench: Any) -> set[tuple[str, str]]:
    tenant = await bench.tenant("ours", "open")
    operator = await bench.token(None, "operator")
    done = set()
    for method, path, body in ROUTES:
        named = tenant.search.removeprefix(tokens.PREFIX)[:16]
        address = path.format(organization="ours", provider="acme", agent="robot", token=named)
        if path.endswith("/selection") and method == "DELETE":
            assert (await bench.search(await bench.token("ours", "search", "agents"), agent="default"))[0] == 200
        status, answer = await bench.call(method, address, operator, body)
        assert (method, path, status < 300, answer) == (method, path, True, answer)
        done.add((method, path))
    return done


def run_every_verb(command: Any, firm: str) -> set[str]:
    done = set()
    for verb in VERBS:
        finished = command(*verb.replace("TOKEN", firm).split(" "))
        assert (verb, finished.exit_code, finished.output) == (verb, 0, finished.output)
        if verb.startswith("token create firm"):
            firm = finished.output.strip().removeprefix(tokens.PREFIX)[:16]
        done.add(" ".join(verb.split(" ")[:2]))
    return done


async def test_no_statement_on_a_tenants_rows_lacks_an_organization(
    seen: Seen, bench: Any, command: Any, registry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over every route and every verb of the command line, but for the exceptions listed above."""
    monkeypatch.setattr("searchport_platform.app.Registry.discover", lambda _: registry)
    assert await run_every_route(bench) == set(bench.admin_routes())
    assert await asyncio.to_thread(run_every_verb, command, "") == leaves(command_line)
    assert len(seen) > 200
    assert unscoped(seen) == set(EXCEPTIONS)


async def test_a_rotation_writes_each_row_under_its_organization(seen: Seen, bench: Any) -> None:
    for name in ("ours", "theirs"):
        await bench.tenant(name, keys={"acme": f"key-of-{name}"})
    bench.platform.keyring.key_id, kept = "a key before", bench.platform.keyring.key_id
    bench.platform.keyring._keys["a key before"] = bench.platform.keyring._keys[kept]
    del seen[:]
    assert [left async for left in bench.administration.rotate_keys()] == [0]
    assert len([sql for sql, _ in seen if sql.startswith("UPDATE credentials")]) == 2
    assert unscoped(seen) <= set(EXCEPTIONS)


async def test_a_search_takes_few_statements(seen: Seen, bench: Any) -> None:
    ours = await bench.tenant("ours", "acme", "beta", "open", keys={"acme": "key-of-ours-acme", "beta": "key-of-ours-beta"})
    counts = []
    for _ in range(3):
        del seen[:]
        assert (await bench.search(ours.search))[0] == 200
        counts.append(len(seen))
    usual = STATEMENTS_A_SEARCH[bench.store.kind]
    assert counts == [usual + 1, usual, usual]


async def test_a_refused_call_costs_one_statement(seen: Seen, bench: Any) -> None:
    """And one that is no token at all costs none."""
    forged = tokens._write("0" * 16, "0" * 64)
    counts = []
    for token in (forged, "garbage", f"{forged}0"):
        del seen[:]
        assert (await bench.search(token))[0] == 401
        counts.append(len(seen))
    assert counts == [1, 0, 0]
