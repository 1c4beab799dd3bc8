"""Structured logs on standard error: a line of JSON an event, or words on a terminal."""

from __future__ import annotations

import logging
import sys
from typing import TextIO

import structlog

__all__ = ["configure_logs"]


def configure_logs(*, level: int = logging.INFO, stream: TextIO | None = None) -> None:
    """Sends structlog's and the standard library's events to standard error, or to `stream`, in one shape.

    An exception is logged by its class alone: an HTTP client's text holds the URL, and with it the query and the key.
    """
    stream = stream or sys.stderr
    on_terminal = stream.isatty()
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _name_exception,
    ]
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer() if on_terminal else structlog.processors.JSONRenderer(sort_keys=True)
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(stream)
    processors = [structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer]
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=processors))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    # A handler that fails, on a full disk say, would print a traceback, and with it what the exception's text holds.
    logging.raiseExceptions = False


def _name_exception(_logger: object, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    raised = event.pop("exc_info", None)
    if raised:
        kind = raised[0] if isinstance(raised, tuple) else sys.exc_info()[0]
        event["exception"] = getattr(kind, "__name__", "unknown")
    return event
