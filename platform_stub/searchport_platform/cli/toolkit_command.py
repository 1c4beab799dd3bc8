"""`searchport toolkit`: for who writes one: begin a package, and check it against the contract."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from searchport_platform.cli.new_toolkit import NewToolkitError, write_toolkit

if TYPE_CHECKING:
    from searchport.testing.conformance import Answers, Outcome
    from searchport_platform.registry import AnyToolkit

__all__ = ["toolkit"]

_MARKS = {"kept": ("✓", "green"), "broken": ("✗", "red"), "skipped": ("-", "dim")}


@click.group()
def toolkit() -> None:
    """Write a toolkit: begin a package, check it against the contract."""


@toolkit.command()
@click.argument("toolkit_id", metavar="ID")
@click.option("--folder", type=click.Path(path_type=Path), help="Where to write it; else a new folder of the toolkit's name.")
def new(toolkit_id: str, folder: Path | None) -> None:
    """Write a package with a toolkit ID, such as acme-search, that passes the conformance kit."""
    try:
        written = write_toolkit(toolkit_id, folder or Path(toolkit_id))
    except (NewToolkitError, OSError) as error:
        raise click.UsageError(str(error)) from None
    for path in written:
        click.echo(path)
    click.echo(f"\nNext: cd {folder or toolkit_id} && pip install -e '.[test]' && pytest")


@toolkit.command()
@click.argument("reference", metavar="MODULE:NAME|ID")
@click.option(
    "--answers",
    "answers_path",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="How its vendor answers; else tests/answers.toml or answers.toml.",
)
@click.option("--examples", type=click.IntRange(1, 1_000_000), help="How many invented answers to try where any will do.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
def check(reference: str, answers_path: Path | None, examples: int | None, as_json: bool) -> None:
    """Check a toolkit against every promise of the contract.

    Exits with 0 where all are kept, 1 where one is broken, 2 where there is nothing to check.
    """
    try:
        from searchport.testing.conformance.run import EXAMPLES, run_checks
    except ModuleNotFoundError as error:
        raise click.UsageError(f"the kit needs {error.name!r}; install it with: pip install 'searchport[testing]'") from None
    found, answers = _load(reference, answers_path)
    outcomes = list(run_checks(found, answers, examples=examples or EXAMPLES))
    if as_json:
        click.echo(json.dumps(_describe(found, answers, outcomes), ensure_ascii=False, indent=2))
    else:
        _print(found, outcomes)
    sys.exit(any(outcome.violations for outcome in outcomes))


def _load(reference: str, answers_path: Path | None) -> tuple[AnyToolkit, Answers]:
    from searchport.testing.conformance import Answers, AnswersError, ToolkitNotFoundError, find_answers, load_toolkit

    try:
        found = load_toolkit(reference, folder=Path.cwd())
        return found, Answers.load(answers_path or find_answers(found, folder=Path.cwd()))
    except (ToolkitNotFoundError, AnswersError, OSError) as error:
        raise click.UsageError(str(error)) from None
    except Exception as error:  # noqa: BLE001  # whatever the module raises at import, its author needs to read it
        raise click.UsageError(f"{reference} cannot be imported: {type(error).__name__}: {error}") from None


def _word(outcome: Outcome) -> str:
    return "broken" if outcome.violations else "kept" if outcome.skipped is None else "skipped"


def _describe(found: AnyToolkit, answers: Answers, outcomes: Sequence[Outcome]) -> dict[str, object]:
    return {
        "toolkit": found.id,
        "answers": answers.place,
        "kept": not any(outcome.violations for outcome in outcomes),
        "checks": [
            {
                "name": outcome.check.name,
                "promise": outcome.check.promise,
                "outcome": _word(outcome),
                **({} if outcome.skipped is None else {"reason": outcome.skipped}),
                "violations": [
                    {"promised": violation.promised, "happened": violation.happened, "change": violation.change}
                    for violation in outcome.violations
                ],
            }
            for outcome in outcomes
        ],
    }


def _print(found: AnyToolkit, outcomes: Sequence[Outcome]) -> None:
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
    for outcome in outcomes:
        mark, style = _MARKS[_word(outcome)]
        table.add_row(Text(mark, style=style), outcome.check.name, Text(outcome.skipped or outcome.check.promise, style="dim"))
    console = Console()
    console.print(table)
    for outcome in outcomes:
        for violation in outcome.violations:
            click.echo(f"\n✗ {outcome.check.name}")
            click.echo(f"  promised  {violation.promised}\n  happened  {violation.happened}\n  change    {violation.change}")
    words = [_word(outcome) for outcome in outcomes]
    click.echo(
        f"\n{found.id}: {words.count('kept')} kept, {words.count('broken')} broken, {words.count('skipped')} not concerned"
    )
