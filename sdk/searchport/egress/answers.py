"""A vendor's answer: its bytes, read to a limit, and what they say as JSON or as text."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from typing import Final

import aiohttp
import attrs

from searchport.errors import ErrorCode, SearchError

from .json_body import JsonBody
from .json_text import MalformedJsonError, loads

__all__ = ["MAX_ANSWER_BYTES", "Answer", "decode_json", "read_answer", "read_json", "read_text"]

MAX_ANSWER_BYTES: Final = 4 * 1024 * 1024

_CHUNK_BYTES: Final = 64 * 1024
_NO_CONTENT: Final = frozenset({204, 205})
# Codecs that read text in one pass; `punycode`, `idna`, `unicode_escape` and their like are not for a vendor to choose.
_TEXT_CODECS: Final = re.compile(
    r"utf-8|utf-16(-[lb]e)?|ascii|iso8859-\d+|cp\d+|koi8-[rtu]|gb2312|gbk|gb18030|big5\w*|shift_\w+|euc_\w+"
)


@attrs.frozen
class Answer:
    """status: any but 1xx; body: unpacked; charset: as the headers state it, None where they do not."""

    status: int
    body: bytes = attrs.field(repr=False)
    charset: str | None = None
    headers: Mapping[str, str] = attrs.field(factory=dict, repr=False)

    @property
    def is_success(self) -> bool:
        """True for 2xx."""
        return 200 <= self.status < 300


async def read_answer(response: aiohttp.ClientResponse) -> Answer:
    """The whole answer; SearchError (`provider_unavailable`) where it is larger than 4 MiB.

    The body of an error status is read as far as it goes: the status says enough without it.
    """
    answer = Answer(response.status, b"", response.charset, response.headers)
    try:
        return attrs.evolve(answer, body=await _read_body(response))
    except (aiohttp.ClientError, SearchError):
        if answer.is_success:
            raise
        return answer


async def _read_body(response: aiohttp.ClientResponse) -> bytes:
    """Counts bytes after unpacking: 200 KB of gzip can hold 200 MB."""
    body = bytearray()
    async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
        body += chunk
        if len(body) > MAX_ANSWER_BYTES:
            raise SearchError(ErrorCode.PROVIDER_UNAVAILABLE, reason="the answer is larger than 4 MiB")
    return bytes(body)


def read_json(answer: Answer) -> tuple[JsonBody | None, SearchError | None]:
    """(the JSON, None), or (None, why it is none); a status without content is an empty object."""
    if answer.status in _NO_CONTENT:
        return JsonBody({}), None
    try:
        return decode_json(answer.body), None
    except SearchError as fault:
        return None, fault


def decode_json(data: bytes | str) -> JsonBody:
    """JSON as a body; SearchError (`provider_unavailable`) with a reason that holds nothing of the text."""
    reason = "HTML instead of JSON" if _looks_like_markup(data) else None
    value: object = None
    if reason is None:
        try:
            value = loads(data)
        except MalformedJsonError as malformed:
            reason = f"the answer is not usable JSON: {malformed.reason}"
    if reason is not None:
        raise SearchError(ErrorCode.PROVIDER_UNAVAILABLE, reason=reason)
    return JsonBody(value)


def _looks_like_markup(data: bytes | str) -> bool:
    if isinstance(data, str):
        return data.lstrip("\ufeff \t\r\n").startswith("<")
    return data.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"<")


def read_text(answer: Answer) -> str:
    """The body as text: in the stated charset where that is a plain one, else UTF-8; what does not fit becomes U+FFFD."""
    return answer.body.decode(_codec(answer.charset), "replace").removeprefix("\ufeff")


def _codec(charset: str | None) -> str:
    try:
        name = codecs.lookup(charset or "utf-8").name
    except (LookupError, ValueError):
        return "utf-8"
    return name if _TEXT_CODECS.fullmatch(name) else "utf-8"
