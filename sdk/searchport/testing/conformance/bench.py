"""Where a toolkit is tried: the real client, a fake vendor on a real loopback server, and a record of all that came of it."""

from __future__ import annotations

import asyncio
import io
import itertools
import logging
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias

import attrs

from searchport import guarantees
from searchport.egress import AddressPolicy, Deadline
from searchport.errors import SearchError
from searchport.request import SearchRequest
from searchport.result import SearchResponse, SearchResult
from searchport.testing.fake_web import FakeAnswer, FakeRequest, FakeWeb
from searchport.toolkit import Toolkit
from searchport.web_search import Page, SearchContext, SearchModel, WebSearch

from .answers import Answers
from .promise import Unmet
from .traffic import Sent, read_sent

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

__all__ = ["KEY", "NOW", "QUERY", "AnyToolkit", "Asked", "Bench", "Script"]

AnyToolkit: TypeAlias = Toolkit[Any]
"""A toolkit whose settings class only its own code knows."""

KEY: Final = "canary-key-7f3c9a1e5b"
QUERY: Final = "harbour lantern"
NOW: Final = datetime(2031, 3, 4, 5, 6, 7, tzinfo=UTC)
"""The frozen instant of every call: in no year in which the kit is run, so that a clock of the toolkit's own shows."""

Script: TypeAlias = Callable[[FakeWeb], None]
"""Tells the fake web how to answer one call."""

_LONGEST_CALL_SECONDS: Final = 20.0
_FIRST_PAGE: Final = Page(size=1)


@attrs.frozen(kw_only=True)
class Asked:
    """What came of one call.

    unknown: provider options that the toolkit does not know. defects: exceptions of the toolkit that were no SearchError.
    written: all that was logged or printed. cpu_seconds: of this process, while it ran.
    """

    request: SearchRequest
    response: SearchResponse | None
    error: SearchError | None
    sent: tuple[Sent, ...]
    unknown: tuple[str, ...] = ()
    defects: tuple[str, ...] = ()
    written: str = attrs.field(default="", repr=False)
    cpu_seconds: float = 0.0

    def answer(self) -> SearchResponse:
        """The response. Raises Unmet where there is none."""
        if self.response is not None:
            return self.response
        how = f"it ended with {self.error.code}: {self.error}" if self.error is not None else "it never ended"
        raise Unmet(f"a call that the vendor answers with a page: {how}", _mend(self))

    def results(self) -> list[SearchResult]:
        """The rows of the response. Raises Unmet where there is none."""
        return list(self.answer().results)

    def first(self) -> Sent:
        """The first request. Raises Unmet where nothing was sent."""
        if self.sent:
            return self.sent[0]
        how = f" ({self.error.code}: {self.error})" if self.error is not None else ""
        raise Unmet(f"nothing was sent{how}", "ask the vendor through context.http")


def _mend(asked: Asked) -> str:
    if asked.defects:
        return f"mend the toolkit: {asked.defects[0]}"
    return "read the page as `page` in the answers file has it, or correct the file"


