"""A run as spans: a trace per request with a span per attempt, and a trace of the run with phases.

Names and attributes follow OpenTelemetry's semantic conventions (1.37) for generative AI clients and HTTP;
what they have no name for is `loadgen.…`. With `--trace-context` the ids are those that the server received;
else they are made of the request's id: the same run always has the same ids.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import urlsplit

from lazy_dataclasses import dataclass
from reporter.json_values import document, members
from reporter.log.database import streamed_figures

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reporter.log.database import OpenLog

_AT_ONCE: Final = 256
_OPERATIONS: Final[Mapping[str, str]] = {"completions": "text_completion"}
"""`gen_ai.operation.name` by protocol; `chat` for the others."""
_PROVIDERS: Final[Mapping[str, str]] = {"messages": "anthropic"}
"""`gen_ai.provider.name` by protocol; `openai` for those that are compatible with it."""
_ATTRIBUTES: Final[Mapping[str, str]] = {
    "gen_ai.conversation.id": "conversation_id",
    "gen_ai.usage.input_tokens": "input_tokens",
    "gen_ai.usage.output_tokens": "output_tokens",
    "gen_ai.usage.reasoning.output_tokens": "reasoning_tokens",
    "gen_ai.usage.cache_read.input_tokens": "cached_tokens",
    "error.type": "error",
    "loadgen.sample_uuid": "sample_uuid",
    "loadgen.prompt_id": "prompt_id",
    "loadgen.turn": "turn",
    "loadgen.tags": "tags",
    "loadgen.phase": "phase",
    "loadgen.measured": "measured",
    "loadgen.status": "status",
    "loadgen.ttft_ms": "ttft_ms",
    "loadgen.tpot_ms": "tpot_ms",
    "loadgen.latency_ms": "latency_ms",
}
"""The attributes of a request's span, by the column that each is."""


@dataclass(frozen=True, slots=True)
class Span:
    """A span as in OpenTelemetry.

    Attributes:
        kind: `client` for a call of a server.
        trace_id: 32 hexadecimal digits.
        span_id: 16 hexadecimal digits.
        start_ns: When it starts, ns since 1970.
        attributes: Texts, numbers, booleans and lists of texts.
        events: What happened in it, and when.
    """

    name: str
    kind: Literal["client", "internal"]
    trace_id: str
    span_id: str
    parent_id: str | None
    start_ns: int
    end_ns: int
    attributes: Mapping[str, Any]
    error: str | None = None
    events: tuple[tuple[str, int], ...] = ()


@dataclass(slots=True)
class _Attempt:
    """One attempt at a request; times are of the log."""

    start_ns: int
    end_ns: int | None = None
    span_id: str | None = None
    error: str | None = None
    status: int | None = None


def spans(log: OpenLog) -> Iterator[Span]:
    """The spans of a run: the run's, then those of each ended request."""
    facts = _facts(log)
    yield from _of_the_run(log, facts)
    retried = _retried(log)
    for rows in streamed_figures(log, "traced_requests", _AT_ONCE):
        for row in rows:
            if row["ended_ns"] is not None:
                yield from _of_a_request(row, retried.get(row["sample_uuid"]), facts)


def _facts(log: OpenLog) -> dict[str, Any]:
    query = "SELECT session_id, started_at_ns, started_wall_ns, settings::VARCHAR, ended FROM session"
    ((session_id, at_ns, wall_ns, stored, ended),) = log.execute(query).fetchall()
    settings = members(document(stored))
    protocol = str(settings.get("protocol") or "chat")
    return {
        "session_id": session_id,
        "started_ns": at_ns,
        "shift_ns": wall_ns - at_ns,
        "ended": ended,
        "settings": settings,
        "model": str(settings.get("model") or "unknown"),
        "operation": _OPERATIONS.get(protocol, "chat"),
        "provider": _PROVIDERS.get(protocol, "openai"),
    }


def _of_the_run(log: OpenLog, facts: Mapping[str, Any]) -> Iterator[Span]:
    run, shift_ns = facts["session_id"], facts["shift_ns"]
    trace_id, root = _id(16, run, "run"), _id(8, run, "run")
    ((last_ns,),) = log.execute(
        "SELECT greatest(max(at_ns), (SELECT max(ended_ns) FROM requests)) FROM session_events"
    ).fetchall()
    about = {
        "loadgen.run.id": run,
        "gen_ai.request.model": facts["model"],
        "loadgen.run.ended": facts["ended"],
    }
    end_ns = last_ns or facts["started_ns"]
    yield Span(
        "loadgen run",
        "internal",
        trace_id,
        root,
        None,
        facts["started_ns"] + shift_ns,
        end_ns + shift_ns,
        about,
    )
    phases = log.execute("SELECT segment, phase, started_ns, ended_ns FROM phases").fetchall()
    for segment, phase, start_ns, phase_end_ns in phases:
        yield Span(
            f"phase {phase}",
            "internal",
            trace_id,
            _id(8, run, f"{segment}/{phase}"),
            root,
            start_ns + shift_ns,
            (phase_end_ns or end_ns) + shift_ns,
            {"loadgen.phase": phase},
        )


