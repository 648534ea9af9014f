"""One row judged: what the client logged, beside what the server did."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple

from loadgen.mock_endpoint.scenarios.answers import KEY
from loadgen.mock_endpoint.scenarios.scenario import COMPLETED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from loadgen.mock_endpoint.scenarios.expectation import Expectation
    from loadgen.mock_endpoint.truth import Truth
    from loadgen.sessions.conformance.measured import LoggedRequest
    from loadgen.sessions.conformance.row import ConformanceRow

TOLERANCE_MS: Final = 2.0
"""How far the typical error of a row's requests may be from 0; of TPOT, that of both ends over the gaps."""

_NS_PER_MS: Final = 1e6
_LONGEST: Final = 60


class Times(NamedTuple):
    """The times of a request, in ms; None where it has none. The first token's, and so on, from `sent`."""

    ttft: float | None = None
    ttfo: float | None = None
    ttfv: float | None = None
    tpot: float | None = None
    last: float | None = None
    answer: float | None = None


class Miss(NamedTuple):
    """What is wrong, and whether it is only a time: that may have been the machine's doing."""

    what: str
    only_time: bool = False


@dataclass(frozen=True, slots=True)
class RowResult:
    """One row, judged.

    Attributes:
        true: The median times, by the server.
        measured: The median times, by the client.
        seen: How often the client saw what.
        tokens: How many tokens the requests had, all that occurred.
        misses: What is wrong; nothing in a row that passes.
        tries: How often it was asked: again where it had missed in time alone.
    """

    row: ConformanceRow
    true: Times
    measured: Times
    seen: Mapping[str, int]
    tokens: tuple[int, ...]
    misses: tuple[Miss, ...]
    tries: int = 1

    @property
    def passed(self) -> bool:
        """Whether everything is right."""
        return not self.misses

    @property
    def late(self) -> bool:
        """Whether times are all that is wrong."""
        return bool(self.misses) and all(miss.only_time for miss in self.misses)


def closest(errors: Sequence[float]) -> float:
    """The error that is closest to 0: a client is wrong about every request, a busy machine about some."""
    return min(errors, key=abs)


def judge(
    row: ConformanceRow,
    asked: Sequence[LoggedRequest],
    truth: Mapping[str | None, Truth],
    typical: Callable[[Sequence[float]], float] = median,
) -> RowResult:
    """Hold what was logged of a row against what the server did.

    Args:
        row: What was asked.
        asked: Its requests.
        truth: What the server told of each request.
        typical: Which of the errors of a time, over the requests, is the row's.
    """
    expected = row.expected
    true = [_true(expected, one, truth.get(one.sample_uuid)) for one in asked]
    measured = [_measured(one) for one in asked]
    misses = [
        *_count(row, asked),
        *dict.fromkeys(miss for one in asked for miss in _facts(row, expected, one)),
        *(_times(row, true, measured, typical) if row.scenario.completes else ()),
    ]
    return RowResult(
        row,
        _medians(true),
        _medians(measured),
        Counter(one.seen for one in asked),
        tuple(sorted({one.output_tokens for one in asked if one.output_tokens is not None})),
        tuple(misses),
    )


def _count(row: ConformanceRow, asked: Sequence[LoggedRequest]) -> Iterable[Miss]:
    if len(asked) != row.requests:
        yield Miss(f"{len(asked)} requests in the log, {row.requests} were asked")


def _facts(row: ConformanceRow, expected: Expectation, one: LoggedRequest) -> Iterable[Miss]:
    """What is wrong of a request, its times apart."""
    yield from map(Miss, one.unlawful)
    if one.seen not in expected.sees:
        said = f" ({_short(one.error_message)})" if one.error_message else ""
        yield Miss(f"{one.seen}{said}, not {' or '.join(expected.sees)}", row.scenario.races)
        return
    if one.seen == COMPLETED:
        yield from _differences(
            ("streamed", one.streamed, expected.streamed),
            ("tokens", one.output_tokens, expected.tokens),
            ("token source", one.token_source, expected.token_source),
        )
    else:
        yield from _failed(row, one)
    if one.seen == expected.sees[0]:
        yield from _differences(
            ("chunks", one.chunks or 0, expected.chunks),
            ("silent chunks", one.silent_chunks or 0, expected.silent_chunks),
            ("output", one.output, expected.output),
            ("reasoning", one.reasoning, expected.reasoning),
            ("tool call", one.arguments, expected.arguments),
            only_time=row.scenario.races or expected.depends,
        )


def _failed(row: ConformanceRow, one: LoggedRequest) -> Iterable[Miss]:
    message, retry = one.error_message or "", row.scenario.retry_after_s
    if row.scenario.message not in message or KEY in message:
        yield Miss(f"the message is {_short(message)!r}, without {row.scenario.message!r}")
    if retry is not None and not (one.retry_after_s and retry[0] <= one.retry_after_s <= retry[1]):
        yield Miss(f"Retry-After was read as {one.retry_after_s}")


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
            (getattr(found, field), getattr(right, field))
            for found, right in zip(measured, true, strict=True)
        ]
        if any((found is None) != (right is None) for found, right in pairs):
            missing = sum(found is None for found, _ in pairs)
            yield Miss(f"{field}: {missing} of {len(pairs)} requests have none", row.scenario.races)
        elif both := [found - right for found, right in pairs if found is not None]:
            error = typical(both)
            if abs(error) > tolerance[field]:
                yield Miss(f"{field}: {error:+.2f} ms from the truth", only_time=True)


def _true(expected: Expectation, one: LoggedRequest, truth: Truth | None) -> Times:
    """The times of a request by the server; of one that never came to it there are none."""
    if truth is None:
        return Times()
    sent = [(at_ns - truth.received_ns) / _NS_PER_MS for at_ns in truth.chunk_ns]
    completed = one.seen == COMPLETED and COMPLETED in expected.sees
    return Times(
        ttft=sent[0] if sent else None,
        ttfo=_at(sent, expected.first_output),
        ttfv=_at(sent, expected.first_visible),
        tpot=(sent[-1] - sent[0]) / (expected.tokens - 1)
        if completed and expected.tokens and len(sent) > 1
        else None,
        last=sent[-1] if sent else None,
        answer=(truth.done_ns - truth.received_ns) / _NS_PER_MS if completed else None,
    )


def _at(sent: Sequence[float], place: int | None) -> float | None:
    return None if place is None or place >= len(sent) else sent[place]


def _measured(one: LoggedRequest) -> Times:
    """The times of a request by the client. A failure has no TPOT: it is not known how many tokens it had."""
    tpot_ms = one.tpot_ms if one.seen == COMPLETED else None
    return Times(one.ttft_ms, one.ttfo_ms, one.ttfv_ms, tpot_ms, one.last_token_ms, one.answer_ms)


def _medians(times: Sequence[Times]) -> Times:
    columns = ([value for value in column if value is not None] for column in zip(*times, strict=True))
    return Times(*(median(column) if column else None for column in columns)) if times else Times()


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
