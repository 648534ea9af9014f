"""What was reported, beside what the mock endpoint knows to be true of the very same requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reporter.quantile import PERCENTILES, position

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
# Arrivals are kept in microseconds: the last one may seem to come after the end.
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
    """One metric as it was reported, and as it was."""

    reported: MedianAndP99
    true: MedianAndP99

    @property
    def error(self) -> MedianAndP99:
        """Reported - true, percentile by percentile."""
        return MedianAndP99(self.reported.p50 - self.true.p50, self.reported.p99 - self.true.p99)


@dataclass(frozen=True, slots=True)
class BesideTruth:
    """The times of a run beside the truth; None where no request has such a time.

    Attributes:
        requests: Measured requests that completed: what both sides are about.
        requests_s: Requests that completed inside the window, a second.
        chunks_s: Chunks that arrived inside it, a second.
        ttft: Time to first token.
        tpot: Time per output token after the first.
        itl: Time from one token chunk to the next, over all chunks of all requests.
        ttft_each: |reported - true|, request by request.
        tpot_each: Likewise.
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
        """Reported - true in ms, by what it is an error of, e.g. `TTFT p99`."""
        times = {"TTFT": self.ttft, "TPOT": self.tpot, "ITL": self.itl}
        return {
            f"{name} {which}": error
            for name, beside in times.items()
            if beside is not None
            for which, error in (("p50", beside.error.p50), ("p99", beside.error.p99))
        }


def lay_beside(run: Path, truth: Iterable[Truth], settled_s: float = 0.0) -> BesideTruth:
    """Lay a run beside the truth, request by request and in the percentiles that its report has.

    Args:
        run: The run's folder.
        truth: What the mock endpoint told; of other requests than the measured ones, too.
        settled_s: What was issued in so many seconds from the start of the window is left out on both sides:
            a closed loop starts with everything at once.
    """
    from reporter.log.database import open_log

    known = {one.request_id: one for one in truth}
    settled_ns = round(settled_s * 1e9)
    with open_log(run) as log:
        log.execute(_COMPARED, {"settled_ns": settled_ns})
        rows = [
            (known[uuid], ttft, tpot)
            for uuid, ttft, tpot in log.execute("FROM compared").fetchall()
            if uuid in known
        ]
        ttft, tpot, itl = (_percentiles(log, *column) for column in _COLUMNS)
        requests_s, chunks_s = log.execute(_RATES, {"settled_ns": settled_ns}).fetchall()[0]
    served = [one for one, _, _ in rows]
    return BesideTruth(
        requests=len(rows),
        requests_s=requests_s or 0.0,
        chunks_s=chunks_s or 0.0,
        ttft=_beside(ttft, [true_ttft_ms(one) for one in served if one.chunk_ns]),
        tpot=_beside(tpot, [true_tpot_ms(one) for one in served if one.tokens > 1]),
        itl=_beside(itl, [gap for one in served for gap in true_gaps_ms(one)]),
        ttft_each=spread([abs(ttft - true_ttft_ms(one)) for one, ttft, _ in rows if ttft is not None]),
        tpot_each=spread([abs(tpot - true_tpot_ms(one)) for one, _, tpot in rows if tpot is not None]),
    )


def true_ttft_ms(truth: Truth) -> float:
    """From when the server had the request to when it sent the first token."""
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
    """How late a mock endpoint of constant pace sent its tokens: whether it kept up itself.

    Args:
        truth: What it told.
        ttft_ms: The time to first token that it was given.
        gap_ms: The time between tokens that it was given, one token a chunk.
    """
    return spread(
        [
            (sent_ns - one.received_ns - one.queued_ns) / _NS_PER_MS - ttft_ms - number * gap_ms
            for one in truth
            for number, sent_ns in enumerate(one.chunk_ns)
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


def _beside(reported: MedianAndP99 | None, true_ms: Sequence[float]) -> ReportedAndTrue | None:
    true = spread(true_ms)
    return None if true is None or reported is None else ReportedAndTrue(reported, true)
