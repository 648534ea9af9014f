"""The reported times of requests compared with the true ones of the mock endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from reporter.percentiles import position
from rulesets.definitions import PERCENTILES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from loadgen.mock_endpoint.truth import Truth
    from reporter.log.database import OpenLog

_NS_PER_MS: Final = 1e6
_COMPARED: Final = """
    CREATE TEMP TABLE compared AS
    SELECT sample_uuid, ttft_ms, tpot_ms
    FROM samples
    WHERE measured AND status = 'completed'
        AND issued_ns >= (SELECT start_ns FROM measured_window) + $settled_ns
"""
# Arrivals are stored in microseconds: the last one may seem to come after the end.
_RATES: Final = """
    WITH settled AS (SELECT start_ns + $settled_ns AS start_ns, end_ns FROM measured_window)
    SELECT
        (SELECT count(*) FROM samples WHERE measured AND complete_ns BETWEEN start_ns AND end_ns) * 1e9
            / nullif(greatest(end_ns - start_ns, 0), 0),
        (SELECT count(*) FROM chunks WHERE at_ns BETWEEN start_ns AND end_ns + 1000) * 1e9
            / nullif(greatest(end_ns - start_ns, 0), 0)
    FROM settled
"""
_COLUMNS: Final = (
    ("ttft_ms", "compared"),
    ("tpot_ms", "compared"),
    ("gap_ms", "chunks SEMI JOIN compared USING (sample_uuid)"),
)


@dataclass(frozen=True, slots=True)
class MedianAndP99:
    """A distribution in two figures, in ms: the median and the 99th percentile (linear)."""

    p50: float
    p99: float


@dataclass(frozen=True, slots=True)
class ReportedAndTrue:
    """One metric as reported, and the true values."""

    reported: MedianAndP99
    true: MedianAndP99

    @property
    def error(self) -> MedianAndP99:
        """Reported - true, percentile by percentile."""
        return MedianAndP99(self.reported.p50 - self.true.p50, self.reported.p99 - self.true.p99)


@dataclass(frozen=True, slots=True)
class ComparedTimes:
    """The times of a run compared with the truth; None where no request has such a time.

    Attributes:
        requests: Measured requests that completed: what both sides are about.
        requests_s: The req/s that completed inside the window.
        chunks_s: Chunks/s that arrived inside it.
        ttft: Time to first token.
        tpot: Time per output token after the first.
        itl: Time from one token chunk to the next, over all chunks of all requests.
        ttft_each: |reported - true|, request by request.
        tpot_each: As above.
    """

    requests: int
    requests_s: float
    chunks_s: float
    ttft: ReportedAndTrue | None
    tpot: ReportedAndTrue | None
    itl: ReportedAndTrue | None
    ttft_each: MedianAndP99 | None
    tpot_each: MedianAndP99 | None

    def errors(self) -> Mapping[str, float]:
        """Reported - true in ms, by metric and statistic, e.g. `TTFT p99`."""
        times = {"TTFT": self.ttft, "TPOT": self.tpot, "ITL": self.itl}
        return {
            f"{name} {which}": error
            for name, times_of_metric in times.items()
            if times_of_metric is not None
            for which, error in (("p50", times_of_metric.error.p50), ("p99", times_of_metric.error.p99))
        }


def compare_with_truth(run: Path, truth: Iterable[Truth], settled_s: float = 0.0) -> ComparedTimes:
    """Compare a run with the truth, request by request and in the percentiles of the report.

    Args:
        run: The run's folder.
        truth: The true times of the mock endpoint, also of requests that are not measured.
        settled_s: Requests issued in the first seconds of the window, this many, are left out on both sides:
            a closed loop starts with all of its requests at once.
    """
    from reporter.log.database import open_log

    truth_by_id = {request.request_id: request for request in truth}
    settled_ns = round(settled_s * 1e9)
    with open_log(run) as log:
        log.execute(_COMPARED, {"settled_ns": settled_ns})
        rows = [
            (truth_by_id[uuid], ttft, tpot)
            for uuid, ttft, tpot in log.execute("FROM compared").fetchall()
            if uuid in truth_by_id
        ]
        ttft, tpot, itl = (_percentiles(log, *column) for column in _COLUMNS)
        requests_s, chunks_s = log.execute(_RATES, {"settled_ns": settled_ns}).fetchall()[0]
    served = [request for request, _, _ in rows]
    return ComparedTimes(
        requests=len(rows),
        requests_s=requests_s or 0.0,
        chunks_s=chunks_s or 0.0,
        ttft=_compared(ttft, [true_ttft_ms(request) for request in served if request.chunk_ns]),
        tpot=_compared(tpot, [true_tpot_ms(request) for request in served if request.tokens > 1]),
        itl=_compared(itl, [gap for request in served for gap in true_gaps_ms(request)]),
        ttft_each=spread(
            [abs(ttft - true_ttft_ms(request)) for request, ttft, _ in rows if ttft is not None]
        ),
        tpot_each=spread(
            [abs(tpot - true_tpot_ms(request)) for request, _, tpot in rows if tpot is not None]
        ),
    )


def true_ttft_ms(truth: Truth) -> float:
    """The time from the arrival of the request at the server to the first sent token."""
    return (truth.chunk_ns[0] - truth.received_ns) / _NS_PER_MS


def true_tpot_ms(truth: Truth) -> float:
    """From the first token to the last, for each token after the first."""
    return (truth.chunk_ns[-1] - truth.chunk_ns[0]) / (truth.tokens - 1) / _NS_PER_MS


def true_gaps_ms(truth: Truth) -> Iterable[float]:
    """The times from one chunk to the next."""
    return (
        (after - before) / _NS_PER_MS
        for before, after in zip(truth.chunk_ns, truth.chunk_ns[1:], strict=False)
    )


def lateness(truth: Iterable[Truth], ttft_ms: float, gap_ms: float) -> MedianAndP99 | None:
    """The lateness of a mock endpoint of constant pace, as a check of the mock."""
    return spread(
        [
            (sent_ns - request.received_ns - request.queued_ns) / _NS_PER_MS - ttft_ms - number * gap_ms
            for request in truth
            for number, sent_ns in enumerate(request.chunk_ns)
        ]
    )


def spread(values: Sequence[float]) -> MedianAndP99 | None:
    """The median and the 99th percentile of values in any order; None without any."""
    if not values:
        return None
    ranked = sorted(values)
    places = {name: position("linear", len(ranked), PERCENTILES[name]) for name in ("p50", "p99")}
    return MedianAndP99(
        **{name: place.between(ranked[place.below], ranked[place.above]) for name, place in places.items()}
    )


def _percentiles(log: OpenLog, column: str, table: str) -> MedianAndP99 | None:
    sql = f"SELECT quantile_cont({column}, 0.5), quantile_cont({column}, 0.99) FROM {table}"  # noqa: S608 (ours)
    p50, p99 = log.execute(sql).fetchall()[0]
    return None if p50 is None else MedianAndP99(p50, p99)


def _compared(reported: MedianAndP99 | None, true_ms: Sequence[float]) -> ReportedAndTrue | None:
    true = spread(true_ms)
    return None if true is None or reported is None else ReportedAndTrue(reported, true)
