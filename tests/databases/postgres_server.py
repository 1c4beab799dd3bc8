"""A private PostgreSQL server for tests, from the binaries of the machine, and databases on it."""

import asyncio
import contextlib
import fcntl
import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import attrs
import pytest

HOW_TO_GET_IT = "no PostgreSQL server binaries (initdb, postgres); install them: apt-get install postgresql"
ROLE = "searchport"
OTHER_USERS = ("postgres", "nobody")
TESTING = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off")
"""Nothing of an ordinary test must outlive the machine."""


_STARTED: list[subprocess.Popen[bytes]] = []
"""Kept, since one that is still running must not be forgotten."""


def find_binaries() -> Path | None:
    """The folder that holds `initdb` and `postgres`, the newest version's first."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name), reverse=True)
    found = shutil.which("initdb")
    folders += [] if found is None else [Path(found).resolve().parent]
    return next((folder for folder in folders if all((folder / name).exists() for name in ("initdb", "postgres"))), None)


def require_binaries() -> Path:
    """The folder; without one the test is skipped, and where everything must run, fails."""
    folder = find_binaries()
    if folder is not None:
        return folder
    if os.environ.get("CI") == "true":
        pytest.fail(HOW_TO_GET_IT)
    pytest.skip(HOW_TO_GET_IT)


class _Thread:
    """An event loop of its own, so that a test can ask the database behind the platform's back without `await`."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, name="asks postgres", daemon=True).start()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(30)


@attrs.define(kw_only=True)
class PostgresServer:
    """A server on a Unix socket in a folder of its own, run by another user where this one is root, which it refuses."""

    binaries: Path
    folder: Path
    options: tuple[str, ...] = TESTING
    port: int = 5432
    thread: _Thread = attrs.field(factory=_Thread)
    process: subprocess.Popen[bytes] | None = None
    made: int = 0
    spare: list[str] = attrs.field(factory=list)

    @property
    def user(self) -> str | None:
        """Who runs it; None: whoever runs the test."""
        if os.geteuid() != 0:
            return None
        known = {entry.pw_name for entry in pwd.getpwall()}
        return next(name for name in OTHER_USERS if name in known)

    @property
    def settings(self) -> dict[str, Any]:
        """For subprocesses."""
        user = self.user
        return {} if user is None else {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []}

    def create(self) -> None:
        """Makes the cluster. Its collation is a language's, not the order of bytes, as most servers' is."""
        if self.user is not None:
            shutil.chown(self.folder, self.user)
        languages = ["--locale-provider=icu", "--icu-locale=en-US"] if self.version >= 15 else []
        words = ["-D", "data", "-U", ROLE, "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "-N", *languages]
        subprocess.run(
            [self.binaries / "initdb", *words],
            cwd=self.folder,
            check=True,
            stdout=subprocess.DEVNULL,
            timeout=60,
            **self.settings,
        )

    @property
    def version(self) -> int:
        """The major version."""
        told = subprocess.run([self.binaries / "postgres", "--version"], check=True, capture_output=True, text=True).stdout
        return int(re.findall(r"\d+", told)[0])

    def start(self) -> None:
        """Starts it, and waits until it answers."""
        options = ("listen_addresses=", "max_connections=200", "unix_socket_permissions=0777", *self.options)
        words = [word for option in options for word in ("-c", option)]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [self.binaries / "postgres", "-D", "data", "-k", str(self.folder), *words],
                cwd=self.folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **self.settings,
            )
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        """Until it answers."""
        ends = time.monotonic() + 30
        while True:
            try:
                self.ask("postgres", "SELECT 1")
            except (OSError, asyncpg.PostgresError):
                assert time.monotonic() < ends, (self.folder / "log").read_text()
                threading.Event().wait(0.02)
            else:
                return

    def stop(self, number: int = signal.SIGINT) -> None:
        """Ends it: at once but in order, or with SIGQUIT as if it had crashed."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(30)
        self.process = None

    def freeze(self, *, on: bool) -> None:
        """Lets it answer nothing and hang up on nobody, as a network that is cut does; or lets it go on."""
        assert self.process is not None
        number = signal.SIGSTOP if on else signal.SIGCONT
        pids = [int(pid) for pid in Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()]
        for pid in (self.process.pid, *pids):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def url(self, database: str) -> str:
        """What an operator would write."""
        return f"postgresql://{ROLE}@/{database}?host={self.folder}"

    def ask(self, database: str, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Runs a statement in a connection of its own."""

        async def run() -> list[tuple[Any, ...]]:
            place = {"host": str(self.folder), "port": self.port, "user": ROLE, "database": database}
            connection = await asyncpg.connect(**place, timeout=10)
            try:
                if not values and ";" in statement:
                    await connection.execute(statement)
                    return []
                return [tuple(row) for row in await connection.fetch(statement, *values)]
            finally:
                await connection.close()

        return list(self.thread.run(run()))

    def make_database(self, template: str = "template1") -> str:
        """A new database, a copy of the template."""
        self.made += 1
        name = f"test_{os.getpid()}_{self.made}"
        self.ask("postgres", f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return name

    def drop_database(self, name: str) -> None:
        """Takes it away, whoever is still connected."""
        self.ask("postgres", f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@contextlib.contextmanager
def running(*, options: tuple[str, ...] = TESTING) -> Iterator[PostgresServer]:
    """A new server; ended, and its files deleted, at the end."""
    binaries = require_binaries()
    # Not pytest's own folder: another user must reach it, and a socket's path is at most 107 characters long.
    with tempfile.TemporaryDirectory(prefix="searchport-pg-") as folder:
        server = PostgresServer(binaries=binaries, folder=Path(folder), options=options)
        server.create()
        server.start()
        try:
            yield server
        finally:
            server.stop()


@contextlib.contextmanager
def shared(folder: Path) -> Iterator[PostgresServer]:
    """One server for all processes of a test session, which share the folder: the first starts it, the last ends it."""
    state = folder / "postgres.json"
    with _locked(folder):
        known = json.loads(state.read_text()) if state.exists() else None
        if known is None:
            server = PostgresServer(binaries=require_binaries(), folder=Path(tempfile.mkdtemp(prefix="searchport-pg-")))
            server.create()
            server.start()
            assert server.process is not None
            _STARTED.append(server.process)
            known = {"folder": str(server.folder), "pid": server.process.pid, "users": 0}
        state.write_text(json.dumps(known | {"users": known["users"] + 1}))
    server = PostgresServer(binaries=require_binaries(), folder=Path(known["folder"]))
    try:
        yield server
    finally:
        with _locked(folder):
            known = json.loads(state.read_text())
            if known["users"] > 1:
                state.write_text(json.dumps(known | {"users": known["users"] - 1}))
            else:
                state.unlink()
                _end(known["pid"], Path(known["folder"]))


def _end(pid: int, folder: Path) -> None:
    """Ends a server that another process may have started, and then collects."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGINT)
    ends = time.monotonic() + 30
    while (folder / "data" / "postmaster.pid").exists() and time.monotonic() < ends:
        threading.Event().wait(0.02)
    for process in _STARTED:
        if process.pid == pid:
            process.wait(30)
    shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with (folder / "postgres.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
