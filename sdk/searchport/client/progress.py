"""How far many searches are, as counts and never a query: a bar in the notebook, or on the terminal where rich is installed."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["show_progress"]


@contextmanager
def show_progress(total: int, *, wanted: bool) -> Iterator[Callable[[], None]]:
    """Gives a function to call at the end of each search. Shows nothing where standard error is no terminal."""
    if wanted and _is_notebook():
        yield _show_in_notebook(total)
    elif wanted and sys.stderr is not None and sys.stderr.isatty():
        with _show_on_terminal(total) as advance:
            yield advance
    else:
        yield _nothing


def _is_notebook() -> bool:
    """True in a process that is a kernel: IPython is there already, and its shell has one."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def _show_in_notebook(total: int) -> Callable[[], None]:
    """The browser's own bar, in the cell's output: rich needs ipywidgets for one."""
    shown = importlib.import_module("IPython.display")  # no dependency of ours: a kernel has loaded it
    done = 0
    handle = shown.display(shown.HTML(_bar(done, total)), display_id=True)

    def advance() -> None:
        nonlocal done
        done += 1
        handle.update(shown.HTML(_bar(done, total)))

    return advance


def _bar(done: int, total: int) -> str:
    return f'<progress value="{done}" max="{total}"></progress> {done}/{total}'


@contextmanager
def _show_on_terminal(total: int) -> Iterator[Callable[[], None]]:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    except ImportError:
        yield _nothing
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), redirect_stdout=False, redirect_stderr=False) as progress:
        task = progress.add_task("Searching", total=total)
        yield lambda: progress.advance(task)


def _nothing() -> None:
    """No bar, nothing to advance."""
