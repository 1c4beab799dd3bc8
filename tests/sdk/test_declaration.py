"""Declaring a toolkit: every mistake fails on import, naming the toolkit and the fix."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import attrs
import pytest

from searchport import (
    SEARCH_API_KEY,
    ErrorCode,
    Recency,
    SearchContext,
    SearchError,
    SearchRequest,
    SearchResponse,
    Sunset,
    define_toolkit,
    define_web_search,
    operator_only,
)
from searchport.price import Price
from searchport.toolkit import DeclarationError, Toolkit

WINDOWS = {Recency.DAY: "d", Recency.WEEK: "w", Recency.MONTH: "m", Recency.YEAR: "y"}


async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
    return SearchResponse([], vendor="acme")


def declare(**declared: Any) -> Toolkit[None]:
    toolkit = define_toolkit(id="acme-search", name="Acme", credential_ref=SEARCH_API_KEY)
    define_web_search(toolkit, **({"recency": WINDOWS} | declared))(search)
    return toolkit


@pytest.mark.parametrize("id_", ["", "Acme", "acme_search", "-acme", "acme-", "a--b", "1acme", "acme search", "a" * 65, None, 5])
def test_an_id_is_lower_case_letters_digits_and_single_hyphens(id_: Any) -> None:
    with pytest.raises(DeclarationError, match="write it like 'acme-search'"):
        define_toolkit(id=id_, name="Acme", credential_ref=None)


@pytest.mark.parametrize("ref", ["BRAVE_API_KEY", "search.apikey", ""])
def test_there_is_one_credential_name_whatever_the_vendor(ref: str) -> None:
    with pytest.raises(DeclarationError, match="use credential_ref=SEARCH_API_KEY"):
        define_toolkit(id="acme", name="Acme", credential_ref=ref)


def test_a_toolkit_has_a_name_for_people() -> None:
    with pytest.raises(DeclarationError, match="no name"):
        define_toolkit(id="acme", name=" ", credential_ref=None)


def test_settings_are_an_attrs_class() -> None:
    with pytest.raises(DeclarationError, match="no attrs class"):
        define_toolkit(id="acme", name="Acme", credential_ref=None, settings=dict)


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({"recency": {Recency.DAY: "d"}}, "recency misses Recency.WEEK, Recency.MONTH, Recency.YEAR"),
        ({"recency": WINDOWS | {"hour": "h"}}, "recency maps hour"),
        ({"recency": WINDOWS | {Recency.DAY: 1}}, r"recency\[day\] is no text"),
        ({"unsupported": {"saef"}}, "unknown option 'saef'; .*did you mean 'safe'"),
        ({"unsupported": "safe"}, 'unsupported is a text, not a set; write unsupported={"safe"}'),
        ({"native": {"query"}}, "native names the unknown option 'query'"),
        ({"best_effort": {"safe"}}, "'safe' cannot be best effort"),
        ({"best_effort": {"freshness"}}, "'freshness' cannot be best effort"),
        ({"unsupported": {"site"}, "native": {"site"}}, "'site' is unsupported and supported at once"),
        ({"contract": "web-search@2"}, "contract 'web-search@2' is unknown; this SDK speaks 'web-search@1'"),
        ({"text": "markdown"}, "text 'markdown' is unknown"),
        ({"page_size": 0}, "page_size is 0"),
        ({"page_size": True}, "page_size is True"),
        ({"max_pages": -1}, "max_pages is -1"),
        ({"max_query": 2_001}, "max_query is 2001"),
        ({"price_per_1000": 5.0}, "price_per_1000: it is 5.0"),
        ({"price_per_1000": Decimal("NaN")}, "price_per_1000: usd is"),
        ({"price_per_1000": Price(Decimal(5), models={"deep": Decimal(-1)})}, "price_per_1000: deep is"),
        ({"fetch_models": lambda context: []}, "fetch_models is not async"),
        ({"literal": "no"}, "literal is no boolean"),
        ({"breaker": None}, "breaker is no boolean"),
        ({"refusals": {ErrorCode.PROVIDER_REJECTED: "Q1"}}, "refusals holds"),
        ({"refusals": {"Q1": "provider_rejected"}}, "refusals holds 'Q1': str"),
        ({"refusals": [("Q1", ErrorCode.PROVIDER_REJECTED)]}, "refusals is list, not a mapping"),
        ({"read_refusal": search}, "read_refusal is no plain function"),
        ({"languages": ["en"]}, "languages is list, not a mapping"),
        ({"languages": {"en": "en"}}, "languages is given, but 'language' is listed nowhere"),
        ({"recency": "day"}, "recency is str, not a mapping"),
        ({"recency": WINDOWS | {Recency.DAY: search}}, r"recency\[day\] is async"),
        ({"unsupported": None}, "unsupported is no set of names"),
        ({"nothing_found": "NO_RESULT"}, 'nothing_found is a text, not a set; write nothing_found={"NO_RESULT"}'),
        ({"nothing_found": {404}}, "nothing_found is no set of names"),
        ({"native": {"language"}, "best_effort": {"language"}}, "'language' is native and best effort at once"),
    ],
)
def test_a_wrong_declaration_names_the_toolkit_and_the_mistake(declared: dict[str, Any], words: str) -> None:
    with pytest.raises(DeclarationError, match=f"toolkit 'acme-search': .*{words}"):
        declare(**declared)


def test_a_function_that_is_not_async_is_refused() -> None:
    toolkit = define_toolkit(id="acme", name="Acme", credential_ref=None)
    decorate: Callable[[Any], Any] = define_web_search(toolkit, recency=None)
    with pytest.raises(DeclarationError, match="not async"):
        decorate(lambda request, context: None)


def test_a_function_takes_a_request_and_a_context() -> None:
    async def search(request: SearchRequest) -> SearchResponse:
        return SearchResponse([], vendor="acme")

    toolkit = define_toolkit(id="acme", name="Acme", credential_ref=None)
    decorate: Callable[[Any], Any] = define_web_search(toolkit, recency=None)
    with pytest.raises(DeclarationError, match="does not take two arguments"):
        decorate(search)


def test_every_mistake_of_a_declaration_is_told() -> None:
    with pytest.raises(DeclarationError, match=r"page_size is 0; .* \(also: max_pages is 0; literal is no boolean\)"):
        declare(page_size=0, max_pages=0, literal=None)


def test_what_is_prepared_is_a_plain_function() -> None:
    async def prepare(settings: None) -> None: ...

    with pytest.raises(DeclarationError, match="no plain function"):
        define_toolkit(id="acme", name="Acme", credential_ref=None, prepare=prepare)


def test_a_toolkit_has_one_web_search() -> None:
    toolkit = declare()
    with pytest.raises(DeclarationError, match="has web search already"):
        define_web_search(toolkit, recency=None)(search)


def test_a_toolkit_without_web_search_says_so() -> None:
    with pytest.raises(DeclarationError, match="decorate its function with @define_web_search"):
        _ = define_toolkit(id="acme", name="Acme", credential_ref=None).web_search


def test_the_decorated_function_stays_itself() -> None:
    toolkit = define_toolkit(id="acme", name="Acme", credential_ref=None)
    assert define_web_search(toolkit, recency=None)(search) is search


def test_a_sunset_is_over_from_its_first_day_on() -> None:
    sunset = Sunset(ends=date(2027, 1, 1), reason="r", successors=["brave"], source="https://acme.example/end")
    assert not sunset.is_over(date(2026, 12, 31))
    assert sunset.is_over(date(2027, 1, 1))


@pytest.mark.parametrize(
    "wrong",
    [{"ends": "2027-01-01"}, {"ends": datetime(2027, 1, 1, tzinfo=UTC)}, {"successors": "brave"}, {"source": "a page"}],
)
def test_a_sunset_of_the_wrong_types_is_refused(wrong: dict[str, Any]) -> None:
    declared = {"ends": date(2027, 1, 1), "reason": "r", "successors": ["brave"], "source": "https://acme.example/"}
    with pytest.raises((ValueError, TypeError)):
        Sunset(**(declared | wrong))


@attrs.frozen
class AcmeSettings:
    engine: str
    depth: int = 1
    base_url: str = operator_only(default="https://acme.example")


@pytest.fixture
def with_settings() -> Toolkit[AcmeSettings]:
    return define_toolkit(id="acme", name="Acme", credential_ref=None, settings=AcmeSettings)


def test_the_calls_options_override_stored_settings_and_unknown_ones_are_named(
    with_settings: Toolkit[AcmeSettings],
) -> None:
    settings, ignored = with_settings.build_settings({"engine": "a", "depth": 2}, {"engine": "b", "colour": "red"})
    assert settings == AcmeSettings(engine="b", depth=2)
    assert ignored == ("colour",)


def test_a_wrong_option_of_the_call_is_the_callers_fault(with_settings: Toolkit[AcmeSettings]) -> None:
    with pytest.raises(SearchError) as caught:
        with_settings.build_settings({"engine": "a"}, {"depth": "2"})
    assert caught.value.code is ErrorCode.VALIDATION_ERROR
    assert [fault.path for fault in caught.value.faults] == ["$.providerOptions.depth"]


def test_an_operators_setting_cannot_come_with_a_call(with_settings: Toolkit[AcmeSettings]) -> None:
    with pytest.raises(SearchError, match=r"\$.providerOptions.base_url: only an operator can set this") as caught:
        with_settings.build_settings({"engine": "a"}, {"base_url": "https://evil.example"})
    assert caught.value.code is ErrorCode.VALIDATION_ERROR


@pytest.mark.parametrize("stored", [{}, {"engine": 5}, {"engine": "a", "colour": "red"}])
def test_wrong_or_missing_stored_settings_are_a_configuration_to_finish(
    with_settings: Toolkit[AcmeSettings], stored: dict[str, object]
) -> None:
    with pytest.raises(SearchError) as caught:
        with_settings.build_settings(stored, {})
    assert caught.value.code is ErrorCode.PROVIDER_NOT_CONFIGURED
    assert caught.value.provider == "acme"


def test_null_is_not_given_so_the_stored_setting_stays(with_settings: Toolkit[AcmeSettings]) -> None:
    settings, ignored = with_settings.build_settings({"engine": "a"}, {"engine": None, "colour": None})
    assert (settings.engine, ignored) == ("a", ())


def test_a_stored_setting_that_a_toolkit_does_not_know_is_refused_by_name() -> None:
    toolkit = define_toolkit(id="acme", name="Acme", credential_ref=None)
    with pytest.raises(SearchError, match=r"settings\.cx: unknown field") as caught:
        toolkit.build_settings({"cx": "1"}, {})
    assert caught.value.code is ErrorCode.PROVIDER_NOT_CONFIGURED


def test_a_toolkit_without_settings_ignores_every_option() -> None:
    toolkit = define_toolkit(id="acme", name="Acme", credential_ref=None)
    assert toolkit.build_settings({}, {"cx": "1"}) == (None, ("cx",))