def _of_a_request(
    row: Mapping[str, Any], attempts: list[_Attempt] | None, facts: Mapping[str, Any]
) -> Iterator[Span]:
    uuid, shift_ns = row["sample_uuid"], facts["shift_ns"]
    trace_id, root = row["trace_id"] or _id(16, uuid, "trace"), _id(8, uuid, "request")
    place = _place(row["endpoint"])
    attributes = {
        "gen_ai.operation.name": facts["operation"],
        "gen_ai.provider.name": facts["provider"],
        "gen_ai.request.model": facts["model"],
        **place,
        **{name: row[column] for name, column in _ATTRIBUTES.items()},
        "gen_ai.response.finish_reasons": None if row["finish_reason"] is None else [row["finish_reason"]],
        "gen_ai.response.time_to_first_chunk": _seconds(row["sent_ns"], row["first_token_ns"]),
        "loadgen.run.id": facts["session_id"],
    }
    moments = tuple(
        (name, row[f"{name}_ns"] + shift_ns)
        for name in ("first_token", "last_token")
        if row[f"{name}_ns"] is not None
    )
    yield Span(
        f"{facts['operation']} {facts['model']}",
        "client",
        trace_id,
        root,
        None,
        row["issued_ns"] + shift_ns,
        row["ended_ns"] + shift_ns,
        _without_nulls(attributes),
        row["error_message"] or row["error"] if row["status"] == "failed" else None,
        moments,
    )
    if attempts is None:
        attempts = [_Attempt(row["issued_ns"], span_id=row["span_id"])]
    last = attempts[-1]
    last.end_ns, last.error, last.status = row["ended_ns"], row["error"], row["http_status"]
    for number, attempt in enumerate(attempts):
        about = {
            "http.request.method": "POST",
            **place,
            "http.response.status_code": attempt.status,
            "http.request.resend_count": number or None,
            "error.type": attempt.error,
        }
        yield Span(
            "POST",
            "client",
            trace_id,
            attempt.span_id or _id(8, uuid, f"attempt {number}"),
            root,
            attempt.start_ns + shift_ns,
            (attempt.end_ns or attempt.start_ns) + shift_ns,
            _without_nulls(about),
            attempt.error,
        )


def _retried(log: OpenLog) -> dict[str, list[_Attempt]]:
    """The attempts at each request that had several."""
    if log.execute("SELECT count(*) FROM requests WHERE attempts > 1").fetchall() == [(0,)]:
        return {}
    log.load(("events",))
    attempts: dict[str, list[_Attempt]] = {}
    for uuid, kind, at_ns, stored in log.execute(
        "SELECT sample_uuid, type, at_ns, data::VARCHAR FROM events "
        "WHERE type IN ('LOADGEN_ISSUE_CALLED', 'REQUEST_SENT', 'RETRY') "
        "AND sample_uuid IN (SELECT sample_uuid FROM requests WHERE attempts > 1) ORDER BY seq"
    ).fetchall():
        data = members(document(stored)) if stored else {}
        own = attempts.setdefault(uuid, [])
        if kind == "LOADGEN_ISSUE_CALLED":
            own.append(_Attempt(at_ns))
        elif own and kind == "REQUEST_SENT":
            own[-1].span_id = data.get("span_id")
        elif own:
            own[-1].end_ns, own[-1].error, own[-1].status = at_ns, data.get("error"), data.get("status")
            own.append(_Attempt(at_ns + round(1e6 * (data.get("wait_ms") or 0))))
    return attempts


def _place(endpoint: str | None) -> dict[str, Any]:
    parts = urlsplit(endpoint or "")
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return {"server.address": parts.hostname, "server.port": port, "url.full": endpoint}


def _seconds(start_ns: int | None, end_ns: int | None) -> float | None:
    return None if start_ns is None or end_ns is None else (end_ns - start_ns) / 1e9


def _without_nulls(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if value is not None}


def _id(size: int, *parts: str) -> str:
    """A deterministic id of that many bytes for the given parts."""
    return blake2b("/".join(parts).encode(), digest_size=size, person=b"loadgen").hexdigest()
