"""The parts that make a request unique: a salt against caches, and the context of a trace (W3C)."""

from __future__ import annotations

from dataclasses import replace
from secrets import token_hex
from typing import TYPE_CHECKING, Any, NamedTuple, Self

if TYPE_CHECKING:
    from workloads.sample import Message, Sample


def new_salt() -> str:
    """A text that no request had before, of this run or another: 64 random bits."""
    return token_hex(8)


def salted(sample: Sample, salt: str) -> Sample:
    """The question with a salt at the start of the endpoint's input."""
    if sample.chat:
        first, *others = sample.chat
        return replace(sample, chat=(_salted_message(first, salt), *others))
    if sample.system is not None:
        return replace(sample, system=f"{salt} {sample.system}")
    return replace(sample, prompt=f"{salt} {sample.prompt}")


def _salted_message(message: Message, salt: str) -> dict[str, Any]:
    content = message.get("content")
    if isinstance(content, list | tuple):
        # Parts: texts, images…
        return {**message, "content": [{"type": "text", "text": salt}, *content]}
    return {**message, "content": f"{salt} {content or ''}"}


class TraceContext(NamedTuple):
    """The trace of a request, and the span of one attempt."""

    trace_id: str  #: 32 hexadecimal digits, the same for all attempts
    span_id: str  #: 16 hexadecimal digits

    @classmethod
    def new(cls) -> Self:
        """The trace of a new request, with the first attempt."""
        return cls(token_hex(16), token_hex(8))

    def next_attempt(self) -> Self:
        """The trace with a new span."""
        return self._replace(span_id=token_hex(8))

    @property
    def traceparent(self) -> str:
        """The value of the header."""
        return f"00-{self.trace_id}-{self.span_id}-01"
