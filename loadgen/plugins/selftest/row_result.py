"""The result of one row: the client's log compared with the server's record."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple

from lazy_dataclasses import dataclass
from loadgen.mock_endpoint.scenarios.answers import KEY
from loadgen.mock_endpoint.scenarios.scenario import COMPLETED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from loadgen.mock_endpoint.scenarios.expectation import Expectation
    from loadgen.mock_endpoint.truth import Truth
    from loadgen.plugins.selftest.measured import LoggedRequest
    from loadgen.plugins.selftest.selftest_row import ConformanceRow


TOLERANCE_MS: Final = 2.0
"""How far the typical error of a row's requests may be from 0; of TPOT, that of both ends over the gaps."""

_NS_PER_MS: Final = 1e6
_LONGEST: Final = 60


class Times(NamedTuple):
    """The times of a request in ms from `sent`; None for absent times."""

    ttft: float | None = None
    ttfo: float | None = None
    ttfv: float | None = None
    tpot: float | None = None
    last: float | None = None
    answer: float | None = None


class Miss(NamedTuple):
    """A difference, and whether only a time differs, which a busy machine may cause."""

    what: str
    only_time: bool = False


@dataclass(frozen=True, slots=True)
class RowResult:
    """One row, evaluated.

    Attributes:
        seen: The outcomes that the client saw, with their counts.
        tokens: How many tokens the requests had, all that occurred.
        tries: How often it was tried: again where only times were off.
        plain: How many requests compiled code followed to the end.
    """

    row: ConformanceRow
    true: Times
    measured: Times
    seen: Mapping[str, int]
    tokens: tuple[int, ...]
    misses: tuple[Miss, ...]
    tries: int = 1
    plain: int = 0

    @property
    def passed(self) -> bool:
        """Whether there is no difference."""
        return not self.misses

    @property
    def late(self) -> bool:
        """Whether only times are off."""
        return bool(self.misses) and all(miss.only_time for miss in self.misses)


def closest(errors: Sequence[float]) -> float:
    """The error that is closest to 0: a client is wrong about every request, a busy machine about some."""
    return min(errors, key=abs)


def evaluate(
    row: ConformanceRow,
    asked: Sequence[LoggedRequest],
    truth: Mapping[str | None, Truth],
    typical: Callable[[Sequence[float]], float] = median,
) -> RowResult:
    """Compare the log of a row with the server's record."""
    expected = row.expected
    true = [_true(expected, request, truth.get(request.sample_uuid)) for request in asked]
    measured = [_measured(request) for request in asked]
    count = f"{len(asked)} requests in the log, {row.requests} were asked"
    misses = [
        *([Miss(count)] if len(asked) != row.requests else ()),
        *dict.fromkeys(miss for request in asked for miss in _facts(row, expected, request)),
        *_ways(asked),
        *(_times(row, true, measured, typical) if row.scenario.completes else ()),
    ]
    return RowResult(
        row,
        _medians(true),
        _medians(measured),
        Counter(request.seen for request in asked),
        tuple(sorted({request.output_tokens for request in asked if request.output_tokens is not None})),
        tuple(misses),
        plain=sum(request.is_plain for request in asked),
    )


def _facts(row: ConformanceRow, expected: Expectation, request: LoggedRequest) -> Iterable[Miss]:
    """The differences of a request, except in times."""
    yield from map(Miss, request.unlawful)
    if request.seen not in expected.sees:
        details = f" ({_short(request.error_message)})" if request.error_message else ""
        yield Miss(f"{request.seen}{details}, not {' or '.join(expected.sees)}", row.scenario.races)
        return
    if request.seen == COMPLETED:
        yield from _differences(
            ("streamed", request.streamed, expected.streamed),
            ("tokens", request.output_tokens, expected.tokens),
            ("token source", request.token_source, expected.token_source),
        )
    else:
        yield from _failed(row, request)
    if request.seen == expected.sees[0]:
        yield from _differences(
            ("chunks", request.chunks or 0, expected.chunks),
            ("silent chunks", request.silent_chunks or 0, expected.silent_chunks),
            ("output", request.output, expected.output),
            ("reasoning", request.reasoning, expected.reasoning),
            ("tool call", request.arguments, expected.arguments),
            only_time=row.scenario.races or expected.depends,
        )


