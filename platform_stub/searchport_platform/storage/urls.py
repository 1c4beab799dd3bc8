"""Database URLs: what an operator may write, and what is told of one that cannot be used; never its password."""

from __future__ import annotations

import os
import ssl
from importlib.util import find_spec
from pathlib import Path

from sqlalchemy import make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError

from searchport.errors import shorten

__all__ = ["DEFAULT_URL", "POSTGRES_URL", "DatabaseUrlError", "is_sqlite", "parse_url", "read_tls", "sqlite_file"]

DEFAULT_URL = "sqlite:///searchport.db"
POSTGRES_URL = "postgresql://searchport@db.example/searchport"
"""How a PostgreSQL URL is written, for messages."""

_SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
"""libpq's, which asyncpg follows. Source: https://www.postgresql.org/docs/current/libpq-ssl.html (read 2026-11-30)."""

_VERIFYING = ("verify-ca", "verify-full")
_SYSTEM_ROOT = "/etc/ssl/certs/ca-certificates.crt"
_PARAMETERS = ("host", "sslmode", "ssl", "sslrootcert")


class DatabaseUrlError(ValueError):
    """A database URL that cannot be used; its text shows no password."""


def parse_url(text: str) -> URL:
    """A database URL with its asynchronous driver. Raises DatabaseUrlError, which never shows a password."""
    try:
        url = make_url(text)
        backend, _, driver = url.drivername.partition("+")
    except (ArgumentError, ValueError):  # ValueError: a port that is no number; its text may hold a part of the password
        raise DatabaseUrlError(f"the database URL cannot be read; write it like {DEFAULT_URL} or {POSTGRES_URL}") from None
    if backend == "sqlite":
        return _parse_sqlite(url, driver)
    if backend in ("postgresql", "postgres"):
        return _parse_postgres(url, driver)
    raise DatabaseUrlError(f"database {shorten(backend)} is not supported; write the URL like {DEFAULT_URL} or {POSTGRES_URL}")


def _parse_sqlite(url: URL, driver: str) -> URL:
    if driver not in ("", "aiosqlite"):
        raise DatabaseUrlError(f"the driver {shorten(driver)} is not supported; write the URL like {DEFAULT_URL}")
    if url.query or "\0" in (url.database or ""):
        raise DatabaseUrlError(f"an SQLite URL is a path alone; write it like {DEFAULT_URL}")
    return url.set(drivername="sqlite+aiosqlite")


def _parse_postgres(url: URL, driver: str) -> URL:
    if driver not in ("", "asyncpg"):
        raise DatabaseUrlError(f"the driver {shorten(driver)} is not supported; write the URL like {POSTGRES_URL}")
    if find_spec("asyncpg") is None:
        raise DatabaseUrlError("PostgreSQL needs its driver; run: pip install 'searchport[postgres]'")
    if not url.database:
        raise DatabaseUrlError(f"a PostgreSQL URL names a database; write it like {POSTGRES_URL}")
    unknown = sorted(set(url.query) - set(_PARAMETERS))
    if unknown:
        raise DatabaseUrlError(
            f"the database URL has a parameter {shorten(unknown[0])} that is not supported; known are: {', '.join(_PARAMETERS)}"
        )
    repeated = sorted(name for name, value in url.query.items() if not isinstance(value, str))
    if repeated or ("ssl" in url.query and "sslmode" in url.query):
        raise DatabaseUrlError(
            f"the database URL names {repeated[0] if repeated else 'sslmode and ssl'} more than once; keep one"
        )
    _check_tls(url)
    return url.set(drivername="postgresql+asyncpg")


def _check_tls(url: URL) -> None:
    mode, root = _tls(url)
    if mode is not None and mode not in _SSL_MODES:
        raise DatabaseUrlError(f"sslmode {shorten(mode)} in the database URL is not one of: {', '.join(_SSL_MODES)}")
    if root is None:
        if mode in _VERIFYING and not _usual_root().is_file():
            raise DatabaseUrlError(
                f"sslmode {shorten(mode)} in the database URL needs sslrootcert, the file of the server's authorities, "
                f"such as {_SYSTEM_ROOT}"
            )
        return
    if mode not in _VERIFYING:
        raise DatabaseUrlError(f"sslrootcert in the database URL needs sslmode to be one of: {', '.join(_VERIFYING)}")
    if not Path(root).is_file():
        raise DatabaseUrlError(f"sslrootcert in the database URL: there is no file {shorten(root)}")


def _usual_root() -> Path:
    """Where the driver looks for authorities when the URL names no file, as libpq does; nowhere, where there is no home."""
    usual = os.path.expanduser("~/.postgresql/root.crt")  # noqa: PTH111  # Path.expanduser raises where there is no home
    return Path(os.environ.get("PGSSLROOTCERT") or usual)


def _tls(url: URL) -> tuple[str | None, str | None]:
    """The mode and the file of authorities, as they are written."""
    mode, root = url.query.get("sslmode", url.query.get("ssl")), url.query.get("sslrootcert")
    return None if mode is None else str(mode), None if root is None else str(root)


def read_tls(url: URL) -> str | ssl.SSLContext | None:
    """What asyncpg takes as `ssl`: None where the URL says nothing. Raises DatabaseUrlError for a file of no certificates."""
    mode, root = _tls(url)
    if root is None:
        return mode
    try:
        context = ssl.create_default_context(cafile=root)
    except OSError:  # ssl.SSLError is one; so is a file that may not be read
        raise DatabaseUrlError(f"sslrootcert in the database URL: {shorten(root)} holds no certificate to be read") from None
    context.check_hostname = mode == "verify-full"
    return context


def is_sqlite(url: URL) -> bool:
    """False for PostgreSQL."""
    return url.get_backend_name() == "sqlite"


def sqlite_file(url: URL) -> Path | None:
    """The file of an SQLite database; None for a temporary one, and on PostgreSQL."""
    return Path(url.database) if is_sqlite(url) and url.database and url.database != ":memory:" else None
