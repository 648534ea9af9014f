"""W3C Trace Context: the ids by which a server's spans join those of the client.

https://www.w3.org/TR/trace-context/#traceparent-header, version 00, with the flag `sampled`: a server that
follows its parent's decision keeps every request.
"""

from __future__ import annotations

from secrets import token_hex
from typing import NamedTuple, Self


class TraceContext(NamedTuple):
    """The trace of a request, and the span of one attempt.

    Attributes:
        trace_id: 32 hexadecimal digits, the same for all attempts.
        span_id: 16 hexadecimal digits.
    """

    trace_id: str
    span_id: str

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
