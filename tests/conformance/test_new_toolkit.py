"""`searchport toolkit new` writes a package that passes; the example that it is made of works on a real platform."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, web  # noqa: TID251  # calls the platform as any client would
from aiohttp.test_utils import TestServer
from click.testing import CliRunner, Result

from searchport import manual
from searchport_platform.cli.commands import cli

ACME = manual.folder() / "examples" / "acme-search"
FILES = ["README.md", "acme_search.py", "pyproject.toml", "tests/answers.toml", "tests/test_acme_search.py"]
IS_REGISTERED = any(entry.value == "searchport.testing.plugin" for entry in entry_points(group="pytest11"))
PYTEST = ["-m", "pytest", "-p", "no:cacheprovider", "-p", "no:asyncio", "-p", "no:xdist", "-q", "-W", "error"]
LOAD = [] if IS_REGISTERED else ["-p", "searchport.testing.plugin"]


def new(*options: str) -> Result:
    return CliRunner().invoke(cli, ["toolkit", "new", *options])


def files(folder: Path) -> list[str]:
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return sorted(map(str, found))


def install(source: Path, target: Path) -> None:
    """Installs a package as a distribution of its own, offline, from a copy that pip may write to."""
    copy = target.parent / f"{target.name}-source"
    shutil.copytree(source, copy)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--no-build-isolation", "--target", str(target), str(copy)], check=True)


def test_the_package_of_the_examples_id_is_the_example(tmp_path: Path) -> None:
    folder = tmp_path / "acme"
    assert new("acme-search", "--folder", str(folder)).exit_code == 0
    assert files(folder) == FILES
    assert [name for name in FILES if (folder / name).read_bytes() != (ACME / name).read_bytes()] == []


@pytest.mark.parametrize("toolkit_id", ["zeta-web-finder"])
def test_a_new_package_is_installed_and_passes_its_own_tests(tmp_path: Path, toolkit_id: str) -> None:
    folder, target = tmp_path / "package", tmp_path / "site"
    done = new(toolkit_id, "--folder", str(folder))
    assert (done.exit_code, f"cd {folder} && pip install" in done.output) == (0, True)
    install(folder, target)
    environment = {**os.environ, "PYTHONPATH": str(target), "PYTHONDONTWRITEBYTECODE": "1"}
    tests = subprocess.run(
        [sys.executable, *PYTEST, *LOAD], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert tests.returncode == 0, tests.stdout + tests.stderr
    assert not [name for name in files(folder) if "acme" in (folder / name).read_text(encoding="utf-8").lower()]
    code = "from importlib.metadata import entry_points as e; print([n.dist.name for n in e(group='searchport.toolkits')])"
    listed = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert toolkit_id in listed.stdout


@pytest.mark.parametrize(
    ("toolkit_id", "reason"),
    [
        ("Acme", "its id is not lower-case letters, digits and single hyphens; write it like 'acme-search'"),
        ("acme_search", "its id is not lower-case letters"),
        ("a" * 65, "its id is not lower-case letters"),
        ("../acme", "its id is not lower-case letters"),
        ("json", "would make a module 'json', which Python or Searchport has; add -search"),
        ("class", "would make a module 'class'"),
        ("searchport", "would make a module 'searchport'"),
        ("brave", "an installed toolkit has the id 'brave' already"),
    ],
)
def test_a_bad_id_is_refused_with_the_reason(tmp_path: Path, toolkit_id: str, reason: str) -> None:
    done = new(toolkit_id, "--folder", str(tmp_path / "new"))
    assert (done.exit_code, reason in " ".join(done.stderr.split())) == (2, True), done.stderr
    assert not (tmp_path / "new").exists()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("kept", encoding="utf-8")
    done = new("acme-search", "--folder", str(tmp_path))
    assert (done.exit_code, "is there already and is not empty" in done.stderr) == (2, True)
    assert files(tmp_path) == ["kept.txt"]


# The example on a real platform: a server of its own, on SQLite, its vendor on the loopback interface.

Call = tuple[str, str, dict[str, Any]]


@contextmanager
def demo(site: Path, data: Path, **environment: str) -> Iterator[dict[str, str]]:
    """`searchport demo` in a process that has the example installed; its address and tokens."""
    command = [sys.executable, "-m", "searchport_platform", "demo", "--json", "--port", "0", "--data", str(data)]
    env = {**os.environ, "PYTHONPATH": str(site), **environment}
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())
    finally:
        process.terminate()
        process.wait(timeout=20)
        if process.stdout is not None:
            process.stdout.close()


async def send(access: dict[str, str], method: str, path: str, body: dict[str, Any], token: str) -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {access[token]}"}
    url = f"{access['url']}/api/platform/v1/{path}"
    async with ClientSession() as session, session.request(method, url, json=body, headers=headers) as response:
        text = await response.text()
        return response.status, json.loads(text) if text else None


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the example is installed, as a distribution of its own."""
    target = tmp_path_factory.mktemp("acme") / "site"
    install(ACME, target)
    return target


def test_the_example_is_refused_until_the_operator_enables_it(site: Path, tmp_path: Path) -> None:
    with demo(site, tmp_path) as access:
        body = {"provider": "acme-search"}
        status, answer = asyncio.run(send(access, "PUT", "organizations/demo/search/selection", body, "adminToken"))
    assert (status, answer["code"]) == (409, "provider_not_configured")


def test_the_example_is_selected_and_searched_once_enabled(site: Path, tmp_path: Path) -> None:
    seen: list[tuple[dict[str, str], str | None]] = []

    async def find(request: web.Request) -> web.Response:
        seen.append((dict(request.query), request.headers.get("X-Api-Key")))
        hit = {"t": "A <b>lantern</b>", "u": "https://a.example/lantern", "s": "It shines.", "date": "31.12.2026"}
        return web.json_response({"hits": [hit], "more": False})

    async def run() -> tuple[int, Any]:
        app = web.Application()
        app.router.add_get("/v2/find", find)
        async with TestServer(app, host="127.0.0.1") as vendor:
            moved = json.dumps({"acme-search": f"http://127.0.0.1:{vendor.port}"})
            with demo(site, tmp_path, SEARCHPORT_TOOLKITS="acme-search", SEARCHPORT_PROVIDER_BASE_URLS=moved) as access:
                root = "organizations/demo/search"
                key, choice = {"value": "acme-key"}, {"provider": "acme-search", "model": "deep"}
                assert (await send(access, "PUT", f"{root}/providers/acme-search/credential", key, "adminToken"))[0] < 300
                assert (await send(access, "PUT", f"{root}/selection", choice, "adminToken"))[0] < 300
                query = {"query": "harbour lantern", "recency": "week", "maxResults": 3}
                return await send(access, "POST", "action/search/web", query, "searchToken")

    status, answer = asyncio.run(run())
    assert (status, answer["provider"], answer["model"]) == (200, "acme-search", "deep")
    (result,) = answer["results"]
    assert (result["title"], result["publishedDate"]) == ("A lantern", "2026-12-31")
    expected = {"q": "harbour lantern", "n": "3", "from": "0", "age": "1w", "edition": "world", "tier": "deep"}
    assert seen == [(expected, "acme-key")]
