"""Random runs: the report says what a few lines of plain Python say about the same requests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from math import ceil, floor
from random import Random
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from recorder import EventType
from reporter import TPOTReportingMode
from tests.conftest import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable

    from reporter.report import Report
    from tests.reporter.conftest import Run

PERCENTILES = {"p50": "0.5", "p90": "0.9", "p95": "0.95", "p99": "0.99", "p999": "0.999"}


@dataclass(frozen=True)
class Asked:
    """One request; all times in whole microseconds."""

    scheduled: int
    lag: int
    send_lag: int
    gaps: tuple[int, ...]
    tail: int
    usage: tuple[int, int] | None
    ending: EventType | None
    phase: str

    @property
    def issued(self) -> int:
        """When it was issued."""
        return self.scheduled + self.lag

    @property
    def sent(self) -> int:
        """When it was sent."""
        return self.issued + self.send_lag

    @property
    def arrivals(self) -> list[int]:
        """When its chunks arrived."""
        return [self.sent + offset for offset in accumulate(self.gaps)]

    @property
    def ended(self) -> int:
        """When it was over."""
        return self.arrivals[-1] + self.tail

    @property
    def tokens(self) -> int:
        """Its output tokens: the server's count, which cannot be 0, else its chunks."""
        return (self.usage and self.usage[1]) or len(self.gaps)

    @property
    def paced(self) -> int:
        """Tokens shown after the first: of one more than the chunks, the last ends the text."""
        return self.tokens - (2 if self.usage and self.tokens == len(self.gaps) + 1 else 1)


MICROSECONDS = st.integers(0, 1_000_000)

REQUESTS = st.builds(
    Asked,
    scheduled=MICROSECONDS,
    lag=st.integers(0, 1000),
    send_lag=st.integers(0, 1000),
    gaps=st.lists(st.integers(0, 100_000), min_size=1, max_size=6).map(tuple),
    tail=st.integers(0, 1000),
    usage=st.none() | st.tuples(st.integers(0, 99), st.integers(0, 9)),
    ending=st.sampled_from([EventType.COMPLETE] * 5 + [EventType.ERROR, EventType.CANCELLED, None]),
    phase=st.sampled_from(["performance"] * 5 + ["warmup"]),
)

RUNS = st.lists(REQUESTS, max_size=12)


def written(run: Run, asked: list[Asked], *, duration_us: int | None, shuffle: int) -> Run:
    """The run of these requests, its events in any order."""
    if duration_us is not None:
        run.begins(duration_s=duration_us / 1e6)
    for number, request in enumerate(asked):
        ms = [moment / 1e3 for moment in request.arrivals]
        uuid = f"request {number}"
        issue = {"scheduled": request.scheduled / 1e3, "sent": request.sent / 1e3, "phase": request.phase}
        if request.ending is None:
            run.issues(request.issued / 1e3, uuid=uuid, **issue)
        else:
            run.answers(
                *ms,
                at_ms=request.issued / 1e3,
                uuid=uuid,
                complete=request.ended / 1e3,
                kind=request.ending,
                usage=request.usage,
                issue=issue,
            )
    run.stops(3000, scheduled=0).ends(4000)
    Random(shuffle).shuffle(run.events)  # noqa: S311 (an order, not a secret)
    return run


def percentile(values: list[float], method: str, p: Fraction) -> float:
    """A percentile, by the textbook."""
    ordered, count = sorted(values), len(values)
    if method == "loadgen_floor":
        return ordered[floor(count * p)]
    if method == "nearest_rank":
        return ordered[ceil(count * p) - 1]
    rank = (count - 1) * p
    low, high = ordered[floor(rank)], ordered[ceil(rank)]
    return low + (high - low) * float(rank - floor(rank))


def summarized(values: list[float], method: str) -> dict[str, Any] | None:
    """What a Summary of these values must say."""
    if not values:
        return None
    figures = {
        "count": len(values),
        "mean": mean(values),
        "std": stdev(values) if len(values) > 1 else None,
        "min": min(values),
        "max": max(values),
        **{name: percentile(values, method, Fraction(p)) for name, p in PERCENTILES.items()},
    }
    return {
        name: value if value is None else pytest.approx(value, rel=1e-9, abs=1e-7)
        for name, value in figures.items()
    }


