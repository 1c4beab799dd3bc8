"""The commands of the page on backups, run as they stand there; and moving to another database."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from stores import SECRET_KEY, PostgresStore, SqliteStore

from searchport_platform.storage.copy import copy_database, main
from searchport_platform.storage.migrate import NewerSchemaError
from searchport_platform.storage.urls import DatabaseUrlError

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "back-up-and-upgrade.md"


def read_commands(heading: str) -> str:
    """The commands below a heading of the page, as a shell's script."""
    section = PAGE.read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    (block,) = re.findall(r"```console\n(.*?)```", section, re.DOTALL)
    return "\n".join(line.removeprefix("$ ") for line in block.splitlines())


def run(heading: str, folder: Path, **environment: str) -> str:
    """What the commands print; each must succeed."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["/bin/bash", "-euc", read_commands(heading)],
        cwd=folder,
        env={"PATH": path, "LANG": "C.UTF-8"} | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def fill(store: Any, open_on: Any, search: Any) -> None:
    """An organization with a key, and a search that was made."""

    async def work() -> None:
        async with open_on(store) as platform:
            administration = platform.administration()
            await administration.create_organization("ours", "Ours", provider="acme")
            await administration.turn_off("acme", "a drill")
            await administration.turn_on("acme")
            assert await search(platform) == "ok"

    asyncio.run(work())


def serve(store: Any, open_on: Any, search: Any) -> None:
    """It still answers, and writes after what it has."""

    async def work() -> None:
        async with open_on(store) as platform:
            assert await search(platform) == "ok"
            await platform.administration().create_organization("new", "New")

    asyncio.run(work())


@contextmanager
def bare_postgres(server: Any, folder: Path) -> Iterator[PostgresStore]:
    store = PostgresStore(server=server, name=server.make_database(), file=folder / "none", reusable=False)
    try:
        yield store
    finally:
        store.close()


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="no sqlite3 command; install it: apt-get install sqlite3")
def test_an_sqlite_backup_is_restored_with_all_that_it_holds(tmp_path: Path, open_on: Any, search: Any) -> None:
    store = SqliteStore(file=tmp_path / "searchport.db")
    fill(store, open_on, search)
    key, before = store.file.with_name("searchport.db.key").read_bytes(), store.rows()
    run("SQLite: back up", tmp_path)
    serve(store, open_on, search)
    assert store.rows() != before
    store.file.with_name("searchport.db.key").unlink()
    assert run("SQLite: restore", tmp_path) == "ok\n"
    assert (store.rows(), store.file.with_name("searchport.db.key").read_bytes()) == (before, key)
    assert [file.stat().st_mode & 0o077 for file in tmp_path.glob("backup.*")] == [0, 0]
    serve(store, open_on, search)


def test_a_postgresql_backup_is_restored_with_all_that_it_holds(
    postgres: Any, tmp_path: Path, open_on: Any, search: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join([str(postgres.binaries), os.environ["PATH"]]))
    with bare_postgres(postgres, tmp_path) as store:
        fill(store, open_on, search)
        before = store.rows()
        run("PostgreSQL: back up", tmp_path, SEARCHPORT_DATABASE_URL=store.url)
    urls = {"ADMIN_URL": postgres.url("postgres"), "RESTORED_URL": postgres.url("restored")}
    run("PostgreSQL: restore", tmp_path, **urls)
    restored = PostgresStore(server=postgres, name="restored", file=tmp_path / "none", reusable=False)
    try:
        assert restored.rows() == before
        serve(restored, open_on, search)
    finally:
        restored.close()


def test_a_platform_moves_from_sqlite_to_postgresql(postgres: Any, tmp_path: Path, open_on: Any, search: Any) -> None:
    store = SqliteStore(file=tmp_path / "searchport.db")
    fill(store, open_on, search)
    with bare_postgres(postgres, tmp_path) as moved:
        assert "audit: 3\n" in run("Move from SQLite to PostgreSQL", tmp_path, SEARCHPORT_DATABASE_URL=moved.url)
        assert {name: sorted(rows, key=repr) for name, rows in as_written(store).items()} == as_written(moved)
        moved.secret_keys = store.file.with_name("searchport.db.key").read_text().strip()
        serve(moved, open_on, search)


def as_written(store: Any) -> dict[str, list[Any]]:
    """Its rows, with truth as numbers and JSON as it is read."""
    return {name: sorted((tuple(map(plain, row)) for row in rows), key=repr) for name, rows in store.rows().items()}


def plain(cell: Any) -> Any:
    return int(cell) if isinstance(cell, bool) else cell


async def test_and_back(postgres: Any, tmp_path: Path, open_on: Any, search: Any) -> None:
    with bare_postgres(postgres, tmp_path) as store:
        await asyncio.to_thread(fill, store, open_on, search)
        moved = SqliteStore(file=tmp_path / "searchport.db", secret_keys=SECRET_KEY)
        await copy_database(store.url, moved.url)
        assert as_written(moved) == as_written(store)


async def test_a_database_that_holds_anything_is_not_copied_over(tmp_path: Path, open_on: Any, search: Any) -> None:
    one, other = (SqliteStore(file=tmp_path / name) for name in ("one.db", "other.db"))
    for store in (one, other):
        await asyncio.to_thread(fill, store, open_on, search)
    before = other.rows()
    with pytest.raises(DatabaseUrlError, match="is not empty"):
        await copy_database(one.url, other.url)
    assert other.rows() == before


def test_a_move_that_cannot_be_made_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sqlite://"]) == 2
    assert main([f"sqlite:///{tmp_path}/one.db", "mysql://u:canary@h/s"]) == 1
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n"), "canary" in told.err) == ("", 2, False)


def test_a_file_that_is_not_there_is_not_moved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([f"sqlite:///{tmp_path}/mistyped.db", f"sqlite:///{tmp_path}/new.db"]) == 1
    assert "mistyped.db" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_move_that_the_database_fails_shows_no_row(
    tmp_path: Path, open_on: Any, search: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    store = SqliteStore(file=tmp_path / "one.db")
    fill(store, open_on, search)
    store.sql("UPDATE agents SET organization = 'canary'")
    capsys.readouterr()
    assert main([store.url, f"sqlite:///{tmp_path}/new.db"]) == 1
    told = capsys.readouterr()
    assert (told.err.count("\n"), "canary" in told.out + told.err) == (1, False)
    assert not any(SqliteStore(file=tmp_path / "new.db").sql("SELECT * FROM organizations"))


async def test_a_newer_schema_stops_the_start_and_is_left_alone(store: Any, open_on: Any) -> None:
    ((known,),) = store.sql("SELECT version_num FROM alembic_version")
    store.sql("UPDATE alembic_version SET version_num = '9999'")
    before = store.rows()
    try:
        with pytest.raises(NewerSchemaError, match="schema '9999'"):
            async with open_on(store):
                pass
        assert store.rows() == before
    finally:
        store.sql("UPDATE alembic_version SET version_num = ?", known)
