"""Calling a toolkit: windows, pages, what it may ignore, and what becomes of its mistakes."""

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from searchport import (
    SEARCH_API_KEY,
    ErrorCode,
    Recency,
    SearchContext,
    SearchError,
    SearchRequest,
    SearchResponse,
    SearchResult,
    Toolkit,
    define_toolkit,
    define_web_search,
)
from searchport.testing import FakeWeb, ask

NOW = datetime(2026, 9, 20, 12, tzinfo=UTC)
WINDOWS: dict[Recency, Any] = {Recency.DAY: "d", Recency.WEEK: "w", Recency.MONTH: "m", Recency.YEAR: "y"}
FIND = "https://api.acme.example/find"


def build_toolkit(function: Any, **declared: Any) -> Toolkit[None]:
    toolkit = define_toolkit(id="acme", name="Acme", credential_ref=SEARCH_API_KEY)
    define_web_search(toolkit, **({"recency": WINDOWS} | declared))(function)
    return toolkit


async def see(
    query: str = "q", *, declared: dict[str, Any] | None = None, **options: Any
) -> tuple[SearchContext, SearchResponse]:
    """The context that a provider is given for a request, and what comes back."""
    seen: list[SearchContext] = []

    async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
        seen.append(context)
        return SearchResponse([], vendor="acme")

    async with FakeWeb() as web, web.client() as http:
        response = await ask(build_toolkit(search, **(declared or {})), SearchRequest(query, **options), http=http, now=NOW)
    return seen[0], response


async def test_without_recency_and_freshness_there_is_no_window() -> None:
    context, _ = await see()
    assert context.window is None


@pytest.mark.parametrize(
    ("options", "value", "days"),
    [
        ({"recency": "day"}, "d", 1),
        ({"recency": "week"}, "w", 7),
        ({"recency": "month"}, "m", 31),
        ({"recency": "year"}, "y", 366),
        ({"recency": "week", "freshness": "P300D"}, "w", 7),
        ({"freshness": "PT24H"}, "d", 1),
        ({"freshness": "PT24H1S"}, "w", 7),
        ({"freshness": "P7D"}, "w", 7),
        ({"freshness": "P4W"}, "m", 31),
        ({"freshness": "P29D"}, "y", 366),
        ({"freshness": "P365D"}, "y", 366),
    ],
)
async def test_the_window_is_the_recency_or_the_narrowest_that_covers_the_freshness(
    options: dict[str, Any], value: str, days: int
) -> None:
    context, _ = await see(**options)
    assert context.window is not None
    assert context.window.value == value
    assert context.window.since == NOW - timedelta(days=days)


async def test_a_freshness_above_a_year_has_no_window() -> None:
    context, _ = await see(freshness="P366D")
    assert context.window is None


async def test_a_window_that_the_vendor_lacks_is_widened_to_the_next_for_a_freshness() -> None:
    context, response = await see(declared={"recency": WINDOWS | {Recency.WEEK: None}}, freshness="P7D")
    assert context.window is not None
    assert context.window.value == "m"
    assert response.ignored == ()


async def test_a_recency_that_the_vendor_lacks_is_ignored_and_named() -> None:
    context, response = await see(declared={"recency": WINDOWS | {Recency.WEEK: None}}, recency="week")
    assert context.window is None
    assert response.ignored == ("recency",)


@pytest.mark.parametrize("window", [lambda now: 1 / 0, lambda now: now])
async def test_a_window_that_cannot_be_made_is_the_toolkits_defect(window: Any) -> None:
    with pytest.raises(SearchError) as caught:
        await see(declared={"recency": WINDOWS | {Recency.DAY: window}}, recency="day")
    assert caught.value.code is ErrorCode.INTERNAL_ERROR


async def test_a_vendor_without_windows_ignores_recency_and_says_so() -> None:
    context, response = await see(declared={"recency": None}, recency="week", freshness="P1D")
    assert context.window is None
    assert response.ignored == ("recency",)


async def test_a_window_can_be_made_from_the_calls_instant() -> None:
    windows = WINDOWS | {Recency.DAY: lambda now: f"after {now:%Y-%m-%d}"}
    context, _ = await see(declared={"recency": windows}, recency="day")
    assert context.window is not None
    assert context.window.value == "after 2026-09-20"


