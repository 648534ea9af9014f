"""JSON as servers send it: decoding, values of the expected shape, and places that a user names.

A character beyond the first 65,536 is two escapes in JSON, and a gateway that cuts texts by them, as those do
that think in UTF-16, sends the halves in two frames. That is a fault of its text, not of the protocol, and
`loads` reads it. Everything else of an unexpected shape is a `MalformedResponseError`.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import orjson

from lazy_dataclasses import dataclass
from loadgen.driver.errors import MalformedResponseError
from recorder.finish_reasons import AnswerEnding, ending_of, is_finish_reason

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableSet, Sequence

MOST_TOKENS: Final = 2**53
"""A greater count is logged as this one: it would not survive JSON."""

_HIGH: Final = rb"\\u[dD][89abAB][0-9a-fA-F]{2}"
_LOW: Final = rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPE: Final = re.compile(rb"%b%b|(%b|%b)|\\." % (_HIGH, _LOW, _HIGH, _LOW), re.DOTALL)
_NO_CHARACTER: Final = rb"\ufffd"
_NO_NUMBERS: Final = (b"NaN", b"Infinity")
_CACHED_PLACES: Final = 32
_LONGEST_INDEX: Final = 9


def loads(data: bytes, deviations: MutableSet[str] | None = None) -> Any:
    """Decode JSON, or raise JSONDecodeError; half a character is U+FFFD, NaN is Python's.

    `deviations` takes what is not JSON, and was read nevertheless.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        data = data.removeprefix(b"\xef\xbb\xbf")  # a byte order mark
        if b"\\u" in data:
            data = _ESCAPE.sub(lambda escape: _NO_CHARACTER if escape[1] else escape[0], data)
        if not any(name in data for name in _NO_NUMBERS):
            return orjson.loads(data)
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            raise error from None
        if deviations is not None:
            deviations.add("NaN or Infinity in JSON")
        return value


def members(payload: Any, what: str = "the payload") -> dict[str, Any]:
    """A JSON object; raise `MalformedResponseError` for anything else."""
    if not isinstance(payload, dict):
        raise MalformedResponseError(f"{what} is not a JSON object")
    return payload


def event_type(payload: Any) -> str:
    """The `type` of an event, which some proxies do not name; raise `MalformedResponseError` without one."""
    kind = type_of(members(payload))
    if payload and not kind:
        raise MalformedResponseError("no member `type`")
    return kind


def type_of(payload: Mapping[str, Any]) -> str:
    """The `type` of an object, or an empty text."""
    kind = payload.get("type")
    return kind if isinstance(kind, str) else ""


def objects(value: Any, what: str) -> Sequence[dict[str, Any]]:
    """A list of JSON objects, empty for null and missing; raise `MalformedResponseError` for others."""
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
        raise MalformedResponseError(f"{what} is not a list of objects")
    return value


def text(value: Any) -> str:
    """A text member, empty for null and missing; raise `MalformedResponseError` for anything else."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise MalformedResponseError(f"a text was expected, not {type(value).__name__}")
    return value


def written(value: Any) -> str:
    """A value as JSON, where a text belongs: some servers have the arguments of tools as objects."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError as error:
        raise MalformedResponseError("nested too deeply") from error


def count(counts: Any, key: str) -> int | None:
    """The count of tokens under a key; None where there is none."""
    return counted(counts.get(key)) if isinstance(counts, dict) else None


def counted(value: Any) -> int | None:
    """A count of tokens, also as `15.0` or `"15"`, even one that cannot be true; None for other values."""
    if (type(value) is float and value.is_integer()) or (type(value) is str and _is_index(value)):
        value = int(value)
    return min(value, MOST_TOKENS) if type(value) is int and value >= 0 else None


