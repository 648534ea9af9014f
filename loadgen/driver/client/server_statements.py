"""Statements of a server on a request: its times by the server's clock, and the fate of draft tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_STATED: Final = frozenset({"metrics", "timings", "time_info", "sglext"})
_OF_A_CHOICE: Final = frozenset({"speculative_decoding", "speculative_decoding_stats"})
_OF_USAGE: Final = frozenset({"queue_time", "prompt_time", "completion_time", "total_time"})
_PREDICTED: Final = ("accepted_prediction_tokens", "rejected_prediction_tokens")
_MOST_NUMBERS: Final = 4096
_LONGEST_HEADER: Final = 256


def numbers_stated(payload: Mapping[str, Any]) -> dict[str, Any] | None:
    """The numbers in the known members of a frame or body, by member; None without any."""
    values = _named(payload, _STATED)
    meta = payload.get("meta_info")
    if type(meta) is dict and meta.get("finish_reason"):
        values["meta_info"] = meta
    choices, usage = payload.get("choices"), payload.get("usage")
    if type(choices) is list and choices and type(choices[0]) is dict:
        values |= _named(choices[0], _OF_A_CHOICE)
    if type(usage) is dict:
        values |= _named(usage, _OF_USAGE)
        details = usage.get("completion_tokens_details")
        if type(details) is dict and any(details.get(name) for name in _PREDICTED):
            values["completion_tokens_details"] = details
    numbers = {name: _numbers(value) for name, value in values.items()}
    return {name: value for name, value in numbers.items() if value not in (None, {})} or None


def headers_stated(fields: Sequence[tuple[bytes, bytes]], names: frozenset[bytes]) -> dict[str, str]:
    """The headers of these names, in lower case."""
    return {
        name.lower().decode("latin-1"): value.decode("latin-1")[:_LONGEST_HEADER]
        for name, value in fields
        if name.lower() in names
    }


def _named(value: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {} if names.isdisjoint(value) else {name: value[name] for name in value if name in names}


def _numbers(value: Any) -> Any:
    """The numbers of a value: texts, which may be secrets, are left out."""
    if type(value) in (int, float):
        return value
    if type(value) is list:
        return value[:_MOST_NUMBERS] if value and all(type(each) in (int, float) for each in value) else None
    if type(value) is not dict:
        return None
    values = {str(name): _numbers(each) for name, each in value.items()}
    return {name: numbers for name, numbers in values.items() if numbers is not None}