class Bench:
    """A toolkit, its vendor's answers and a fake web for one check; a context manager.

    examples: how many invented answers a check of any JSON tries.
    """

    def __init__(self, toolkit: AnyToolkit, answers: Answers, *, examples: int) -> None:
        self.toolkit = toolkit
        self.examples = examples
        self._defects: list[str] = []
        self.declared: WebSearch[Any] = _watch(toolkit.web_search, self._defects)
        self.answers = attrs.evolve(answers, is_markup=self.declared.text == "html")
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._web = FakeWeb(allow_unexpected=True)

    def __enter__(self) -> Self:
        if _is_loop_running():
            raise RuntimeError("the kit runs an event loop of its own; call it where none runs, as in asyncio.to_thread")
        self._runner.run(self._web.__aenter__())
        self._http = self._web.client()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._runner.run(self._web.__aexit__(kind, error, trace))
        self._runner.close()

    # Scripts.

    def pages(self, give: Callable[[int], FakeAnswer]) -> Script:
        """Answers the n-th request of a call with `give(n)`."""

        def register(web: FakeWeb) -> None:
            numbers = itertools.count(1)

            async def answer(_: FakeRequest) -> FakeAnswer:
                return give(next(numbers))

            web.handle("*", answer)

        return register

    def always(self, answer: FakeAnswer) -> Script:
        """Answers every request the same."""
        return self.pages(lambda _: answer)

    def full_pages(self, size: int) -> Script:
        """Answers every request with a page of `size` sample rows, none of them twice."""
        return self.pages(lambda n: self.answers.answer(self.write_page(n, size)))

    def write_page(self, number: int, size: int) -> str:
        """The n-th page of `size` sample rows, as the vendor writes it."""
        return self.answers.write_page(self.answers.rows((number - 1) * size + 1, size), number=number)

    # Asking.

    def ask(
        self,
        query: str = QUERY,
        *,
        script: Script | None = None,
        credential: str | None = KEY,
        settings: Mapping[str, object] | None = None,
        model: str | None = None,
        now: datetime = NOW,
        seconds: float = 10.0,
        **options: Any,
    ) -> Asked:
        """One call. script: how the vendor answers; left out, with full pages. options: of SearchRequest.

        credential: given to the toolkit though it be keyless. settings: stored values; left out, those of the answers file.
        """
        request = SearchRequest(query, **options)
        size = min(request.max_results, self.declared.page_size)
        stored = self.answers.settings if settings is None else settings
        calling = self._call(request, stored, credential, model, now, seconds)
        return self._record(request, script or self.full_pages(size), calling)

    def list_models(self, script: Script) -> tuple[list[SearchModel], Asked]:
        """The toolkit's models, and what came of asking for them."""
        found: list[SearchModel] = []

        async def call() -> tuple[SearchResponse | None, tuple[str, ...]]:
            deadline = Deadline.after(_LONGEST_CALL_SECONDS)
            settings, _ = self.toolkit.build_settings(self.answers.settings, {})
            context = SearchContext(
                http=self.declared.bind(self._http, deadline=deadline),
                page=_FIRST_PAGE,
                settings=settings,
                now=NOW,
                deadline=deadline,
                credential=KEY,
            )
            found.extend(await self.declared.list_models(context))
            return None, ()

        return found, self._record(SearchRequest(QUERY), script, call())

    def hold(self, asked: Asked, *, now: datetime = NOW) -> guarantees.Guaranteed:
        """The guarantees, applied to what a call gave."""
        return guarantees.apply(asked.answer(), asked.request, self.declared, AddressPolicy(), now, now)

    async def _call(
        self,
        request: SearchRequest,
        settings: Mapping[str, object],
        credential: str | None,
        model: str | None,
        now: datetime,
        seconds: float,
    ) -> tuple[SearchResponse | None, tuple[str, ...]]:
        self.declared.check(request)
        built, unknown = self.toolkit.build_settings(settings, request.provider_options)
        deadline = Deadline.after(seconds)
        http = self.declared.bind(self._http, deadline=deadline)
        response = await self.declared.fetch(
            request, http=http, settings=built, credential=credential, now=now, deadline=deadline, model=model
        )
        return response, unknown

    def _record(self, request: SearchRequest, script: Script, calling: Any) -> Asked:
        self._web.forget()
        script(self._web)
        del self._defects[:]
        before, started = len(self._web.requests), time.process_time()
        response, unknown, error = None, (), None
        with _written() as stream:
            try:
                response, unknown = self._runner.run(_in_time(calling))
            except SearchError as refusal:
                error = refusal
            except Exception as defect:  # noqa: BLE001  # a toolkit may raise anything; that it did is the finding
                self._defects.append(_describe(defect))
        return Asked(
            request=request,
            response=response,
            error=error,
            sent=tuple(map(read_sent, self._web.requests[before:])),
            unknown=unknown,
            defects=tuple(self._defects),
            written=stream.getvalue(),
            cpu_seconds=time.process_time() - started,
        )


def _is_loop_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _in_time(calling: Any) -> Any:
    async with asyncio.timeout(_LONGEST_CALL_SECONDS):
        return await calling


def _describe(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {frames[-1].name}, line {frames[-1].lineno} of {frames[-1].filename.rpartition('/')[2]}" if frames else ""
    return f"{type(error).__name__}{place}"


def _watch(declared: WebSearch[Any], defects: list[str]) -> WebSearch[Any]:
    """The declaration, its functions noting what they raise before the SDK makes an error of it."""

    @contextmanager
    def noting() -> Iterator[None]:
        try:
            yield
        except (SearchError, TimeoutError):
            raise
        except Exception as error:
            defects.append(_describe(error))
            raise

    async def search(request: SearchRequest, context: SearchContext[Any]) -> SearchResponse:
        with noting():
            return await declared.function(request, context)

    def watched(function: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
        def call(value: Any) -> Any:
            with noting():
                return function(value) if function is not None else None

        return None if function is None else call

    refusals = declared.refusals
    return attrs.evolve(
        declared,
        function=search,
        refusals=attrs.evolve(refusals, read=watched(refusals.read), read_wait_seconds=watched(refusals.read_wait_seconds)),
    )


@contextmanager
def _written() -> Iterator[io.StringIO]:
    """Everything that is logged, at any level, or printed."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s %(args)s"))
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with redirect_stdout(stream), redirect_stderr(stream):
            yield stream
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