@dataclass(frozen=True, slots=True)
class JsonPlace:
    """A place in a JSON value."""

    steps: tuple[str, ...]

    def find(self, value: Any) -> Any:
        """The value at the place; None where the place does not exist."""
        for step in self.steps:
            if isinstance(value, dict):
                value = value.get(step)
            elif isinstance(value, list) and _is_index(step) and int(step) < len(value):
                value = value[int(step)]
            else:
                return None
        return value


@lru_cache(_CACHED_PLACES)
def place(written: str) -> JsonPlace:
    """Read a place, names and indexes with dots between; raise ValueError for an empty part."""
    steps = tuple(written.split("."))
    if not all(steps):
        raise ValueError(
            f"{written!r} is not a place in JSON; write names and indexes with dots, as in token.text"
        )
    return JsonPlace(steps)


_STATED: Final = frozenset({"metrics", "timings", "time_info", "sglext", "meta_info"})
_OF_A_CHOICE: Final = frozenset({"speculative_decoding", "speculative_decoding_stats"})
_OF_USAGE: Final = frozenset({"prompt_time", "completion_tokens_details"})


def statements(payload: Any) -> dict[str, Any] | None:
    """The numbers that a server states of a request's times and drafts, by member; None without any."""
    if type(payload) is not dict:
        return None
    choices, usage = payload.get("choices"), payload.get("usage")
    choice = choices[0] if type(choices) is list and choices else None
    is_plain = _STATED.isdisjoint(payload) and (type(usage) is not dict or _OF_USAGE.isdisjoint(usage))
    if is_plain and (type(choice) is not dict or _OF_A_CHOICE.isdisjoint(choice)):
        return None
    from loadgen.driver.client.server_statements import numbers_stated

    return numbers_stated(payload)


def _is_index(step: str) -> bool:
    return step.isdecimal() and len(step) <= _LONGEST_INDEX


_MEDIA: Final = ("image_tokens", "audio_tokens", "video_tokens", "multimodal_tokens")


def media_tokens(usage: Mapping[str, Any]) -> int | None:
    """The prompt's tokens of media, as OpenAI, Gemini and vLLM count them; None for none."""
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    if not isinstance(details, dict):
        return None
    stated = [details.get(name) for name in _MEDIA]
    # vLLM has a count for each modality: {"image": 15}.
    counts = [
        count for value in stated for count in (value.values() if isinstance(value, dict) else (value,))
    ]
    return sum(counted(count) or 0 for count in counts) or None


def read_reason(value: Any) -> tuple[str | None, str | None]:
    """Read a finish reason (None: not over), a text or SGLang's object, and the error in an object."""
    if value is None:
        return None, None
    if not isinstance(value, dict):
        plain = text(value)
        return (plain if is_finish_reason(plain) else None), None
    reason = text(value.get("type")) or None
    if reason is None or ending_of(reason) is not AnswerEnding.ABORTED:
        return reason, None
    details = [str(value[name]) for name in ("status_code", "message") if value.get(name)]
    return reason, ": ".join([reason, *details]) if details else None


def is_error(payload: Mapping[str, Any]) -> bool:
    """Whether an object without `error` is an error: by kind, status, or lack of other members."""
    if payload.get("object") == "error" or payload.get("type") == "error":
        return True
    if payload.get("choices"):
        return False
    base = payload.get("base_resp")
    return (
        payload.get("status") == "error"
        or payload.get("success") is False
        or (not _STATUSES.isdisjoint(payload) and any(map(_is_error_status, map(payload.get, _STATUSES))))
        or bool(isinstance(base, dict) and base.get("status_code"))
        or (len(payload) == 1 and not _ALONE.isdisjoint(payload))
    )


def _is_error_status(value: Any) -> bool:
    """Whether a value is an HTTP status of an error."""
    return type(value) is int and value in _ERROR_STATUSES


_ERROR_STATUSES: Final = range(400, 600)
_STATUSES: Final = frozenset({"status", "status_code", "statusCode", "code"})

_ALONE: Final = frozenset({"message", "detail", "msg"})
"""Members that are an error where nothing else is said."""