async def test_language_and_country_that_nothing_declares_are_ignored_and_named() -> None:
    _, response = await see(language="de", country="DE")
    assert response.ignored == ("country", "language")


async def test_a_vendors_closed_lists_give_its_own_codes() -> None:
    declared = {"best_effort": {"language", "country"}, "languages": {"pt-br": "lang_br"}, "countries": {"GB": "uk"}}
    context, response = await see(declared=declared, language="pt-BR", country="GB")
    assert (context.language, context.country, response.ignored) == ("lang_br", "uk", ())


async def test_what_a_closed_list_lacks_is_ignored_and_named() -> None:
    declared = {"best_effort": {"language", "country"}, "languages": {"pt": "pt"}, "countries": {"GB": "uk"}}
    context, response = await see(declared=declared, language="de", country="DE")
    assert (context.language, context.country, response.ignored) == (None, None, ("country", "language"))


async def test_an_unsupported_option_is_refused_before_the_function_is_called() -> None:
    with pytest.raises(SearchError, match="option 'safe' is not supported by provider 'acme'") as caught:
        await see(declared={"unsupported": {"safe", "site"}}, safe="strict", site="example.com")
    assert caught.value.code is ErrorCode.UNSUPPORTED_OPTION
    assert [fault.path for fault in caught.value.faults] == ["$.site", "$.safe"]


@pytest.mark.parametrize(
    ("declared", "query"),
    [({"max_query": 5}, "123456"), ({"max_query_words": 2}, "a b c"), ({"max_query": 5}, "\U0001f43c" * 6)],
)
async def test_a_query_above_the_vendors_limit_is_refused_never_cut(declared: dict[str, Any], query: str) -> None:
    with pytest.raises(SearchError, match=r"\$\.query: .*takes at most") as caught:
        await see(query, declared=declared)
    assert query not in str(caught.value)


async def test_a_keyed_toolkit_without_a_key_says_so() -> None:
    async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
        return SearchResponse([], vendor=context.credential)

    async with FakeWeb() as web, web.client() as http:
        with pytest.raises(SearchError, match="no key is stored") as caught:
            await ask(build_toolkit(search), SearchRequest("q"), http=http, credential=None)
    assert caught.value.code is ErrorCode.PROVIDER_NOT_CONFIGURED


async def test_a_key_is_not_in_what_a_context_shows() -> None:
    context, _ = await see()
    assert "test-key" not in repr(context)
    assert context.credential == "test-key"


Page = tuple[int, int, int, Any]


async def pages(*sizes: int, max_results: int, more: bool | None = None, **declared: Any) -> tuple[list[Page], SearchResponse]:
    """The pages that are asked for, of a vendor whose pages hold `sizes` rows."""
    asked: list[Page] = []

    async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
        page = context.page
        asked.append((page.number, page.offset, page.size, page.cursor))
        rows = [SearchResult("t", f"https://a.example/{page.number}/{n}") for n in range(sizes[page.number - 1])]
        return SearchResponse(rows, vendor="acme", next_page=f"after-{page.number}", more=more)

    async with FakeWeb() as web, web.client() as http:
        response = await ask(build_toolkit(search, **declared), SearchRequest("q", max_results=max_results), http=http)
    return asked, response


async def test_pages_are_fetched_until_there_are_enough_rows() -> None:
    asked, response = await pages(10, 10, 10, max_results=25)
    assert asked == [(1, 0, 10, None), (2, 10, 10, "after-1"), (3, 20, 10, "after-2")]
    assert len(response.results) == 30


async def test_one_page_is_no_larger_than_what_is_asked_for() -> None:
    asked, _ = await pages(3, max_results=3)
    assert asked == [(1, 0, 3, None)]


async def test_an_empty_page_ends_paging() -> None:
    asked, _ = await pages(10, 0, 10, max_results=50)
    assert len(asked) == 2


async def test_a_vendor_that_says_there_is_no_more_is_asked_no_more() -> None:
    asked, _ = await pages(10, 10, max_results=50, more=False)
    assert len(asked) == 1


async def test_short_pages_never_cost_more_requests_than_full_ones_would() -> None:
    asked, _ = await pages(*[3] * 10, max_results=20)
    assert len(asked) == 2


async def test_a_vendors_last_page_is_never_passed() -> None:
    asked, _ = await pages(*[10] * 10, max_results=50, max_pages=2)
    assert len(asked) == 2