def expected(asked: list[Asked], method: str, *, by_token: bool) -> dict[str, Any]:
    """The summaries that a report of these requests must have."""
    done = [r for r in asked if r.phase == "performance" and r.ending is EventType.COMPLETE]
    several = [r for r in done if r.tokens > 1 and len(r.gaps) > 1]
    values = {
        "ttft_ms": [r.gaps[0] for r in done],
        "ttfo_ms": [r.gaps[0] for r in done],
        "ttfv_ms": [r.gaps[0] for r in done],
        "ttfb_ms": [r.gaps[0] for r in done],
        "itl_ms": [gap for r in done for gap in r.gaps[1:]],
        "latency_ms": [r.ended - r.issued for r in done],
        "latency_from_schedule_ms": [r.ended - r.scheduled for r in done],
        "ttft_from_schedule_ms": [r.arrivals[0] - r.scheduled for r in done],
        "last_token_ms": [r.arrivals[-1] - r.sent for r in done],
        "issue_lag_ms": [r.lag for r in done],
        "send_lag_ms": [r.send_lag for r in done],
        "connect_ms": [],
        "tls_ms": [],
        "dns_ms": [],
        "own_ms": [r.lag + r.send_lag for r in done],
        "decode_ms": [r.arrivals[-1] - r.arrivals[0] for r in done if len(r.gaps) > 1],
        "tpot_ms": [
            (r.arrivals[-1] - r.arrivals[0]) / r.paced
            for r in several
            for _ in range(r.paced if by_token else 1)
        ],
    }
    return {name: summarized([us / 1e3 for us in of], method) for name, of in values.items()}


def client_overhead(asked: list[Asked], method: str) -> Any:
    """How much smaller the p99 of the time to the first token would be, had the client taken no time."""
    done = [r for r in asked if r.phase == "performance" and r.ending is EventType.COMPLETE]
    if not done:
        return None
    without = percentile([r.gaps[0] for r in done], method, Fraction("0.99"))
    with_own = percentile([r.lag + r.send_lag + r.gaps[0] for r in done], method, Fraction("0.99"))
    return pytest.approx(1 - without / with_own if with_own else 0, rel=1e-6, abs=1e-9)


def arrived(asked: list[Asked], done: list[Asked], end: int) -> tuple[float, int]:
    """Output and input tokens until a moment; of a cut request without a count, as others have."""
    with_usage = [r for r in done if r.usage]
    counted = [(r.usage[1], len(r.gaps)) for r in with_usage if r.usage and r.usage[1]]
    per_chunk = Fraction(sum(n for n, _ in counted), sum(chunks for _, chunks in counted) or 1) or 1
    inputs = [r.usage[0] for r in with_usage if r.usage]
    usual_input = round(sum(inputs) / len(inputs)) if inputs else 0
    output, input_tokens = Fraction(0), 0
    for r in asked:
        tokens = r.tokens if r in done or (r.usage and r.usage[1]) else len(r.gaps) * per_chunk
        output += Fraction(tokens * sum(a <= end for a in r.arrivals)) / len(r.gaps)
        if r.arrivals[0] <= end:
            input_tokens += r.usage[0] if r.usage else 0 if r in done else usual_input
    return float(output), input_tokens


def throughput(asked: list[Asked], duration_us: int | None) -> dict[str, Any]:
    """The rates that a report of these requests must have."""
    measured = [r for r in asked if r.phase == "performance"]
    done = [r for r in measured if r.ending is EventType.COMPLETE]
    ended = done or [r for r in measured if r.ending]
    start, end = 0, duration_us
    if duration_us is None:
        start = min((r.issued for r in measured), default=0)
        end = max((r.ended for r in ended), default=start)
    if not measured or end is None or end == start:
        return {"qps": None, "output_tps": None, "total_tps": None}
    cut = [r for r in measured if r.ending is EventType.CANCELLED]
    output, input_tokens = arrived([*done, *cut], done, end)
    rates = {
        "qps": sum(r.ended <= end for r in done),
        "output_tps": output,
        "total_tps": output + input_tokens if not done or any(r.usage for r in done) else None,
    }
    seconds = (end - start) / 1e6
    return {k: v if v is None else pytest.approx(float(v) / seconds, rel=1e-9) for k, v in rates.items()}


