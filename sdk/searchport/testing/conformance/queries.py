"""The query: literal text that arrives whole, alone and in one place."""

from __future__ import annotations

from collections.abc import Iterator

from searchport.errors import ErrorCode
from searchport.request import MAX_QUERY

from .bench import Bench
from .options import given_options
from .promise import Finding, NotApplicable, check
from .traffic import Sent

__all__ = ["query_exact", "query_operators", "query_too_long", "query_uncut", "query_unspliced"]

_PLAIN = ("red pandas", "Zürich Straßenbahn", "東京 温泉", "naïve café 2027", "100% C#", "a+b & c=d?e#f/g")
_OPERATORS = (
    'say "good morning" now',
    "-without +with site:canary.example title",
    "intitle:lantern OR (fog AND mist) NOT rain",
    "!bang harbour lantern",
    "what: a question? yes: an answer",
    "wild* card ~tilde ^caret",
    "back\\slash 'single' `tick`",
)
_WHOLE = "send request.query as one value of its own; escape what the vendor reads as operators, and change nothing else"


def _skeleton(text: str) -> str:
    """The letters and digits alone: what no escaping takes away, adds or moves."""
    return "".join(letter for letter in text if letter.isalnum())


def _query_places(sent: Sent, query: str) -> list[str]:
    """Where the query stands, exactly or with other punctuation."""
    wanted = _skeleton(query)
    return [place for place, value in sent.parts if _skeleton(value) == wanted]


@check("query-exact", "A query of words arrives exactly, in one value, whatever its script.")
def query_exact(bench: Bench) -> Iterator[Finding]:
    for query in _PLAIN:
        if not bench.ask(query).first().places_of(query):
            yield Finding(f"no value of the request is {query!r}", _WHOLE)


@check("query-operators", "Operators, quotes, colons and bangs in a query arrive as text: every word, in order, nothing added.")
def query_operators(bench: Bench) -> Iterator[Finding]:
    for query in _OPERATORS:
        sent = bench.ask(query).first()
        if not _query_places(sent, query):
            yield Finding(f"no value of the request holds the words of {query!r} and nothing else", _WHOLE)


@check("query-uncut", "A query of the greatest declared length arrives whole.")
def query_uncut(bench: Bench) -> Iterator[Finding]:
    query = _longest_query(bench.declared.max_query, bench.declared.max_query_words)
    if not _query_places(bench.ask(query).first(), query):
        change = "send request.query whole; declare max_query and max_query_words where the vendor takes less"
        yield Finding(f"a query of {len(query)} characters did not arrive whole", change)


def _longest_query(characters: int, words: int | None) -> str:
    count = min(words or characters, max(1, characters // 8))
    length = (characters + 1) // count - 1
    query = " ".join(f"{number:0{min(length, 4)}d}".ljust(length, "q") for number in range(count))
    return (query + "z" * characters)[:characters]


@check("query-too-long", "A query that is longer than declared is refused before any request.")
def query_too_long(bench: Bench) -> Iterator[Finding]:
    declared = bench.declared
    if declared.max_query == MAX_QUERY and declared.max_query_words is None:
        raise NotApplicable("the vendor takes every query that the contract allows")
    words = MAX_QUERY if declared.max_query_words is None else declared.max_query_words + 1
    for query in {"q" * min(declared.max_query + 1, MAX_QUERY), " ".join(["q"] * words)[:MAX_QUERY]}:
        if len(query) <= declared.max_query and (declared.max_query_words or MAX_QUERY) >= len(query.split()):
            continue
        asked = bench.ask(query)
        if asked.sent or asked.error is None or asked.error.code is not ErrorCode.VALIDATION_ERROR:
            yield Finding(f"a query of {len(query)} characters was not refused", "let WebSearch.check refuse it")


@check("query-unspliced", "No other option is spliced into the query.")
def query_unspliced(bench: Bench) -> Iterator[Finding]:
    query = "red pandas"
    plain = bench.ask(query).first()
    places = plain.places_of(query)
    options = given_options(bench)
    for name, value in options.items():
        sent = bench.ask(query, **{name: value}).first()
        for place in places:
            if sent.value(place) != query:
                change = f"send {name} in a parameter of its own, or leave it to the SDK"
                yield Finding(f"with {name}={value!r}, {place} is {sent.value(place)!r}", change)
