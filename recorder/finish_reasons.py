"""Finish reasons: what a server's reason for the end of an answer says of that answer."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import Final, Self


class AnswerEnding(StrEnum):
    """How an answer ended."""

    meaning: str
    reasons: tuple[str, ...]

    def __new__(cls, name: str, meaning: str, *reasons: str) -> Self:
        """An ending with its definition."""
        member = str.__new__(cls, name)
        member._value_, member.meaning, member.reasons = name, meaning, reasons
        return member

    COMPLETE = (
        *("complete", "the model ended its answer, or called tools"),
        *("stop", "stopped", "stop_sequence", "stop_word", "stop_words", "stop_token", "word", "eos"),
        *("eos_token", "end_id", "end_turn", "pause_turn", "tool_call", "tool_calls", "tool_use"),
        *("function_call", "complete", "completed", "finish", "finished", "done", "true"),
    )
    LIMITED = (
        *("limited", "a limit of the request or of the server ended the answer"),
        *("length", "limit", "max_tokens", "max_output_tokens", "max_new_tokens", "max_len", "max_length"),
        *("max_context", "model_length", "model_context_window_exceeded", "repetition"),
    )
    FILTERED = (
        *("filtered", "a filter ended the answer, or the model refused"),
        *("content_filter", "content_filtered", "content_blocked", "guardrail_intervened", "refusal"),
        *("sensitive", "error_toxic", "safety", "recitation", "language", "blocklist"),
        *("prohibited_content", "spii", "model_armor", "image_safety", "image_recitation"),
        "image_prohibited_content",
    )
    ABORTED = (
        *("aborted", "the server gave the answer up"),
        *("abort", "aborted", "error", "failed", "cancelled", "incomplete", "in_progress", "queued"),
        *("expired", "load", "unload", "timeout", "time_limit", "network_error", "rate_limit_exceeded"),
        *("resource_exhausted", "insufficient_system_resource", "function_call_filter"),
        *("malformed_function_call", "malformed_response", "malformed_model_output"),
        *("malformed_tool_use", "unexpected_tool_call", "too_many_tool_calls"),
        *("missing_thought_signature", "no_image"),
    )
    UNKNOWN = "unknown", "no reason of this table"


_FAULTS: Final = frozenset(
    {
        *("abort", "aborted", "cancel", "canceled", "cancelled", "crash", "crashed", "disconnect"),
        *("disconnected", "error", "errors", "evicted", "exception", "fail", "failed", "failure"),
        *("interrupted", "invalid", "killed", "malformed", "overloaded", "preempted", "shutdown"),
        *("terminated", "timed", "timeout", "unavailable"),
    }
)
"""Words of reasons that name an error, whatever else they say."""

_UNFINISHED: Final = frozenset({"", "none", "null", "not_finished", "unspecified"})
"""Reasons of servers that send one before the end, too."""

_BY_REASON: Final = {reason: ending for ending in AnswerEnding for reason in ending.reasons}
_PREFIX: Final = re.compile(r"^(?:[a-z_]*\.)?(?:finish_reason_|stop_reason_|finish_|reason_)?")
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_BETWEEN: Final = re.compile(r"[\s-]+")
_CACHED: Final = 256


@lru_cache(_CACHED)
def is_finish_reason(reason: str) -> bool:
    """Whether a text in the place of a finish reason says that the answer is over."""
    return _plain(reason) not in _UNFINISHED


@lru_cache(_CACHED)
def ending_of(reason: str) -> AnswerEnding:
    """The ending that a finish reason names; case, `-` for `_`, prefixes and details do not matter."""
    plain = _plain(reason)
    if (ending := _BY_REASON.get(plain)) is not None:
        return ending
    return AnswerEnding.UNKNOWN if _FAULTS.isdisjoint(plain.split("_")) else AnswerEnding.ABORTED


def _plain(reason: str) -> str:
    """A reason as in the table: `FinishReason.MAX_TOKENS` and `max-tokens: 16` are `max_tokens`."""
    words = _BETWEEN.sub("_", _HUMP.sub("_", reason.partition(":")[0].strip())).lower()
    return _PREFIX.sub("", words)
