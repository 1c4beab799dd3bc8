"""Microseconds of CPU that `normalize` takes for a value of `tests/cases/dates.jsonl`, next to two strict ISO parsers.

`python benchmarks/normalize.py [ROUNDS]`. The best of all rounds counts; the peers run in the same rounds, over the ISO
values that they read, so the ratios hold on a busy machine too. They read one syntax, `normalize` all of them.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

from dateutil.parser import isoparse

from searchport.published_date import normalize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

CASE_FILE = Path(__file__).parents[1] / "tests" / "cases" / "dates.jsonl"


def measure(read: Callable[[str], object], values: list[str]) -> float:
    """Microseconds a value."""
    start = process_time()
    for value in values:
        read(value)
    return (process_time() - start) / len(values) * 1e6


def readable(read: Callable[[str], object], values: Iterable[str]) -> list[str]:
    """The values that a parser reads without an exception."""
    found = []
    for value in values:
        try:
            read(value)
        except ValueError:
            continue
        found.append(value)
    return found


def main(rounds: int) -> None:
    cases = [json.loads(line) for line in CASE_FILE.read_text("utf-8").splitlines()]
    categories: dict[str, list[str]] = defaultdict(list)
    for case in cases:
        categories[case["category"]].append(case["value"])
    values = [case["value"] for case in cases]  # in the file's mixed order, which costs more than sorted by kind
    iso = readable(isoparse, readable(datetime.fromisoformat, categories["iso-date"] + categories["iso-datetime"]))
    runs: dict[str, tuple[Callable[[str], object], list[str]]] = {
        f"normalize, all {len(values)} values": (normalize, values),
        **{f"normalize, {name}": (normalize, found) for name, found in sorted(categories.items())},
        f"normalize, {len(iso)} ISO values": (normalize, iso),
        "dateutil isoparse, the same": (isoparse, iso),
        "datetime.fromisoformat, the same": (datetime.fromisoformat, iso),
    }
    taken = [{name: measure(*run) for name, run in runs.items()} for _ in range(rounds)]  # in turns: clock speeds vary
    best = {name: min(times[name] for times in taken) for name in runs}
    peer = best["dateutil isoparse, the same"]
    for name, microseconds in best.items():
        print(f"{name:42} {microseconds:7.2f} us {microseconds / peer:6.2f} x isoparse")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
