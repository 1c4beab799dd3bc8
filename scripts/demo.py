"""`make demo`: serves the stateless door and shows one search through it, with the `fake` provider: no key, no network."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

START_SECONDS = 20
BODY = {"provider": "fake", "query": "red pandas", "count": 3, "freshness": "week", "locale": "en-US"}


def main() -> int:
    """Serves until Ctrl-C. Exits 1 where the server does not start."""
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--port", type=int, default=8080, help="port of the demo server (default: 8080)")
    port = parser.parse_args().port
    url = f"http://127.0.0.1:{port}"
    command = [str(Path(sys.executable).with_name("searchport")), "serve", "--ops-only", "--port", str(port)]
    with subprocess.Popen(command, env=read_environment()) as server:
        try:
            if not wait_until_ready(server, url):
                print(f"The demo server did not start; is port {port} taken? Try: make demo ARGS='--port {port + 1}'")
                return 1
            print(f"\nServing on {url}. A search with invented results:\n\n{show_curl(url)}\n")
            print(json.dumps(search(url), indent=2), flush=True)
            print("\nPress Ctrl-C to stop.", flush=True)
            return server.wait()
        except KeyboardInterrupt:
            return 0
        finally:
            server.send_signal(signal.SIGTERM)


def read_environment() -> dict[str, str]:
    """This process's environment without settings of Searchport's: the demo is the same for everyone."""
    return {name: value for name, value in os.environ.items() if not name.startswith("SEARCHPORT_")}


def wait_until_ready(server: subprocess.Popen[bytes], url: str) -> bool:
    """True once this very server answers; False where it exits or stays silent."""
    until = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < until:
        try:
            with urllib.request.urlopen(f"{url}/healthz", timeout=1):  # noqa: S310  # the URL is ours
                return server.poll() is None
        except OSError:
            time.sleep(0.05)
    return False


def show_curl(url: str) -> str:
    """The search as a command to copy."""
    return f"curl {url}/ops/search -H 'Content-Type: application/json' \\\n  -d {shlex.quote(json.dumps(BODY))}"


def search(url: str) -> object:
    """The same search, sent from here."""
    request = urllib.request.Request(  # noqa: S310  # the URL is ours
        f"{url}/ops/search", json.dumps(BODY).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as response:  # noqa: S310  # the URL is ours
            return json.load(response)
    except urllib.error.HTTPError as refused:
        return json.load(refused)


if __name__ == "__main__":
    sys.exit(main())
