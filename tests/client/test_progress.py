"""The bar of many searches, on a real terminal."""

import os
import pty
import subprocess
import sys

import pytest

from searchport.client import AsyncClient

from .conftest import Demo, Recorder

SCRIPT = """
import sys
from searchport.client import Client
{before}
with Client(*sys.argv[1:]) as client:
    print(len(client.search_many(["freshness", "canary"], progress={progress})))
"""


def run(demo: Demo, *, progress: bool, before: str = "") -> tuple[str, str]:
    """What a script writes to standard output, and to a terminal as its standard error."""
    ours, theirs = pty.openpty()
    code = SCRIPT.format(progress=progress, before=before)
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    command = [sys.executable, "-c", code, demo.url, demo.token]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, env=environment, text=True, timeout=30, check=True)
    os.set_blocking(ours, False)
    try:
        shown = os.read(ours, 65_536).decode()
    except BlockingIOError:
        shown = ""
    os.close(ours)
    os.close(theirs)
    return done.stdout, shown


def test_a_bar_counts_on_the_terminal_and_tells_no_query(demo: Demo) -> None:
    out, shown = run(demo, progress=True)
    assert (out, "Searching" in shown, "2/2" in shown, "canary" in shown) == ("2\n", True, True, False)


def test_no_bar_is_shown_unless_asked_for(demo: Demo) -> None:
    assert run(demo, progress=False) == ("2\n", "")


def test_without_rich_there_is_no_bar_and_no_failure(demo: Demo) -> None:
    assert run(demo, progress=True, before="sys.modules['rich'] = sys.modules['rich.console'] = None") == ("2\n", "")


async def test_nothing_is_shown_where_standard_error_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    found = await AsyncClient(transport=Recorder()).search_many(["a", "b"], progress=True)
    assert (len(found), tuple(capsys.readouterr())) == (2, ("", ""))
