"""What every test shares: hypothesis profiles, databases, and an environment without the developer's own settings."""

import asyncio
import io
import logging
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from searchport_platform.logs import configure_logs
from searchport_platform.storage.engine import migrate, open_engine, parse_url

sys.path.append(str(Path(__file__).with_name("databases")))  # test folders are not packages

from postgres_server import PostgresServer, running, shared
from stores import KINDS, PostgresStore, Store, copy_sqlite

settings.register_profile("test", max_examples=100, deadline=None, derandomize=True)
settings.register_profile("prove", max_examples=500 * int(os.environ.get("SEARCHPORT_PROVE_RUNS", "1")), deadline=None)
settings.load_profile("prove" if "SEARCHPORT_PROVE_RUNS" in os.environ else "test")


@pytest.fixture(autouse=True)
def _logs_as_they_were() -> Iterator[None]:
    """A command that runs in this process configures its logs; the next test must not inherit them."""
    root = logging.getLogger()
    before = root.handlers[:], root.level, logging.raiseExceptions
    yield
    root.handlers[:], root.level, logging.raiseExceptions = before


@pytest.fixture(autouse=True)
def _no_settings_of_the_developer(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("SEARCHPORT_"):
            monkeypatch.delenv(name)


@pytest.fixture
def logged() -> Callable[[], str]:
    """Everything logged since the fixture was taken, at every level, as the process writes it."""
    stream = io.StringIO()
    configure_logs(level=logging.DEBUG, stream=stream)
    return stream.getvalue


# Databases: a test that takes `store`, itself or by another fixture, runs on each kind.


def pytest_configure(config: pytest.Config) -> None:
    """Names the mark of tests that are about one kind of database, or that no database can tell apart."""
    config.addinivalue_line("markers", "only(kind, why): runs on this kind of database alone")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs it on each kind, but where it is marked as about one."""
    if "store" in metafunc.fixturenames:
        marked = metafunc.definition.get_closest_marker("only")
        kinds = KINDS if marked is None else marked.args[:1]
        metafunc.parametrize("store", kinds, indirect=True)


async def _migrate(url: str) -> None:
    async with open_engine(parse_url(url)) as engine:
        await migrate(engine)


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty SQLite database, brought to the newest schema once; tests begin with a copy: migrating costs more."""
    file = tmp_path_factory.mktemp("migrated") / "searchport.db"
    asyncio.run(_migrate(f"sqlite:///{file}"))
    return file


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    """The private PostgreSQL server of all processes of this session."""
    base = tmp_path_factory.getbasetemp()
    with shared(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) as server:
        yield server


@pytest.fixture(scope="session")
def own_server() -> Iterator[PostgresServer]:
    """A server that a test may stop or kill, and what it has committed outlives it; it is running when a test begins."""
    with running(options=("autovacuum=off",)) as server:
        yield server


@pytest.fixture(scope="session")
def template(postgres: PostgresServer) -> str:
    """The name of an empty PostgreSQL database with the newest schema."""
    name = postgres.make_database()
    asyncio.run(_migrate(postgres.url(name)))
    return name


@pytest.fixture
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """The test's own database, empty and with the newest schema; `killable`: on a server of its own."""
    file = tmp_path / "searchport.db"
    if request.param == "sqlite":
        yield copy_sqlite(request.getfixturevalue("migrated"), file)
        return
    if request.param == "killable":
        own: PostgresServer = request.getfixturevalue("own_server")
        found = PostgresStore(server=own, name=own.make_database(), file=file, reusable=False)
        asyncio.run(_migrate(found.url))
        yield found
        if own.process is None:
            own.start()
        found.close()
        return
    server, source = request.getfixturevalue("postgres"), request.getfixturevalue("template")
    name = server.spare.pop() if server.spare else server.make_database(source)
    found = PostgresStore(server=server, name=name, file=file)
    yield found
    found.close()
