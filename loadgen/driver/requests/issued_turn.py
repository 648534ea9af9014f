"""A turn with an id, ready to be issued: the request, and the payload of the issue."""

from __future__ import annotations

from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from loadgen.driver.client.endpoint import JSON, Request
from loadgen.driver.requests.turn_outcome import AnswerUse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.driver.client.codec import Codec, Generation
    from loadgen.driver.requests.cache_buster import TraceContext
    from loadgen.driver.requests.refused_members import RefusedMembers
    from loadgen.driver.requests.session_headers import SessionHeaders
    from workloads.sample import Sample

_READ: Final = AnswerUse.READ
_NOTHING: Final[Mapping[str, Any]] = {}


class IssuedTurn(NamedTuple):
    """A turn that is issued, or about to be."""

    request: Request
    trace: TraceContext | None
    more: Mapping[str, Any]  #: further members of the event

    @property
    def sent_members(self) -> str:
        """JSON members of the event of the sending on a connection that is open."""
        span = "" if self.trace is None else f'"span_id":"{self.trace.span_id}",'
        return span + '"reused":true'


class TurnMaker:
    """Makes the turns of a runner.

    Attributes:
        refused: The members of requests that the endpoint has refused; None before it has.
        made: How many turns were made: the number of the latest one, from 1.
    """

    def __init__(
        self,
        codec: Codec,
        generation: Generation,
        endpoints: int,
        session_headers: SessionHeaders | None,
        *,
        trace_context: bool,
    ) -> None:
        self.refused: RefusedMembers | None = None
        self.made = 0
        self._codec = codec
        self._generation = generation
        self._endpoints = endpoints
        self._session_headers = session_headers
        self._content_type: str = getattr(codec, "content_type", JSON)
        self._traces: type[TraceContext] | None = None
        if trace_context:
            from loadgen.driver.requests.cache_buster import TraceContext

            self._traces = TraceContext
        self._asked: set[int | tuple[int, int]] = set()
        self._origin = token_hex(8)

    def make(
        self,
        sample: Sample,
        body: bytes,
        scheduled_ns: int,
        phase: str,
        endpoint: int,
        more: Mapping[str, Any],
        use: AnswerUse,
    ) -> tuple[IssuedTurn, dict[str, Any]]:
        """A turn, and the payload of the issue, which begins with `scheduled_ns`."""
        self.made += 1
        trace = None if self._traces is None else self._traces.new()
        data = self._payload(sample, scheduled_ns, phase, endpoint, more)
        asked = _asked(sample)
        if use is _READ or asked not in self._asked:
            self._asked.add(asked)
            data["texts"] = self._codec.asked(sample)
        if trace is not None:
            data["trace_id"] = trace.trace_id
        if self.refused is not None:
            body = self.refused.fitted(body)
        return IssuedTurn(self._request(self.made, body, trace, more), trace, more), data

    def again(self, number: int, body: bytes) -> IssuedTurn:
        """Return the turn of a number made before, if it has no trace and no further members."""
        return IssuedTurn(self._request(number, body, None, _NOTHING), None, _NOTHING)

    def forget(self, sample: Sample) -> None:
        """Note that a sample has not been asked after all."""
        self._asked.discard(_asked(sample))

    def _payload(
        self, sample: Sample, scheduled_ns: int, phase: str, endpoint: int, more: Mapping[str, Any]
    ) -> dict[str, Any]:
        data: dict[str, Any] = {"scheduled_ns": scheduled_ns, "phase": phase, "prompt_id": sample.index}
        if self._endpoints > 1:
            data["endpoint"] = endpoint
        if sample.tags:
            data["tags"] = dict(sample.tags)
        if more:
            data |= more
        if (limit := self._generation.limit(sample)) is not None:
            data["max_tokens"] = limit
        return data

    def _request(
        self, number: int, body: bytes, trace: TraceContext | None, more: Mapping[str, Any]
    ) -> Request:
        sample_uuid = f"{self._origin}{number:016x}"
        headers = () if self._session_headers is None else self._session_headers.of(sample_uuid, more)
        traceparent = trace.traceparent if trace else ""
        return Request("POST", self._codec.path, sample_uuid, body, traceparent, headers, self._content_type)


def _asked(sample: Sample) -> int | tuple[int, int]:
    # A million questions have but one turn: the number alone is one object less for each.
    return (sample.index, sample.turn) if sample.turn else sample.index
