"""Counts the lines of code in each built-in provider, and those that stand in another one too.

Not counted: docstrings, comments, blank lines and imports. Repeated: a line in a run of six or more that another provider has
as well; shorter runs are mostly what every declaration and every function of this shape must write.
"""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "toolkits" / "searchport_toolkits"
_RUN = 6
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def read_code(source: str) -> list[str]:
    """The lines of code of a module, without the white space at their ends."""
    tokens = tokenize.tokenize(io.BytesIO(source.encode()).readline)
    numbers = {line for t in tokens if t.type not in _NO_CODE for line in range(t.start[0], t.end[0] + 1)}
    for node in ast.walk(ast.parse(source)):
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        if isinstance(node, ast.Import | ast.ImportFrom) or is_docstring:
            numbers -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = source.splitlines()
    return [lines[number - 1].strip() for number in sorted(numbers)]


def count_repeated(code: dict[str, list[str]]) -> dict[str, int]:
    """Provider -> how many of its lines stand, in a run, in another provider too."""
    runs: dict[tuple[str, ...], set[str]] = {}
    for name, lines in code.items():
        for start in range(len(lines) - _RUN + 1):
            runs.setdefault(tuple(lines[start : start + _RUN]), set()).add(name)
    repeated: dict[str, int] = {}
    for name, lines in code.items():
        shared = [start for start in range(len(lines) - _RUN + 1) if len(runs[tuple(lines[start : start + _RUN])]) > 1]
        repeated[name] = len({start + offset for start in shared for offset in range(_RUN)})
    return repeated


def measure() -> dict[str, tuple[int, int]]:
    """Provider -> its lines of code, and how many of them are repeated."""
    files = sorted(path for path in FOLDER.glob("*.py") if path.stem != "__init__")
    code = {path.stem: read_code(path.read_text(encoding="utf-8")) for path in files}
    repeated = count_repeated(code)
    return {name: (len(lines), repeated[name]) for name, lines in code.items()}


if __name__ == "__main__":
    measured = measure()
    for name, (lines, repeated) in measured.items():
        print(f"{name:12} {lines:4} lines, {repeated:3} repeated")
    total, again = (sum(column) for column in zip(*measured.values(), strict=True))
    print(f"{len(measured)} providers, {total} lines, {again} repeated ({again / total:.1%})")
