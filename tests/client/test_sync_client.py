"""Searching without asyncio, against a server in a process of its own."""

import asyncio
import gc
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from searchport import ErrorCode, SearchError
from searchport.client import Client, SearchAnswer

from .conftest import Demo


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "searchport-client"]


def test_a_search_needs_no_event_loop(demo: Demo) -> None:
    with Client(demo.url, demo.token) as client:
        answer = client.search("freshness", max_results=3)
        assert isinstance(answer, SearchAnswer)
        assert (answer.provider, 1 <= len(answer) <= 3) == ("local", True)
        assert client.plan("freshness").provider == "local"
    assert threads() == []


async def test_a_search_works_while_an_event_loop_runs(demo: Demo) -> None:
    """As in a notebook's cell."""
    with Client(demo.url, demo.token) as client:
        assert len(client.search("freshness")) >= 1
    assert asyncio.get_running_loop().is_running()


def test_many_searches_keep_their_order(demo: Demo) -> None:
    with Client(demo.url, demo.token) as client:
        found = client.search_many(["freshness", " ", "budget"], max_results=2, concurrency=2)
    assert [type(outcome) for outcome in found] == [SearchAnswer, SearchError, SearchAnswer]


def test_what_makes_the_queries_may_search_too(demo: Demo) -> None:
    with Client(demo.url, demo.token) as client:
        titles = (hit.title for hit in client.search("freshness", max_results=2))
        more = (client.search(title, max_results=1).query for title in titles)
        assert [type(outcome) for outcome in client.search_many(more, max_results=1)] == [SearchAnswer, SearchAnswer]


def test_a_failure_is_the_same_error(demo: Demo) -> None:
    with Client(demo.url, demo.token) as client, pytest.raises(SearchError) as caught:
        client.search("freshness", safe="strict")
    assert (caught.value.code, caught.value.provider) == (ErrorCode.UNSUPPORTED_OPTION, "local")
    with Client(demo.url, "wrong") as client, pytest.raises(SearchError) as caught:
        client.search("freshness")
    assert caught.value.code is ErrorCode.UNAUTHORIZED


def test_threads_may_share_a_client(demo: Demo) -> None:
    with Client(demo.url, demo.token) as client, ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: len(client.search("freshness", max_results=2)), range(24)))
        assert (found, len(threads())) == ([2] * 24, 1)


def test_no_thread_runs_before_the_first_call_and_none_after_the_last(demo: Demo) -> None:
    client = Client(demo.url, demo.token)
    assert threads() == []
    client.search("freshness")
    assert len(threads()) == 1
    client.close()
    client.close()
    assert threads() == []
    with pytest.raises(SearchError, match="the client is closed"):
        client.search("freshness")
    assert threads() == []


def test_a_client_that_is_forgotten_closes_itself(demo: Demo) -> None:
    client = Client(demo.url, demo.token)
    client.search("freshness")
    forgotten = weakref.ref(client)
    del client
    gc.collect()
    assert (forgotten(), threads()) == (None, [])


def test_a_script_that_forgets_to_close_ends_without_a_word(demo: Demo) -> None:
    code = (
        "import sys; from searchport.client import Client\n"
        "client = Client(*sys.argv[1:]); print(len(client.search('freshness', max_results=1)))\n"
    )
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", code, demo.url, demo.token]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """A listening socket of a server that never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(20)
        yield listening


def accept(silent: socket.socket) -> socket.socket:
    """The connection of a client whose request has begun to arrive."""
    connection, _ = silent.accept()
    connection.settimeout(20)
    assert connection.recv(4) == b"POST"
    return connection


def ended(connection: socket.socket) -> bool:
    """True once the client has closed its side."""
    while connection.recv(65_536):
        pass
    return True


def test_closing_ends_a_search_that_runs_in_another_thread(silent: socket.socket) -> None:
    client = Client(f"http://127.0.0.1:{silent.getsockname()[1]}", "token")
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(client.search, "tea")
        with accept(silent) as connection:
            client.close()
            with pytest.raises(SearchError, match="the client is closed"):
                running.result(20)
            assert ended(connection)
    assert threads() == []


def test_an_interrupted_search_is_cancelled_and_the_client_goes_on(silent: socket.socket, demo: Demo) -> None:
    """Control-C, or a notebook's stop button."""
    code = (
        "import sys; from searchport.client import Client\n"
        "client, other = Client(sys.argv[1], 'token'), Client(*sys.argv[2:])\n"
        "try: client.search('tea')\n"
        "except KeyboardInterrupt: print('interrupted', flush=True)\n"
        "sys.stdin.readline(); print(len(other.search('freshness', max_results=1)))\n"
    )
    url = f"http://127.0.0.1:{silent.getsockname()[1]}"
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", code, url, demo.url, demo.token]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:
        try:
            with accept(silent) as connection:
                process.send_signal(signal.SIGINT)
                assert process.stdout is not None
                assert process.stdout.readline() == "interrupted\n"
                assert ended(connection)
            out, err = process.communicate("go on\n", timeout=20)
        finally:
            process.kill()
    assert (process.returncode, out, err) == (0, "1\n", "")


def test_the_repr_holds_no_token() -> None:
    assert repr(Client("https://search.example.com", "canary")) == "Client(HttpTransport('https://search.example.com'))"
