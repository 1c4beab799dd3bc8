"""`x-should-retry` on the platform API's failures: client libraries try again by themselves, twice, unless told not to."""

import pytest

from searchport import ErrorCode, SearchError
from searchport_platform.doors.problem import render_problem


@pytest.mark.parametrize("code", [code for code in ErrorCode if not code.is_retryable])
def test_what_another_call_cannot_mend_says_so(code: ErrorCode) -> None:
    assert render_problem(SearchError(code)).headers["x-should-retry"] == "false"


@pytest.mark.parametrize("code", [code for code in ErrorCode if code.is_retryable])
@pytest.mark.parametrize(("retry_after", "says"), [(None, None), (5, None), (60, None), (61, "false")])
def test_a_wait_that_libraries_do_not_heed_is_no_reason_to_come_back(
    code: ErrorCode, retry_after: float | None, says: str | None
) -> None:
    assert render_problem(SearchError(code, retry_after=retry_after)).headers.get("x-should-retry") == says
