"""Failures in a member `error` or `detail`."""

import pytest

from searchport.egress import JsonBody
from searchport.egress.error_member import read_error


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"error": {"code": "invalid_key", "message": "words"}}, "invalid_key"),
        ({"error": {"code": 401, "message": "words"}}, "error"),
        ({"error": {"message": "words"}}, "error"),
        ({"error": "payment_required", "message": "words"}, "payment_required"),
        ({"error": True}, "error"),
        ({"error": []}, "error"),
        ({"detail": "words"}, "error"),
        ({"detail": [{"loc": ["body", "count"], "msg": "words"}]}, "error"),
        ({"error": None, "results": []}, None),
        ({"results": []}, None),
        ([], None),
        (None, None),
    ],
)
def test_the_code_is_the_one_of_the_error_or_the_error_itself(answer: object, code: str | None) -> None:
    assert read_error(JsonBody(answer)) == code
