"""What the server as it is started writes of requests whose URL holds the query and the token."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import pytest

QUERY = "canary query 51c2"


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    """`searchport demo`, ready, and its address and tokens."""
    command = [sys.executable, "-m", "searchport_platform", "demo", "--port", "0", "--data", str(tmp_path), "--json"]
    with (tmp_path / "log").open("w") as log, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as process:
        assert process.stdout is not None
        yield process, json.loads(process.stdout.readline())
        process.kill()


def get(told: dict[str, str], path: str, params: dict[str, str], headers: dict[str, str]) -> tuple[int, Any]:
    with closing(HTTPConnection(urlsplit(told["url"]).netloc, timeout=20)) as connection:
        connection.request("GET", f"{path}?{urlencode(params)}", headers=headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())


def test_neither_query_nor_token_is_in_the_servers_log(demo: Any, tmp_path: Path) -> None:
    process, told = demo
    token = told["searchToken"]
    header = {"X-Subscription-Token": token}
    asked = [
        get(told, "/compat/google/customsearch/v1", {"q": QUERY, "cx": "demo", "key": token}, {}),
        get(told, "/compat/google/customsearch/v1", {"q": QUERY, "key": token, "sort": "date"}, {}),
        get(told, "/compat/google/customsearch/v1", {"q": QUERY, "key": f"{token}x"}, {}),
        get(told, "/compat/searxng", {"q": QUERY, "format": "json", "safesearch": "1"}, header),
        get(told, "/compat/brave/res/v1/web/search", {"q": QUERY, "count": "3"}, header),
        get(told, "/compat/brave/res/v1/web/search", {"q": QUERY, "count": "99"}, header),
    ]
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=20)
    written = (tmp_path / "log").read_text()
    assert [status for status, _ in asked] == [200, 400, 400, 200, 200, 422]
    events = [json.loads(line) for line in written.splitlines()]
    assert len([event for event in events if event["event"] == "request"]) == len(asked)
    assert [text for text in (QUERY, quote(QUERY), QUERY.replace(" ", "+"), "canary", token) if text in written] == []


def test_the_longest_query_fits_into_a_url(demo: Any) -> None:
    """A character takes twelve bytes there, at most; beyond, the HTTP library would answer instead of the door."""
    _, told = demo
    longest = chr(0x20000) * 2_000
    header = {"X-Subscription-Token": told["searchToken"]}
    paths = ("/compat/google/customsearch/v1", "/compat/searxng", "/compat/brave/res/v1/web/search")
    for path, fixed in zip(paths, ({}, {"format": "json"}, {}), strict=True):
        assert get(told, path, {"q": longest, **fixed}, header)[0] == 200
        status, body = get(told, path, {"q": f"{longest}x", **fixed}, header)
        assert (status in (400, 422), "2,001 characters" in json.dumps(body)) == (True, True)


def test_the_demos_own_provider_answers_a_client_that_knows_nothing_of_it(demo: Any) -> None:
    _, told = demo
    params = {"q": "freshness", "cx": "demo", "num": "3", "key": told["searchToken"]}
    status, body = get(told, "/compat/google/customsearch/v1", params, {})
    assert (status, bool(body["items"])) == (200, True)
    assert all(item["link"].startswith(f"{told['url']}/docs/") for item in body["items"])