def _ways(asked: Sequence[LoggedRequest]) -> Iterable[Miss]:
    """The payloads of requests that compiled code followed and that Python has of no other request."""
    completed = [request for request in asked if request.seen == COMPLETED]
    others = [request.payload for request in completed if not request.is_plain]
    for request in completed:
        if request.is_plain and others and request.payload not in others:
            names = {*request.payload, *others[0]}
            differing = (name for name in names if request.payload.get(name) != others[0].get(name))
            yield Miss(f"compiled code and Python log other values of {', '.join(sorted(differing))}")


def _failed(row: ConformanceRow, request: LoggedRequest) -> Iterable[Miss]:
    message, retry = request.error_message or "", row.scenario.retry_after_s
    if row.scenario.message not in message or KEY in message:
        yield Miss(f"the message is {_short(message)!r}, without {row.scenario.message!r}")
    if retry is not None and not (request.retry_after_s and retry[0] <= request.retry_after_s <= retry[1]):
        yield Miss(f"Retry-After was read as {request.retry_after_s}")


def _differences(*triples: tuple[str, object, object], only_time: bool = False) -> Iterable[Miss]:
    for what, measured, true in triples:
        if measured != true:
            yield Miss(f"{what}: {_short(measured)}, not {_short(true)}", only_time)


def _times(
    row: ConformanceRow,
    true: Sequence[Times],
    measured: Sequence[Times],
    typical: Callable[[Sequence[float]], float],
) -> Iterable[Miss]:
    """The times that are off."""
    tolerance = dict.fromkeys(Times._fields, TOLERANCE_MS)
    tolerance["tpot"] = 2 * TOLERANCE_MS / max(1, (row.expected.tokens or 0) - 1)
    for field in Times._fields:
        pairs = [
            (getattr(reported, field), getattr(right, field))
            for reported, right in zip(measured, true, strict=True)
        ]
        if any((reported is None) != (right is None) for reported, right in pairs):
            missing = sum(reported is None for reported, _ in pairs)
            yield Miss(f"{field}: {missing} of {len(pairs)} requests have none", row.scenario.races)
        elif both := [reported - right for reported, right in pairs if reported is not None]:
            error = typical(both)
            if abs(error) > tolerance[field]:
                yield Miss(f"{field}: {error:+.2f} ms from the truth", only_time=True)


def _true(expected: Expectation, request: LoggedRequest, truth: Truth | None) -> Times:
    """The times of a request by the server; empty for a request that never arrived."""
    if truth is None:
        return Times()
    sent = [(at_ns - truth.received_ns) / _NS_PER_MS for at_ns in truth.chunk_ns]
    completed = request.seen == COMPLETED and COMPLETED in expected.sees
    return Times(
        ttft=sent[0] if sent else None,
        ttfo=_at(sent, expected.first_output),
        ttfv=_at(sent, expected.first_visible),
        tpot=(sent[-1] - sent[0]) / (expected.shown - 1)
        if completed and expected.shown and len(sent) > 1
        else None,
        last=sent[-1] if sent else None,
        answer=(truth.done_ns - truth.received_ns) / _NS_PER_MS if completed else None,
    )


def _at(sent: Sequence[float], place: int | None) -> float | None:
    return None if place is None or place >= len(sent) else sent[place]


def _measured(request: LoggedRequest) -> Times:
    """The times of a request by the client. A failure has no TPOT: the number of tokens is unknown."""
    tpot_ms = request.tpot_ms if request.seen == COMPLETED else None
    return Times(
        request.ttft_ms, request.ttfo_ms, request.ttfv_ms, tpot_ms, request.last_token_ms, request.answer_ms
    )


def _medians(times: Sequence[Times]) -> Times:
    columns = ([value for value in column if value is not None] for column in zip(*times, strict=True))
    return Times(*(median(column) if column else None for column in columns)) if times else Times()


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def record(result: RowResult) -> dict[str, object]:
    """A row as JSON."""
    return {
        "scenario": result.row.scenario.name,
        "protocol": result.row.protocol,
        "transport": result.row.transport,
        "passed": result.passed,
        "tries": result.tries,
        "plain": result.plain,
        "expected": result.row.expected.sees,
        "seen": result.seen,
        "true_ms": result.true._asdict(),
        "measured_ms": result.measured._asdict(),
        "expected_tokens": result.row.expected.tokens,
        "tokens": result.tokens,
        "misses": [miss.what for miss in result.misses],
    }
