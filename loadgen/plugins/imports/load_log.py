"""A load generator's results as an ordinary log: its records of requests, or its own figures alone."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from loadgen.plugins.imports.loads.objects import MOST_S
from loadgen.sessions.environment import environment
from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.run_folder import new_run_folder
from recorder import payloads
from recorder.event import Event, EventType
from recorder.store import LOG_NAME
from recorder.writer import EventRecorder
from reporter.imported import HERE
from workloads.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from loadgen.plugins.imports.loads.load_results import LoadFormat, LoadResults, RecordedRequest
    from recorder.session import Session

_PART: Final = 2000
"""Events that may wait to be written."""

_S: Final = 1_000_000_000
_LATEST_S: Final = 9 * 10**9
"""The latest start that fits nanoseconds of 64 bits: the year 2255."""


def _events(chosen: LoadFormat, results: LoadResults, session: Session) -> Iterator[Event]:
    """The events of a run, in no order."""
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


def import_load(
    chosen: LoadFormat, path: Path, out: Path | None, model: str | None, number: int | None
) -> Path:
    """Read one run of a load generator, or raise `UsageError`, and write the run as a log."""
    results = _chosen_run(chosen, path, number)
    _require_possible(results, path)
    model = model or results.model
    folder = new_run_folder(out, model or chosen.name)
    recorder = EventRecorder(
        path=folder / LOG_NAME,
        settings=_settings(chosen, results, path, model),
        environment=environment() | {"timestamp_source": None},
    )
    if results.started is not None and 0 < results.started.timestamp() < _LATEST_S:
        # The run began then, on the clock of the log too: the report says when.
        started_ns = round(results.started.timestamp() * _S)
        recorder.session = replace(recorder.session, started_wall_ns=started_ns)
    with recorder:
        record(recorder, sorted(_events(chosen, results, recorder.session), key=attrgetter("at_ns")))
    return folder


def record(recorder: EventRecorder, events: Iterable[Event]) -> None:
    """Record events, of which few wait to be written at a time."""
    for number, event in enumerate(events, 1):
        recorder.record_event(event.type, event.at_ns, event.sample_uuid, data=event.data)
        if number % _PART == 0:
            recorder.wait_for_writes()


def _chosen_run(chosen: LoadFormat, path: Path, number: int | None) -> LoadResults:
    runs = chosen.read(path)
    if number is None and len(runs) == 1:
        return runs[0]
    if number is None:
        listed = "; ".join(f"{position}: {_load(run)}" for position, run in enumerate(runs, 1))
        raise UsageError(f"{path} has {len(runs)} runs ({listed}); choose one with --result N")
    if not 1 <= number <= len(runs):
        raise UsageError(f"--result {number}: {path} has {len(runs)} runs, counted from 1")
    return runs[number - 1]


def _require_possible(results: LoadResults, path: Path) -> None:
    """Refuse times of years, which no clock of a log can hold."""
    for number, request in enumerate(results.requests):
        times = (request.start_s, request.first_token_s, request.last_token_s, request.end_s)
        if not all(0 <= time <= MOST_S for time in times if time is not None):
            raise MalformedError(f"{path}: request {number} has a time below 0 or of years")
    if results.duration_s is not None and not 0 < results.duration_s <= MOST_S:
        raise MalformedError(f"{path}: the run lasts {results.duration_s:g} s, which cannot be")


def _load(run: LoadResults) -> str:
    return " ".join(str(value) for value in run.load.values()) or "unknown load"


def _settings(chosen: LoadFormat, results: LoadResults, path: Path, model: str | None) -> dict[str, Any]:
    of_figures = {} if results.requests else chosen.of_figures
    return {
        "model": model,
        "load": dict(results.load),
        "imported": {
            "format": chosen.name,
            "definition": chosen.definition,
            "path": str(path.absolute()),
            "measured": True,
            "starts": all(request.start_s is not None for request in results.requests),
            "requests": len(results.requests),
            "facts": dict(results.facts),
            "definitions": {**chosen.of_requests, **of_figures},
            "figures": dict(results.figures) or None,
        },
    }
