"""Vendors on loopback, as an operator would put a recorder in front of them, and the command that asks them."""

import functools
import io
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import attrs
import pytest
from click.testing import CliRunner, Result

from searchport_platform.cli.commands import cli
from searchport_platform.logs import configure_logs

GOOGLE, BRAVE = "google-cse", "brave"


@attrs.frozen
class Asked:
    """One request that a vendor got."""

    query: dict[str, str]
    headers: dict[str, str]


@attrs.define
class Vendor:
    """A vendor's server. pages: query -> URLs of its answer, the same for any query under `*`; a number is an HTTP status."""

    provider: str
    pages: dict[str, list[str] | int] = attrs.field(factory=dict)
    date: str | None = None
    asked: list[Asked] = attrs.field(factory=list)
    hold: threading.Event | None = None
    origin: str = ""

    def answer(self, asked: Asked) -> tuple[int, object]:
        self.asked.append(asked)
        found = self.pages.get(asked.query["q"], self.pages.get("*", []))
        if isinstance(found, int):
            return found, {"error": {"message": "no", "errors": [{"reason": "backendError"}]}}
        return 200, (_google_page if self.provider == GOOGLE else _brave_page)(found, self.date)


def _google_page(urls: list[str], date: str | None) -> object:
    dated = {} if date is None else {"pagemap": {"metatags": [{"article:published_time": date}]}}
    items = [{"title": f"Page {number}", "link": url, **dated} for number, url in enumerate(urls)]
    return {"kind": "customsearch#search", **({"items": items} if items else {})}


def _brave_page(urls: list[str], date: str | None) -> object:
    dated = {} if date is None else {"age": date}
    rows = [{"title": f"Page {number}", "url": url, "description": "words", **dated} for number, url in enumerate(urls)]
    return {"query": {"more_results_available": False}, "web": {"results": rows}}


def _serve(vendor: Vendor) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = Asked(dict(parse_qsl(urlsplit(self.path).query)), {k.lower(): v for k, v in self.headers.items()})
            status, page = vendor.answer(asked)
            if vendor.hold is not None and len(vendor.asked) > 1:
                vendor.hold.wait(20)
            body = json.dumps(page).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """A client that was interrupted has closed its end."""

    return Server(("127.0.0.1", 0), Handler)


def _running(provider: str) -> Iterator[Vendor]:
    vendor = Vendor(provider)
    server = _serve(vendor)
    vendor.origin = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield vendor
    if vendor.hold is not None:
        vendor.hold.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def google() -> Iterator[Vendor]:
    """Google's Custom Search JSON API."""
    yield from _running(GOOGLE)


@pytest.fixture
def brave() -> Iterator[Vendor]:
    """Brave's API."""
    yield from _running(BRAVE)


@pytest.fixture
def environment(google: Vendor, brave: Vendor, tmp_path: Path) -> dict[str, str]:
    """An operator's, that leads both providers to loopback and keeps Google on after its end; and keys in files."""
    (tmp_path / "brave.key").write_text("brave-canary\n", encoding="utf-8")
    (tmp_path / "google.key").write_text("google-canary\n", encoding="utf-8")
    origins = {GOOGLE: google.origin, BRAVE: brave.origin}
    return {"SEARCHPORT_PROVIDER_BASE_URLS": json.dumps(origins), "SEARCHPORT_KEEP": GOOGLE, "COLUMNS": "160", "NO_COLOR": "1"}


Migrate = Callable[..., Result]


@pytest.fixture
def migrate(environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Migrate:
    """Runs `searchport migrate google-cse` over these lines, in this process, in the folder of the keys."""
    configure = functools.partial(configure_logs, stream=io.StringIO())
    monkeypatch.setattr("searchport_platform.cli.migrate_command.configure_logs", configure)
    monkeypatch.chdir(tmp_path)

    def run(lines: list[str] | bytes, *arguments: str, **more: str) -> Result:
        text = lines if isinstance(lines, bytes) else "\n".join(lines).encode()
        (tmp_path / "calls.txt").write_bytes(text)
        return CliRunner().invoke(cli, ["migrate", "google-cse", "calls.txt", *arguments], env=environment | more)

    return run


TO_BRAVE = ("--provider", BRAVE, "--key-file", "brave.key")
WITH_GOOGLE = ("--google-key-file", "google.key")


def call(query: str = "tea", **parameters: str) -> str:
    """A call's URL, with a key that must never be seen again."""
    more = "".join(f"&{name}={value}" for name, value in parameters.items())
    return f"https://www.googleapis.com/customsearch/v1?key=line-canary&cx=engine&q={query}{more}"


def read_report(done: Result) -> dict[str, Any]:
    """The report of a run with `--json`."""
    report: dict[str, Any] = json.loads(done.stdout)
    return report
