"""What an operator writes to name a database."""

import ssl
from typing import Any

import pytest

from searchport_platform.storage import urls
from searchport_platform.storage.urls import DatabaseUrlError, parse_url, read_tls, sqlite_file


@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+asyncpg", "postgres"])
def test_postgresql_is_spoken_by_asyncpg_however_it_is_written(scheme: str) -> None:
    url = parse_url(f"{scheme}://u:p%40ss@db.example:5433/search")
    found = (url.drivername, url.username, url.password, url.host, url.port, url.database)
    assert found == ("postgresql+asyncpg", "u", "p@ss", "db.example", 5433, "search")


def test_a_socket_is_named_by_its_folder() -> None:
    assert parse_url("postgresql://u@/s?host=/run/postgresql").query == {"host": "/run/postgresql"}


@pytest.mark.parametrize("driver", ["psycopg", "psycopg2", "pg8000"])
def test_another_driver_is_refused_by_name(driver: str) -> None:
    with pytest.raises(DatabaseUrlError, match=f"'{driver}' is not supported; write the URL like postgresql://"):
        parse_url(f"postgresql+{driver}://u:canary@db.example/s")


def test_a_missing_driver_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(urls, "find_spec", lambda name: None)
    with pytest.raises(DatabaseUrlError, match=r"pip install 'searchport\[postgres\]'"):
        parse_url("postgresql://u:canary@db.example/s")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("sslmode=sometimes", "sslmode 'sometimes' in the database URL is not one of: disable, allow, prefer"),
        ("sslmode=require&ssl=require", "more than once"),
        ("sslmode=require&sslmode=disable", "names sslmode more than once"),
        ("connect_timeout=3", "'connect_timeout' that is not supported; known are: host, sslmode"),
        ("password=canary", "'password' that is not supported"),
        ("sslrootcert=/etc/ssl/none.pem", "sslrootcert in the database URL needs sslmode to be one of: verify-ca, verify-full"),
        ("sslmode=verify-full&sslrootcert=/nowhere/ca.pem", "there is no file '/nowhere/ca.pem'"),
    ],
)
def test_a_parameter_that_is_not_known_is_refused_by_name(query: str, said: str) -> None:
    with pytest.raises(DatabaseUrlError) as refused:
        parse_url(f"postgresql://u:canary@db.example/s?{query}")
    assert said in str(refused.value)
    assert "canary" not in str(refused.value)


@pytest.mark.parametrize(("url", "mode"), [("", None), ("?sslmode=require", "require"), ("?ssl=disable", "disable")])
def test_sslmode_reaches_the_driver(url: str, mode: str | None) -> None:
    assert read_tls(parse_url(f"postgresql://u@db.example/s{url}")) == mode


@pytest.mark.parametrize(("mode", "checks_host"), [("verify-ca", False), ("verify-full", True)])
def test_authorities_of_ones_own_verify_the_server(tmp_path: Any, mode: str, checks_host: bool) -> None:
    import trustme

    file = tmp_path / "ca.pem"
    trustme.CA().cert_pem.write_to_path(str(file))
    context = read_tls(parse_url(f"postgresql://u@db.example/s?sslmode={mode}&sslrootcert={file}"))
    assert isinstance(context, ssl.SSLContext)
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, checks_host)


@pytest.mark.parametrize("mode", ["verify-ca", "verify-full"])
def test_verifying_a_server_needs_authorities(tmp_path: Any, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("PGSSLROOTCERT", raising=False)
    url = f"postgresql://u:canary@db.example/s?sslmode={mode}"
    with pytest.raises(DatabaseUrlError, match=f"sslmode '{mode}' in the database URL needs sslrootcert"):
        parse_url(url)
    (tmp_path / ".postgresql").mkdir()
    (tmp_path / ".postgresql" / "root.crt").touch()
    assert read_tls(parse_url(url)) == mode


def test_a_file_of_no_certificates_is_refused(tmp_path: Any) -> None:
    file = tmp_path / "ca.pem"
    file.write_text("nothing")
    with pytest.raises(DatabaseUrlError, match="holds no certificate"):
        read_tls(parse_url(f"postgresql://u@db.example/s?sslmode=verify-full&sslrootcert={file}"))


@pytest.mark.parametrize("url", ["postgresql://u:canary@db.example", "postgresql://u:canary@db.example/"])
def test_a_server_without_a_database_is_refused(url: str) -> None:
    with pytest.raises(DatabaseUrlError, match="names a database"):
        parse_url(url)


def test_no_password_is_shown() -> None:
    url = parse_url("postgresql://u:canary@db.example/s")
    assert "canary" not in f"{url!r} {url}"


def test_a_server_has_no_file() -> None:
    assert sqlite_file(parse_url("postgresql://u@db.example/s")) is None
