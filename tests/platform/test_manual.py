"""`/docs`: the manual as pages that link to each other, and nothing beside them."""

import asyncio
import base64
import hashlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from yarl import URL

from searchport import SearchRequest, manual
from searchport.testing import FakeWeb, ask
from searchport_platform.doors.manual import ManualDoor
from searchport_toolkits.local import toolkit

Open = Callable[[Path], Awaitable[TestClient]]


@pytest.fixture
async def open_manual() -> AsyncIterator[Open]:
    """Serves a folder as the manual."""
    clients: list[TestClient] = []

    async def start(folder: Path) -> TestClient:
        app = web.Application()
        app.add_routes(ManualDoor(folder).routes())
        client = TestClient(TestServer(app))
        await client.start_server()
        clients.append(client)
        return client

    yield start
    for client in clients:
        await client.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small manual with a secret beside it."""
    docs = tmp_path / "docs"
    (docs / "how-to").mkdir(parents=True)
    (docs / "examples").mkdir()
    (docs / "index.md").write_text("# Front\n\n[guide](how-to/a%20b.md#two-words) [out](../secret.md) [data](data.json)")
    (docs / "how-to" / "a b.md").write_text("# A & B\n\n## Two words\n\n## Two words\n\n[up](../index.md) [here](#two-words)\n")
    (docs / "data.json").write_text('"secret"')
    (docs / "examples" / "x.md").write_text("secret")
    (tmp_path / "secret.md").write_text("secret")
    (docs / "link.md").symlink_to(tmp_path / "secret.md")
    return docs


async def read(client: TestClient, path: str) -> tuple[int, str]:
    response = await client.get(URL(path, encoded=True))
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    return response.status, await response.text()


class Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value or "" for name, value in attrs if name == "href"]
        self.ids += [value or "" for name, value in attrs if name == "id"]


async def test_every_link_of_the_manual_leads_to_a_page_and_every_page_is_linked(open_manual: Open) -> None:
    client, pages, waiting = await open_manual(manual.folder()), {}, ["/docs"]
    while waiting:
        path = waiting.pop()
        if path in pages:
            continue
        status, text = await read(client, path)
        assert (path, status) == (path, 200)
        pages[path] = Page(text)
        waiting += [urlsplit(urljoin(path, link)).path for link in pages[path].links if "://" not in link]
    files = [file.relative_to(manual.folder()) for file in manual.folder().rglob("*.md")]
    names = {f"/docs/{file.with_suffix('').as_posix()}" for file in files if file.parts[0] not in manual.NOT_PAGES}
    assert set(pages) == names - {"/docs/index"} | {"/docs"}
    for path, page in pages.items():
        targets = [urlsplit(urljoin(path, link)) for link in page.links if "#" in link and "://" not in link]
        assert [target.geturl() for target in targets if target.fragment not in pages[target.path].ids] == []


async def test_what_the_local_provider_finds_in_the_manual_is_served(open_manual: Open) -> None:
    client = await open_manual(manual.folder())
    async with FakeWeb() as fake, fake.client() as http:
        request = SearchRequest("the a search provider date error setting", max_results=50)
        response = await ask(toolkit, request, http=http, public_url=str(client.make_url("")))
    assert len(response.results) >= 8
    for result in response.results:
        assert (await read(client, urlsplit(str(result.url)).path))[0] == 200


async def test_the_index_is_the_front_page(open_manual: Open, folder: Path) -> None:
    client = await open_manual(folder)
    status, text = await read(client, "/docs")
    assert (status, "<title>Front · Searchport</title>" in text) == (200, True)
    assert (await read(client, "/docs/"))[1] == (await read(client, "/docs/index"))[1] == text


async def test_links_between_files_become_links_between_pages(open_manual: Open, folder: Path) -> None:
    client = await open_manual(folder)
    assert '<a href="/docs/how-to/a%20b#two-words">guide</a>' in (await read(client, "/docs"))[1]
    page = (await read(client, "/docs/how-to/a%20b"))[1]
    assert '<a href="/docs">up</a> <a href="#two-words">here</a>' in page
    assert Page(page).ids == ["a--b", "two-words", "two-words-1"]


async def test_a_link_to_what_is_not_served_is_text(open_manual: Open, folder: Path) -> None:
    assert "<span>out</span> <span>data</span>" in (await read(await open_manual(folder), "/docs"))[1]


@pytest.mark.parametrize(
    "target",
    ["javascript:alert(1)", "data:text/html,x", "//evil.example", "/etc/passwd.md", "http://[zz:1]/", "file:///etc/passwd"],
)
async def test_a_link_that_is_neither_a_page_nor_of_the_web_is_none(open_manual: Open, tmp_path: Path, target: str) -> None:
    (tmp_path / "index.md").write_text(f"# T\n\n[x](<{target}>)")
    page = Page((await read(await open_manual(tmp_path), "/docs"))[1])
    assert page.links == ["/docs"]


async def test_html_in_a_page_is_text(open_manual: Open, tmp_path: Path) -> None:
    (tmp_path / "index.md").write_text("# <script>1</script>\n\n<script>alert(2)</script> <b>x</b>")
    page = (await read(await open_manual(tmp_path), "/docs"))[1]
    assert "<script" not in page
    assert "&lt;script&gt;alert(2)&lt;/script&gt; &lt;b&gt;x&lt;/b&gt;" in page


async def test_tables_are_tables(open_manual: Open, tmp_path: Path) -> None:
    (tmp_path / "index.md").write_text("| a |\n| - |\n| b |\n")
    assert "<td>b</td>" in (await read(await open_manual(tmp_path), "/docs"))[1]


@pytest.mark.parametrize(
    "path",
    [
        "/docs/none",
        "/docs/../secret",
        "/docs/..%2fsecret",
        "/docs/%2e%2e/secret",
        "/docs/how-to/..%2f..%2fsecret.md",
        "/docs/..%5csecret",
        "/docs//etc/passwd",
        "/docs/%2fetc%2fpasswd",
        "/docs/index%00",
        "/docs/%ff",
        "/docs/link",
        "/docs/data.json",
        "/docs/data",
        "/docs/examples/x",
        "/docs/index.md",
    ],
)
async def test_everything_else_is_a_page_that_says_so(open_manual: Open, folder: Path, path: str) -> None:
    client = await open_manual(folder)
    reader, writer = await asyncio.open_connection(client.host, client.port)  # a client library would tidy the path up
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    answer = (await reader.read()).decode()
    writer.close()
    await writer.wait_closed()
    assert answer.startswith("HTTP/1.1 404 ")
    assert "secret" not in answer
    if "/../" not in path and "%2e" not in path:
        assert "<title>Not found · Searchport</title>" in answer


async def test_a_page_allows_its_own_style_and_nothing_else(open_manual: Open, folder: Path) -> None:
    response = await (await open_manual(folder)).get("/docs")
    (style,) = re.findall(r"<style>(.*?)</style>", await response.text(), re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert response.headers["Content-Security-Policy"].startswith(f"default-src 'none'; style-src 'sha256-{digest}'; ")
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Cache-Control"] == "public, max-age=300"


async def test_a_missing_page_is_not_kept_and_allows_no_more(open_manual: Open, folder: Path) -> None:
    response = await (await open_manual(folder)).get("/docs/none")
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["Content-Security-Policy"].startswith("default-src 'none'; ")


async def test_the_list_names_the_page_that_is_shown(open_manual: Open, folder: Path) -> None:
    page = (await read(await open_manual(folder), "/docs/how-to/a%20b"))[1]
    assert '<h2>How-to</h2><ul><li><a href="/docs/how-to/a%20b" aria-current=page>A &amp; B</a></li></ul>' in page


async def test_pages_are_rendered_once(open_manual: Open, folder: Path) -> None:
    client = await open_manual(folder)
    before = await read(client, "/docs")
    (folder / "index.md").write_text("# Changed")
    assert await read(client, "/docs") == before
