"""Time of `import searchport` beside `import attrs, cattrs`, each in fresh processes of the same run."""

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
    peer, ours = measure("import attrs, cattrs") - start, measure("import searchport") - start
    print(f"import searchport: {ours:.0f} ms; import attrs, cattrs: {peer:.0f} ms; ratio {ours / peer:.2f}")


if __name__ == "__main__":
    main()
