"""A database of the schema before metering is brought up with what it holds."""

from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

from searchport import SearchRequest
from searchport_platform.platform import Caller
from searchport_platform.storage import engine as storage
from searchport_platform.storage.engine import open_engine, parse_url, transaction

BEFORE = [
    "INSERT INTO organizations VALUES ('old', 'Old', '2026-11-01T00:00:00Z', NULL, '[]', 0, '[]')",
    """INSERT INTO agents VALUES ('old', 'default', '["web.*"]', '["search.apiKey"]', '[]', 0)""",
    "INSERT INTO selections VALUES ('old', 'acme', NULL, '{}', '[]', 10, 50, 15000)",
]


def configure(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(storage.__file__).with_name("migrations")))
    config.attributes["connection"] = connection
    return config


def make_old(connection: Connection) -> None:
    command.upgrade(configure(connection), "0001")
    for statement in BEFORE:
        connection.exec_driver_sql(statement)


def go_back(connection: Connection) -> list[tuple[object, ...]]:
    command.downgrade(configure(connection), "0001")
    return [tuple(row) for row in connection.exec_driver_sql("SELECT * FROM agents")]


async def test_an_old_database_gets_the_usual_limits_and_searches(database: Path, open_platform: Any) -> None:
    """Nothing of it is lost: a table that is made anew takes with it what refers to it."""
    async with open_engine(parse_url(f"sqlite:///{database}")) as engine, transaction(engine, writes=True) as connection:
        await connection.run_sync(make_old)
    async with open_platform() as platform:
        (agent,) = await platform.administration().list_agents("old")
        (firm,) = await platform.administration().list_organizations()
        limits = (firm.monthly_budget_microusd, firm.searches_per_minute, firm.concurrency)
        assert (agent.max_searches_per_day, *limits) == (200, None, None, 16)
        assert (await platform.search(Caller(organization="old"), SearchRequest("tea"))).provider == "acme"


async def test_it_can_be_taken_back(database: Path, open_platform: Any, place: Any) -> None:
    await place.search()
    async with open_engine(parse_url(f"sqlite:///{database}")) as engine, transaction(engine, writes=True) as connection:
        agents = await connection.run_sync(go_back)
    assert agents == [("ours", "default", '["web.*"]', '["search.apiKey"]', "[]", 0)]
    async with open_platform() as platform:
        assert (await platform.search(Caller(organization="ours"), SearchRequest("tea"))).provider == "acme"
