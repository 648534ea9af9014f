"""The events of a load generator's records: requests at their times, where the records have them."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from recorder import payloads
from recorder.event import Event, EventType
from reporter.imported import HERE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadgen.plugins.imports.loads.load_results import LoadFormat, LoadResults, RecordedRequest
    from recorder.session import Session

_S: Final = 1_000_000_000


def events(chosen: LoadFormat, results: LoadResults, session: Session) -> Iterator[Event]:
    """The events of a run, in no order.

    Args:
        chosen: The format.
        results: The run.
        session: The clocks of the log.
    """
    start_ns = session.started_at_ns
    yield Event(EventType.TEST_STARTED, start_ns)
    for finding in _findings(chosen, results):
        yield Event(EventType.FINDING, start_ns, data=finding)
    ended_ns = start_ns + 1
    if results.requests:
        ends = [(request.start_s or 0.0) + request.end_s for request in results.requests]
        duration_s = results.duration_s or max(ends)
        stopped_ns = start_ns + round(duration_s * _S)
        ended_ns = max(stopped_ns, start_ns + round(max(ends) * _S)) + len(results.requests) + 1
        phase = payloads.PhaseStarted(phase="performance", duration_s=duration_s, requests=len(ends))
        yield Event(EventType.PHASE_STARTED, start_ns, data=phase)
        for number, request in enumerate(results.requests):
            # Where starts are unknown, the order of issue is kept.
            at_ns = start_ns + (number if request.start_s is None else round(request.start_s * _S))
            yield from _request(request, number, at_ns)
        stopped = payloads.Stopped(reason="duration", scheduled=len(ends))
        yield Event(EventType.STOP_PERFORMANCE_TRACKING, stopped_ns, data=stopped)
        yield Event(EventType.PHASE_ENDED, ended_ns, data=payloads.PhaseEnded(phase="performance"))
    yield Event(EventType.TEST_ENDED, ended_ns, data=payloads.SessionEnded(reason="completed"))


def _findings(chosen: LoadFormat, results: LoadResults) -> Iterator[payloads.Finding]:
    """Where the log is from, what it lacks, and each definition that differs."""
    contents = "its requests" if results.requests else "its own figures alone"
    lacking = "" if results.requests else " No test can be made with them: compare shows them as they are."
    yield payloads.Finding(
        code="imported",
        severity="warning",
        message=f"{chosen.name} measured this run; the file has {contents}.{lacking}",
        remedy=" ".join(results.notes) or None,
    )
    if results.requests and any(request.start_s is None for request in results.requests):
        yield payloads.Finding(
            code="imported_without_starts",
            severity="warning",
            message="The file has no start times: figures over time and of requests in flight are left out.",
        )
    definitions = {**chosen.of_requests, **({} if results.requests else chosen.of_figures)}
    for figure, theirs in definitions.items():
        yield payloads.Finding(
            code="imported_definition",
            severity="warning",
            message=f"{figure} of {chosen.name}: {theirs}. Here: {HERE[figure]}.",
        )


def _request(request: RecordedRequest, number: int, at_ns: int) -> Iterator[Event]:
    uuid = uuid4().hex
    issued = payloads.Issued(scheduled_ns=at_ns, phase="performance", prompt_id=number)
    yield Event(EventType.LOADGEN_ISSUE_CALLED, at_ns, uuid, issued)
    yield Event(EventType.REQUEST_SENT, at_ns, uuid)
    response = _response(request, at_ns)
    if (first_ns := response.get("first_token_ns")) is not None:
        yield Event(EventType.FIRST_CHUNK, first_ns, uuid)
    end_ns = max(at_ns + round(request.end_s * _S), response.get("last_token_ns") or at_ns)
    if request.error is None:
        yield Event(EventType.COMPLETE, end_ns, uuid, payloads.Complete(**response))
    else:
        failed = payloads.Failed(error="failed", message=request.error, **response)
        yield Event(EventType.ERROR, end_ns, uuid, failed)


def _response(request: RecordedRequest, at_ns: int) -> payloads.Response:
    texts = None if request.output is None else payloads.OutputTexts(output=request.output)
    facts = payloads.Response(
        stream=request.first_token_s is not None,
        input_tokens=request.input_tokens,
        output_tokens=request.output_tokens,
        cached_tokens=request.cached_tokens,
        reasoning_tokens=request.reasoning_tokens,
        texts=texts,
    )
    return {**facts, **_arrivals(request, at_ns)}


def _arrivals(request: RecordedRequest, at_ns: int) -> payloads.Arrivals:
    first_s = request.first_token_s
    if first_s is None:
        return payloads.Arrivals()
    if request.gaps_s is not None:
        offsets = accumulate(request.gaps_s, initial=first_s)
        return payloads.arrivals(at_ns, [at_ns + round(offset * _S) for offset in offsets])
    last_s = max(first_s, request.last_token_s or first_s)
    return payloads.Arrivals(
        first_token_ns=at_ns + round(first_s * _S),
        last_token_ns=at_ns + round(last_s * _S),
        chunks=request.chunks,
    )
