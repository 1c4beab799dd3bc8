"""A server behind TLS, verified by an authority of its own."""

import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
from postgres_server import PostgresServer, require_binaries
from sqlalchemy import text

from searchport import SearchError
from searchport_platform.storage.engine import open_engine, parse_url
from searchport_platform.storage.transactions import transaction


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """(URL without parameters, file of the authority) of a server that answers TCP under TLS alone."""
    authority = trustme.CA()
    file = tmp_path_factory.mktemp("tls") / "ca.pem"
    authority.cert_pem.write_to_path(str(file))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="searchport-pg-") as folder:
        options = ("fsync=off", "listen_addresses=127.0.0.1", f"port={port}", "ssl=on")
        server = PostgresServer(binaries=require_binaries(), folder=Path(folder), options=options, port=port)
        server.create()
        made = authority.issue_cert("127.0.0.1")
        for name, content in (("server.crt", made.cert_chain_pems[0]), ("server.key", made.private_key_pem)):
            path = Path(folder, "data", name)
            content.write_to_path(str(path))
            path.chmod(0o600)
            if server.user is not None:
                shutil.chown(path, server.user)
        Path(folder, "data", "pg_hba.conf").write_text("local all all trust\nhostssl all all 127.0.0.1/32 trust\n")
        server.start()
        try:
            yield f"postgresql://searchport@127.0.0.1:{port}/postgres", file
        finally:
            server.stop()


async def ask(url: str) -> bool:
    """Whether the connection is encrypted."""
    async with open_engine(parse_url(url)) as engine, transaction(engine) as connection:
        query = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
        return bool((await connection.execute(text(query))).scalar_one())


@pytest.mark.parametrize(
    "query", ["", "?sslmode=require", "?sslmode=verify-ca&sslrootcert={ca}", "?sslmode=verify-full&sslrootcert={ca}"]
)
async def test_a_server_is_spoken_to_under_tls(tls: Any, query: str) -> None:
    url, file = tls
    assert await ask(url + query.format(ca=file)) is True


async def test_a_server_of_another_authority_is_not_spoken_to(tls: Any, tmp_path: Path, logged: Any) -> None:
    url, _ = tls
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(str(other))
    with pytest.raises(SearchError):
        await ask(f"{url}?sslmode=verify-full&sslrootcert={other}")
    assert "SSLCertVerificationError" in logged()


async def test_a_server_that_wants_tls_is_not_spoken_to_without(tls: Any) -> None:
    with pytest.raises(SearchError):
        await ask(f"{tls[0]}?sslmode=disable")