async def test_a_failure_on_a_later_page_fails_the_call() -> None:
    async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
        if context.page.number == 2:
            raise SearchError(ErrorCode.PROVIDER_RATE_LIMITED)
        return SearchResponse([SearchResult("t", "https://a.example/")], vendor="acme")

    async with FakeWeb() as web, web.client() as http:
        with pytest.raises(SearchError) as caught:
            await ask(build_toolkit(search), SearchRequest("q", max_results=20), http=http)
    assert (caught.value.code, caught.value.provider) == (ErrorCode.PROVIDER_RATE_LIMITED, "acme")


async def fail(error: Exception | None = None, returned: Any = None, *, after_a_request: bool = False) -> SearchError:
    async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
        if after_a_request:
            await context.http.get_json(FIND)
        if error is not None:
            raise error
        return returned  # type: ignore[no-any-return]  # a toolkit may return anything

    async with FakeWeb() as web, web.client() as http:
        web.answer(FIND, json={})
        with pytest.raises(SearchError) as caught:
            await ask(build_toolkit(search), SearchRequest("canary query"), http=http)
    return caught.value


@pytest.mark.parametrize("error", [KeyError("canary"), TypeError("canary"), RuntimeError("canary"), RecursionError("canary")])
async def test_an_answer_that_a_toolkit_cannot_read_is_no_answer(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    caught = await fail(error, after_a_request=True)
    assert caught.code is ErrorCode.PROVIDER_UNAVAILABLE
    assert "canary" not in str(caught) + caplog.text
    assert caught.__cause__ is None
    assert type(error).__name__ in caplog.text


async def test_a_toolkit_that_fails_by_itself_is_a_defect(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    caught = await fail(KeyError("canary"))
    assert caught.code is ErrorCode.INTERNAL_ERROR
    assert "canary" not in str(caught) + caplog.text


@pytest.mark.parametrize(
    "returned",
    [
        None,
        [],
        {"results": []},
        SearchResponse(None, vendor="acme"),  # type: ignore[arg-type]  # a toolkit is not type-checked where it runs
        SearchResponse([], vendor=None),  # type: ignore[arg-type]
        SearchResponse([], vendor="acme", ignored="language"),
        SearchResponse([], vendor="acme", ignored=[["language"]]),  # type: ignore[list-item]
    ],
)
async def test_a_toolkit_that_returns_no_response_is_a_defect(returned: Any) -> None:
    caught = await fail(returned=returned)
    assert caught.code is ErrorCode.INTERNAL_ERROR
    assert "not a SearchResponse" in str(caught)


@pytest.mark.parametrize("option", ["safe", "site", "freshness", "zzz"])
async def test_an_option_that_is_not_best_effort_cannot_be_ignored(option: str) -> None:
    caught = await fail(returned=SearchResponse([], vendor="acme", ignored=(option,)))
    assert caught.code is ErrorCode.INTERNAL_ERROR
    assert option in str(caught)


async def test_a_vendors_refusals_are_its_own_table() -> None:
    async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
        await context.http.get_json(FIND)
        return SearchResponse([], vendor="acme")

    refusals = {
        "Q1": ErrorCode.PROVIDER_RATE_LIMITED,
        418: ErrorCode.PROVIDER_RATE_LIMITED,
        (400, "K1"): ErrorCode.PROVIDER_UNAUTHORIZED,
    }
    toolkit = build_toolkit(search, refusals=refusals, read_refusal=lambda answer: answer.text("code"))
    seen = {}
    for status, vendor_code in [
        (200, "Q1"),
        (418, None),
        (400, "K1"),
        (200, "NEW"),
        (400, "NEW"),
        (401, None),
        (200, None),
    ]:
        async with FakeWeb() as web, web.client() as http:
            web.answer(FIND, json={"code": vendor_code}, status=status)
            try:
                await ask(toolkit, SearchRequest("q"), http=http)
                seen[status, vendor_code] = "ok"
            except SearchError as error:
                seen[status, vendor_code] = str(error.code)
    assert seen == {
        (200, "Q1"): "provider_rate_limited",
        (418, None): "provider_rate_limited",
        (400, "K1"): "provider_unauthorized",
        (200, "NEW"): "provider_rejected",
        (400, "NEW"): "provider_rejected",
        (401, None): "provider_unauthorized",
        (200, None): "ok",
    }
