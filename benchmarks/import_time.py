"""Time of `import searchport`, and of all its names, beside `import attrs, cattrs`; fresh processes of the same run."""

from __future__ import annotations

import subprocess
import sys
import time

ROUNDS = 15


def measure(statement: str) -> float:
    """Milliseconds of a fresh process that runs `statement`, the best of some rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", statement], check=True)
        best = min(best, time.perf_counter() - started)
    return best * 1e3


def main() -> None:
    start = measure("pass")
    peer = measure("import attrs, cattrs") - start
    print(f"import attrs, cattrs: {peer:.0f} ms")
    for statement in ("import searchport", "from searchport import *"):
        ours = measure(statement) - start
        print(f"{statement}: {ours:.0f} ms; ratio {ours / peer:.2f}")


if __name__ == "__main__":
    main()
