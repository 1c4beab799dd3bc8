"""Every built-in toolkit that asks a vendor keeps every promise of the contract, as the kit tells them to its author."""

import json
import os
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchport.testing.conformance import CHECKS, Answers, Check, NotApplicable, run_check, shapes

ANSWERS = Path(__file__).parents[1] / "toolkits" / "answers"
NO_VENDOR = {
    "fake": "it invents its results and asks nobody",
    "local": "it searches a folder of the operator's and asks nobody",
}
BUILT_IN = {
    entry.name: entry for entry in entry_points(group="searchport.toolkits") if entry.dist and entry.dist.name == "searchport"
}
VENDORS = sorted(set(BUILT_IN) - set(NO_VENDOR))


def load_answers(provider: str) -> Answers:
    path = ANSWERS / f"{provider}.toml"
    if not path.is_file():
        pytest.fail(f"toolkit {provider!r} has no answers file; write tests/toolkits/answers/{provider}.toml", pytrace=False)
    return Answers.load(path)


@pytest.mark.parametrize("check", CHECKS, ids=str)
@pytest.mark.parametrize("provider", VENDORS)
def test_a_built_in_toolkit_keeps_the_promise(provider: str, check: Check) -> None:
    try:
        violations = run_check(check, BUILT_IN[provider].load(), load_answers(provider))
    except NotApplicable as reason:
        pytest.skip(str(reason))
    assert [str(violation) for violation in violations] == []


@pytest.mark.prove
@pytest.mark.parametrize("provider", VENDORS)
def test_many_more_invented_answers_do_no_harm(provider: str) -> None:
    (check,) = [check for check in CHECKS if check.name == "any-answer"]
    examples = 200 * int(os.environ.get("SEARCHPORT_PROVE_RUNS", "1"))
    violations = run_check(check, BUILT_IN[provider].load(), load_answers(provider), examples=examples)
    assert [str(violation) for violation in violations] == []


def any_json() -> st.SearchStrategy[object]:
    leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
    return st.recursive(leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4))


@pytest.mark.parametrize("provider", [name for name in VENDORS if load_answers(name).format_ == "json"])
def test_any_value_anywhere_in_an_answer_gives_rows_or_an_error_of_the_catalogue(provider: str) -> None:
    answers = load_answers(provider)
    with shapes.Bench(BUILT_IN[provider].load(), answers, examples=0) as bench:
        page = json.loads(bench.write_page(1, 3))

        @settings(max_examples=settings().max_examples // 3)
        @given(st.sampled_from(list(shapes._paths(page))), any_json())
        def hold(path: tuple[str | int, ...], value: object) -> None:
            text = json.dumps(shapes._replaced(page, path, value))
            assert list(shapes._find_faults(shapes._ask(bench, text), text, "an answer")) == []

        hold()


@pytest.mark.parametrize("provider", NO_VENDOR)
def test_a_toolkit_without_a_vendor_asks_nobody(provider: str) -> None:
    """So there is nothing for the kit to answer; such toolkits have tests of their own."""
    source = Path(BUILT_IN[provider].load().web_search.function.__code__.co_filename).read_text(encoding="utf-8")
    assert "context.http" not in source


def test_an_answers_file_belongs_to_a_toolkit() -> None:
    assert {path.stem for path in ANSWERS.glob("*.toml")} <= set(BUILT_IN)
