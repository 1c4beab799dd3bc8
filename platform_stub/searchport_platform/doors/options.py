"""The contract's options on wires of other names: each is read as the contract reads it, wherever it stands."""

from __future__ import annotations

import attrs

from searchport.errors import SearchError, shorten
from searchport.request import MAX_RESULTS, SearchRequest
from searchport.wire import OPTION, Option

__all__ = ["contract_option", "parse_clamped_count", "same_option"]


def contract_option(name: str) -> Option:
    """How the option is parsed, its words and its schema. KeyError where the contract has no such option."""
    option: Option = attrs.fields_dict(SearchRequest)[name].metadata[OPTION]
    return option


def same_option(name: str) -> dict[object, object]:
    """Metadata of a wire field that is the contract's option and nothing else."""
    return {OPTION: contract_option(name)}


def parse_clamped_count(value: object) -> int:
    """Any number from 1; above the contract's maximum it is that, for wires whose callers cannot know it."""
    if type(value) is not int or value < 1:
        raise SearchError.invalid("$.count", f"expected a whole number from 1, got {shorten(value)}")
    return min(value, MAX_RESULTS)
