"""Calling a platform from code without asyncio, and from a notebook, whose own event loop is running."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import TYPE_CHECKING, Self, TypeVar

from typing_extensions import Unpack

from searchport.errors import ErrorCode, SearchError

from .answer import SearchAnswer
from .async_client import DEFAULT_CONCURRENCY, AsyncClient
from .options import SearchOptions, with_options
from .plan import SearchPlan
from .transport import DEFAULT_TIMEOUT_SECONDS

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Client"]

T = TypeVar("T")


class Client:
    """`AsyncClient` for code that does not await: its calls run on an event loop in a thread of the client's own.

    The thread begins with the first call and ends with `close()`, with the `with` block, or with the client itself. Threads may
    share a client; a process that forks may not.
    """

    def __init__(
        self, url: str, token: str, *, agent: str | None = None, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    ) -> None:
        """As `AsyncClient`."""
        self._client = AsyncClient(url, token, agent=agent, timeout_seconds=timeout_seconds)
        self._loop = _LoopThread(self._client.close)
        self._end = weakref.finalize(self, self._loop.stop)

    def __repr__(self) -> str:
        return repr(self._client).replace("AsyncClient", "Client", 1)

    @with_options
    def search(self, query: str, **options: Unpack[SearchOptions]) -> SearchAnswer:
        """As `AsyncClient.search`."""
        return self._loop.run(self._client.search(query, **options))

    @with_options
    def plan(self, query: str, **options: Unpack[SearchOptions]) -> SearchPlan:
        """As `AsyncClient.plan`."""
        return self._loop.run(self._client.plan(query, **options))

    @with_options
    def search_many(
        self,
        queries: Iterable[str],
        *,
        concurrency: int = DEFAULT_CONCURRENCY,
        progress: bool = False,
        **options: Unpack[SearchOptions],
    ) -> list[SearchAnswer | SearchError]:
        """As `AsyncClient.search_many`. The queries are read in the calling thread: what makes them may search too."""
        if isinstance(queries, Iterable) and not isinstance(queries, str):
            queries = list(queries)
        return self._loop.run(self._client.search_many(queries, concurrency=concurrency, progress=progress, **options))

    def close(self) -> None:
        """Cancels what is running, closes the connections and ends the thread; a second call does nothing."""
        self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()


class _LoopThread:
    """An event loop in a daemon thread. It knows nothing of its client, whose end must not wait for it."""

    def __init__(self, close: Callable[[], Awaitable[None]]) -> None:
        self._close = close
        self._lock = threading.RLock()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None
        self._is_stopped = False

    def run(self, call: Coroutine[object, object, T]) -> T:
        """What the call returns or raises; an interrupted wait cancels it. Raises SearchError where the client is closed."""
        future = self._submit(call)
        if future is None:
            call.close()
            raise _closed()
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise _closed() from None
        except BaseException:
            future.cancel()  # of a wait that was interrupted; of a call that has ended it is nothing
            raise

    def stop(self) -> None:
        """Ends the thread and waits for it, but not for itself: a client may be collected on any thread."""
        with self._lock:
            self._is_stopped = True
            thread, loop, stopping = self._thread, self._loop, self._stopping
        if thread is None or loop is None or stopping is None or not thread.is_alive():
            return
        loop.call_soon_threadsafe(stopping.set)
        if thread is not threading.current_thread():
            thread.join()

    def _submit(self, call: Coroutine[object, object, T]) -> concurrent.futures.Future[T] | None:
        with self._lock:
            if self._is_stopped:
                return None
            if self._loop is None:
                self._start()
            return asyncio.run_coroutine_threadsafe(call, self._loop)  # type: ignore[arg-type]  # `_start` waited for it

    def _start(self) -> None:
        is_ready = threading.Event()
        self._thread = threading.Thread(target=asyncio.run, args=(self._serve(is_ready),), name="searchport-client", daemon=True)
        self._thread.start()
        is_ready.wait()

    async def _serve(self, is_ready: threading.Event) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        is_ready.set()
        await self._stopping.wait()
        running = asyncio.all_tasks() - {asyncio.current_task()}
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await self._close()


def _closed() -> SearchError:
    return SearchError(ErrorCode.INTERNAL_ERROR, reason="the client is closed")
