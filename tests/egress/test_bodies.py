"""Answers that are too much, too little or not what they say."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from typing import TYPE_CHECKING

import pytest

from searchport.errors import ErrorCode, SearchError

if TYPE_CHECKING:
    from searchport.egress import HttpClient
    from searchport.testing import FakeWeb

FIND = "https://api.acme.example/v2/find"
MIB = 1024 * 1024


async def failure(client: HttpClient) -> tuple[ErrorCode, str | None]:
    with pytest.raises(SearchError) as caught:
        await client.get_json(FIND)
    return caught.value.code, caught.value.reason


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_a_packed_answer_is_unpacked(web: FakeWeb, client: HttpClient, encoding: str) -> None:
    body = b'{"hits": [1]}'
    packed = gzip.compress(body) if encoding == "gzip" else zlib.compress(body)
    web.answer(FIND, body=packed, headers={"Content-Encoding": encoding})
    assert len((await client.get_json(FIND)).rows("hits")) == 1


async def test_a_gzip_bomb_is_stopped_before_it_fills_the_memory(web: FakeWeb, client: HttpClient) -> None:
    web.answer(FIND, body=gzip.compress(b" " * (100 * MIB)), headers={"Content-Encoding": "gzip"})
    tracemalloc.start()
    try:
        assert await failure(client) == (ErrorCode.PROVIDER_UNAVAILABLE, "the answer is larger than 4 MiB")
        assert tracemalloc.get_traced_memory()[1] < 16 * MIB
    finally:
        tracemalloc.stop()


async def test_an_answer_of_4_mib_is_read_and_one_byte_more_is_not(web: FakeWeb, client: HttpClient) -> None:
    web.answer(FIND, text="a" * (4 * MIB))
    web.answer(FIND, text="a" * (4 * MIB + 1))
    assert len((await client.get_text(FIND)).text) == 4 * MIB
    assert (await failure(client))[1] == "the answer is larger than 4 MiB"


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_broken_packing_is_no_usable_answer(web: FakeWeb, client: HttpClient, encoding: str) -> None:
    web.answer(FIND, body=b"not packed at all", headers={"Content-Encoding": encoding})
    assert await failure(client) == (
        ErrorCode.PROVIDER_UNAVAILABLE,
        "an answer whose compression cannot be read",
    )


async def test_a_body_cut_short_is_no_answer(web: FakeWeb, client: HttpClient) -> None:
    web.cut(FIND, body=b'{"hits": []}')
    assert await failure(client) == (ErrorCode.UPSTREAM_UNREACHABLE, "the answer was cut short")


async def test_a_reset_connection_is_no_answer(web: FakeWeb, client: HttpClient) -> None:
    web.drop(FIND)
    assert await failure(client) == (
        ErrorCode.UPSTREAM_UNREACHABLE,
        "the connection ended before an answer came",
    )


@pytest.mark.parametrize("text", ["<!DOCTYPE html><p>sorry", "\ufeff\r\n <html>", "<?xml version='1.0'?>"])
async def test_html_in_place_of_json_is_named(web: FakeWeb, client: HttpClient, text: str) -> None:
    web.answer(FIND, text=text)
    assert await failure(client) == (ErrorCode.PROVIDER_UNAVAILABLE, "HTML instead of JSON")


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "it is empty"),
        (b" \r\n", "it is empty"),
        (b"sorry", "it is not JSON"),
        (b'{"a": 1} {"b": 2}', "it is not JSON"),
        (b'"\xff"', "it is not UTF-8"),
        (b"[" * 1_000_000, "it is nested more than 64 levels deep"),
        (b"9" * 5_000, "it holds an integer of more than 1,000 digits"),
        (b"NaN", "it holds NaN or Infinity"),
    ],
)
async def test_what_is_not_json_is_no_usable_answer(web: FakeWeb, client: HttpClient, body: bytes, why: str) -> None:
    web.answer(FIND, body=body, content_type="application/json")
    assert await failure(client) == (ErrorCode.PROVIDER_UNAVAILABLE, f"the answer is not usable JSON: {why}")


@pytest.mark.parametrize("content_type", ["text/plain", "text/html", "application/problem+json", "text/javascript"])
async def test_json_is_json_whatever_type_it_claims(web: FakeWeb, client: HttpClient, content_type: str) -> None:
    web.answer(FIND, body=b'\xef\xbb\xbf{"hits": [1]}', content_type=content_type)
    assert len((await client.get_json(FIND)).rows("hits")) == 1


async def test_an_error_status_counts_though_its_body_is_cut_short(web: FakeWeb, client: HttpClient) -> None:
    web.cut(FIND, body=b'{"a', status=429)
    assert (await failure(client))[0] is ErrorCode.PROVIDER_RATE_LIMITED


async def test_an_error_status_counts_though_its_body_is_too_large(web: FakeWeb, client: HttpClient) -> None:
    web.answer(FIND, text="a" * (5 * MIB), status=401)
    assert (await failure(client))[0] is ErrorCode.PROVIDER_UNAUTHORIZED
