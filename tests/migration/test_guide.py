"""The guide to leaving Google runs from its first command to its last."""

import argparse
import functools
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import attrs
import pytest
from click.testing import CliRunner

from searchport import manual
from searchport_platform.cli.commands import cli
from searchport_platform.logs import configure_logs

from .conftest import Vendor

GUIDE = (manual.folder() / "how-to" / "leave-google-cse.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8080"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


def steps() -> list[tuple[str, str]]:
    """The guide's commands in order, each with the output that is shown for it."""
    found = []
    for block in blocks("console"):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = step.partition("\n")
            found.append((command, output))
    return found


@attrs.define
class Shell:
    """Runs the guide's commands in one folder: the server as a process, the rest in this one, which takes a tenth of the time."""

    folder: Path
    environment: dict[str, str]
    url: str = ADDRESS
    server: subprocess.Popen[str] | None = None

    def run(self, command: str) -> str:
        """Its standard output; it must succeed."""
        command, _, file = command.replace(ADDRESS, self.url).partition(" > ")
        name, *arguments = self._expand(command)
        output: str = getattr(self, f"_run_{name}")(arguments)
        if file:
            (self.folder / file).write_text(output, encoding="utf-8")
        return output

    def _expand(self, command: str) -> list[str]:
        """The command's words as a shell reads them."""
        given: dict[str, Any] = {"env": os.environ | self.environment, "cwd": self.folder}
        done = subprocess.run(["/bin/sh", "-c", f"printf '%s\\0' {command}"], capture_output=True, text=True, check=True, **given)
        return done.stdout.split("\0")[:-1]

    def _run_export(self, arguments: list[str]) -> str:
        name, _, value = arguments[0].partition("=")
        self.environment[name] = value
        return ""

    def _run_searchport(self, arguments: list[str]) -> str:
        if arguments[0] == "serve":
            return self._serve([*arguments[:-1], "0"])
        done = CliRunner().invoke(cli, arguments, env=self.environment)
        assert (done.exit_code, done.stderr) == (0, ""), arguments
        return done.stdout

    def _serve(self, arguments: list[str]) -> str:
        given: dict[str, Any] = {
            "env": os.environ | self.environment,
            "cwd": self.folder,
            "stderr": subprocess.PIPE,
            "text": True,
        }
        self.server = subprocess.Popen([sys.executable, "-m", "searchport_platform", *arguments], **given)
        assert self.server.stderr is not None
        self.url = next(event["url"] for line in self.server.stderr if (event := json.loads(line))["event"] == "listening")
        return ""

    def _run_curl(self, arguments: list[str]) -> str:
        """What the guide needs of curl, for machines that have none."""
        parser = argparse.ArgumentParser()
        parser.add_argument("url")
        parser.add_argument("-X", default="GET", dest="method")
        parser.add_argument("-d", dest="body")
        parser.add_argument("-H", action="append", default=[], dest="headers")
        asked = parser.parse_args(arguments)
        url = urlsplit(asked.url)
        with closing(HTTPConnection(url.hostname or "", url.port, timeout=20)) as connection:
            headers = dict(header.split(": ", 1) for header in asked.headers)
            connection.request(asked.method, f"{url.path}?{url.query}", asked.body, headers)
            answer = connection.getresponse()
            body = answer.read().decode()
        assert answer.status < 300, body
        return body


@pytest.fixture
def shell(
    environment: dict[str, str], google: Vendor, brave: Vendor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Shell]:
    """A folder with the guide's files, and vendors on loopback."""
    google.pages = {"*": ["https://example.com/google"]}
    brave.pages = {"*": ["https://example.com/brave"]}
    (calls,) = blocks("text")
    (tmp_path / "calls.txt").write_text(calls, encoding="utf-8")
    for module in ("migrate_command", "tenants"):
        configure = functools.partial(configure_logs, stream=io.StringIO())
        monkeypatch.setattr(f"searchport_platform.cli.{module}.configure_logs", configure)
    monkeypatch.chdir(tmp_path)
    found = Shell(tmp_path, dict(environment))
    yield found
    if found.server is not None:
        found.server.send_signal(signal.SIGTERM)
        found.server.communicate(timeout=30)


def test_the_guide_runs_to_its_end(shell: Shell, google: Vendor, brave: Vendor) -> None:
    answers: list[Any] = []
    for command, shown in steps():
        output = shell.run(command)
        if shown:
            assert [line.rstrip() for line in output.splitlines()] == shown.splitlines()
        if "/compat/" in command:
            answers.append([item["link"] for item in json.loads(output)["items"]])
    assert answers == [["https://example.com/google"], ["https://example.com/brave"]]
    assert {asked.query["key"] for asked in google.asked} == {"google-canary"}
    assert {asked.headers["x-subscription-token"] for asked in brave.asked} == {"brave-canary"}