def exact(report: Report) -> dict[str, Any]:
    """What of a report is the same to the last bit, in whatever order its requests were added up."""
    whole: dict[str, Any] = _without_sums(report.to_dict())
    return whole


def _without_sums(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_sums(each) for each in value]
    if not isinstance(value, dict):
        return value
    sums = {"mean", "std"} if {"mean", "std"} <= value.keys() else set()
    return {key: _without_sums(member) for key, member in value.items() if key not in sums}


SLOW = settings(max_examples=3 * EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@SLOW
@given(
    asked=RUNS,
    duration_us=st.none() | st.integers(1_000, 1_200_000),
    method=st.sampled_from(["linear", "loadgen_floor", "nearest_rank"]),
    mode=st.sampled_from(TPOTReportingMode),
    shuffle=st.integers(),
)
@example(  # The only request with a count of the input arrives after the window.
    asked=[
        Asked(scheduled, 0, 0, (0,), 0, usage, EventType.COMPLETE, "performance")
        for scheduled, usage in ((0, None), (53_996, (0, 0)))
    ],
    duration_us=1_000,
    method="linear",
    mode=TPOTReportingMode.REQUEST_WEIGHTED,
    shuffle=0,
)
def test_the_report_is_what_plain_python_says(
    a_run: Callable[..., Run],
    asked: list[Asked],
    duration_us: int | None,
    method: str,
    mode: TPOTReportingMode,
    shuffle: int,
) -> None:
    """Every summary, rate and count equals the one worked out from the requests themselves."""
    run = written(a_run(), asked, duration_us=duration_us, shuffle=shuffle)
    report = run.report(percentile_method=method, tpot_reporting_mode=mode).to_dict()
    summaries = expected(asked, method, by_token=mode is TPOTReportingMode.TOKEN_WEIGHTED)
    assert {name: report[name] for name in summaries} == summaries
    assert report["own_ttft_share"] == client_overhead(asked, method)
    assert report["throughput"] == throughput(asked, duration_us)
    measured = [r for r in asked if r.phase == "performance"]
    assert report["counts"]["warmup"] == len(asked) - len(measured)
    assert {
        name: report["counts"][name] for name in ("issued", "completed", "failed", "cancelled", "in_flight")
    } == {
        "issued": len(measured),
        "completed": sum(r.ending is EventType.COMPLETE for r in measured),
        "failed": sum(r.ending is EventType.ERROR for r in measured),
        "cancelled": sum(r.ending is EventType.CANCELLED for r in measured),
        "in_flight": sum(r.ending is None for r in measured),
    }


@pytest.mark.slow
@SLOW
@given(asked=RUNS, shuffles=st.tuples(st.integers(), st.integers()))
def test_the_order_of_events_in_the_log_does_not_matter(
    a_run: Callable[..., Run], asked: list[Asked], shuffles: tuple[int, int]
) -> None:
    """Two logs of the same events have the same report."""
    first, second = (
        written(a_run(), asked, duration_us=None, shuffle=shuffle).report() for shuffle in shuffles
    )
    assert exact(first) == exact(second)


@pytest.mark.slow
@SLOW
@given(asked=RUNS, more=REQUESTS)
def test_a_failure_changes_no_latency(a_run: Callable[..., Run], asked: list[Asked], more: Asked) -> None:
    """A run with one more failed request has the same distributions."""
    failed = replace(more, ending=EventType.ERROR)
    without, with_it = (
        exact(written(a_run(), requests, duration_us=None, shuffle=0).report())
        for requests in (asked, [*asked, failed])
    )
    names = [name for name in without if name.endswith("_ms")]
    assert [without[name] for name in names] == [with_it[name] for name in names]
