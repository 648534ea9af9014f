"""Facts of a turn for code that reads answers: the rejection, and parts of an answer besides the text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from workloads.answer_details import AnswerDetails, Rejection

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.driver.client.codec import Codec, Delta
    from loadgen.driver.client.exchange import Exchange

_HEADERS: Final = ("retry-after", "retry-after-ms", "x-should-retry", "x-request-id")
_HEADER_PREFIXES: Final = ("x-ratelimit-", "anthropic-ratelimit-")
"""Headers of a rejection by which a program decides what to do next."""

_MOST_BYTES: Final = 65_536
_ERRORS: Final = range(400, 600)


class LogprobsReader:
    """A protocol that keeps an answer's log probabilities."""

    def __init__(self, codec: Codec) -> None:
        #: The log probabilities, by the members of OpenAI's `logprobs`.
        self.logprobs: dict[str, list[Any]] = {}
        self._codec = codec

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codec, name)

    def chunk(self, payload: Any) -> Delta:
        """Read a frame."""
        delta = self._codec.chunk(payload)
        self._keep(payload)
        return delta

    def whole(self, payload: Any) -> Delta:
        """Read a body."""
        delta = self._codec.whole(payload)
        self._keep(payload)
        return delta

    def _keep(self, payload: Any) -> None:
        choices = payload.get("choices") if isinstance(payload, dict) else None
        logprobs = choices[0].get("logprobs") if choices else None
        for name, values in logprobs.items() if isinstance(logprobs, dict) else ():
            if isinstance(values, list):
                self.logprobs.setdefault(name, []).extend(values)


def rejection(exchange: Exchange, redact: Callable[[str], str]) -> Rejection | None:
    """The HTTP error that answered a request; None where none did."""
    response = exchange.response
    if response is None or response.status not in _ERRORS:
        return None
    headers = {
        name.decode("latin-1"): redact(value.decode("latin-1"))
        for name, value in response.fields
        if (lower := name.decode("latin-1").lower()) in _HEADERS or lower.startswith(_HEADER_PREFIXES)
    }
    body = exchange.stream.body()[:_MOST_BYTES].decode(errors="replace")
    content_type = (response.header("content-type") or "application/json").partition(";")[0].strip()
    return Rejection(response.status, content_type, redact(body), headers)


def details(exchange: Exchange) -> AnswerDetails:
    """Reasoning, log probabilities and further counts of an answer."""
    answer, reader = exchange.stream.answer, exchange.stream.reader
    logprobs = reader.logprobs if isinstance(reader, LogprobsReader) else None
    usage = answer.usage
    return AnswerDetails(
        "".join(answer.reasoning), usage.reasoning_tokens, usage.cached_tokens, logprobs or None
    )
