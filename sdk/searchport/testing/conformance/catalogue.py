"""Every check of the kit, in the order in which a toolkit is best mended."""

from __future__ import annotations

from typing import Final

from . import dates, declared, faults, isolation, options, paging, queries, results, secrets, shapes, windows
from .promise import Check

__all__ = ["CHECKS"]

CHECKS: Final[tuple[Check, ...]] = (
    declared.declaration,
    results.rows_arrive,
    declared.vendor_named,
    # The query.
    queries.query_exact,
    queries.query_operators,
    queries.query_uncut,
    queries.query_too_long,
    queries.query_unspliced,
    # Options.
    windows.window_unasked,
    windows.recency_sent,
    windows.recency_distinct,
    windows.freshness_sent,
    options.option_site,
    options.option_safe,
    options.option_language,
    options.option_country,
    options.unsupported_refused,
    options.unknown_option,
    # Pages.
    paging.paging_advances,
    paging.paging_same_size,
    paging.paging_bounded,
    paging.paging_complete,
    paging.paging_stops_at_empty,
    paging.paging_stops_when_told,
    paging.paging_cursor,
    # Results.
    results.results_refused,
    results.text_clean,
    results.text_decoded_once,
    results.plain_text_kept,
    # Dates.
    declared.freshness_needs_dates,
    dates.date_published,
    dates.date_guesses,
    dates.crawl_time,
    dates.freshness_keeps,
    dates.freshness_drops,
    # Answers of any shape.
    faults.answers_mean,
    shapes.row_without_a_key,
    shapes.body_without_a_key,
    shapes.wrong_shape,
    shapes.odd_values,
    shapes.any_answer,
    # A vendor's bad day.
    faults.status_unauthorized,
    faults.status_rate_limited,
    faults.status_rejected,
    faults.status_unavailable,
    faults.redirect_refused,
    faults.time_out,
    faults.connection_lost,
    faults.truncated_body,
    faults.not_the_vendors_page,
    faults.oversized_body,
    # One process, many organizations.
    secrets.key_sent,
    secrets.key_required,
    secrets.keyless_sends_no_key,
    secrets.one_vendor,
    secrets.secrets_in_errors,
    secrets.secrets_in_logs,
    isolation.same_request_twice,
    isolation.no_clock,
    isolation.no_state,
    isolation.no_environment,
    isolation.models,
    isolation.operator_settings,
)
