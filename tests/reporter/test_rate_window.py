"""The spans that rates are counted over: the run's own, its steady state, MLPerf LoadGen's."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

import pytest

from recorder import EventType
from reporter import MetricsReporter
from reporter.measured_run import measured
from reporter.report import ThroughputFigures
from rulesets.definitions import Definitions

if TYPE_CHECKING:
    from collections.abc import Callable

    from reporter import Report
    from tests.reporter.conftest import Run

    NewRun = Callable[..., Run]


def over(run: Run, window: Any) -> Report:
    """The report of a run with rates over a window."""
    folder = run.folder if (run.folder / "events.db").exists() else run.write()
    with MetricsReporter(folder) as reporter:
        return reporter.create_report(definitions=Definitions(throughput_window=window))


def ends_early(run: Run) -> Run:
    """Three answers, the last issued of which is done before the first: at 600 ms, due from 100 ms on."""
    run.answers(300, 900, at_ms=110, issue={"scheduled": 100.0}, usage=(10, 2))
    run.answers(400, 500, at_ms=200, usage=(10, 2))
    run.answers(550, 600, at_ms=400, usage=(10, 2))
    return run.fails(at_ms=300, failed=700).stops(450).ends(1000)


def test_until_the_last_issued_is_done(a_run: NewRun) -> None:
    """LoadGen's Server: (n - 1) / t and tokens / t, with all that completed, also later."""
    report = over(ends_early(a_run(kind="poisson", rate=3)), "last_issued_done")
    assert (report.window.kind, report.window.duration_s) == ("last_issued_done", 0.5)
    assert report.throughput == ThroughputFigures(
        qps=(3 - 1) / 0.5,
        output_tps=6 / 0.5,
        total_tps=pytest.approx((6 + 30) / 0.5),  # type: ignore[arg-type]  # nearly that
    )
    assert report.window.start_ns is not None
    assert report.window.end_ns == report.window.start_ns + 500_000_000


def test_while_performance_is_tracked(a_run: NewRun) -> None:
    """From the start of the phase to STOP_PERFORMANCE_TRACKING; one of two answers is done by then."""
    run = a_run(kind="poisson", rate=3)
    run.answers(200, 400, at_ms=110, usage=(10, 2)).answers(300, 500, at_ms=200, usage=(10, 2))
    report = over(run.stops(450).ends(1000), "tracked")
    started_ns = report.window.start_ns
    assert started_ns is not None
    assert report.window.kind == "tracked"
    assert report.window.end_ns == started_ns + round((report.window.duration_s or 0) * 1e9)
    assert report.throughput.qps == pytest.approx(1 / (report.window.duration_s or 0))


def test_until_the_first_user_is_done(a_run: NewRun) -> None:
    """MLPerf's agentic inference: the third session begins last, and the first end after that is its own."""
    run = a_run(kind="closed")
    for name, begun_ms, ended_ms in (("a", 110, 300), ("b", 110, 900), ("c", 310, 500)):
        run.answers(
            begun_ms + 50,
            ended_ms,
            at_ms=begun_ms,
            usage=(10, 2),
            issue={"about": {"conversation": name, "turn": 0, "turns": 1}},
        )
    report = over(run.stops(310).ends(1000), "first_user_done")
    assert report.window.kind == "first_user_done"
    assert report.window.duration_s is not None
    assert report.throughput.qps == pytest.approx(2 / report.window.duration_s)


def test_offline_until_all_are_done(a_run: NewRun) -> None:
    """LoadGen's Offline: n / the longest latency."""
    report = over(ends_early(a_run(kind="offline")), "last_issued_done")
    assert report.window.duration_s == 0.8
    assert report.throughput == ThroughputFigures(
        qps=3 / 0.8,
        output_tps=6 / 0.8,
        total_tps=pytest.approx((6 + 30) / 0.8),  # type: ignore[arg-type]  # nearly that
    )


def test_offline_a_failure_may_be_the_last_of_all(a_run: NewRun) -> None:
    """A batch whose last request times out is not done before."""
    run = a_run(kind="offline").answers(300, 500, usage=(10, 2)).fails(failed=800).ends(1000)
    assert over(run, "last_issued_done").throughput.qps == 1 / 0.8


def test_a_rate_until_the_last_issued_is_done_leaves_the_first_query_of_a_segment_out() -> None:
    """As LoadGen does, but offline."""
    from reporter.report import Window
    from reporter.windows.rate_window import is_first_uncounted

    window = Window("last_issued_done", 1.0, 0, 10**9)
    assert is_first_uncounted(window, {"kind": "poisson"})
    assert not is_first_uncounted(window, {"kind": "offline"})
    assert not is_first_uncounted(Window("requests", 1.0, 0, 10**9), {"kind": "poisson"})


def test_a_run_of_nothing_has_no_span(a_run: NewRun) -> None:
    """And no rates."""
    for window in ("last_issued_done", "steady_state"):
        report = over(a_run().ends(), window)
        assert report.window.duration_s is None
        assert report.throughput == ThroughputFigures(None, None, None)


def a_steady_run(run: Run) -> Run:
    """Ten answers per second for 20 s, of three tokens each; in the first second three times as many."""
    run.settings["load"] = {"kind": "constant", "rate": 10.0}
    for number in range(200):
        at_ms = 100.0 * number
        for _ in range(3 if at_ms < 1000 else 1):
            run.answers(at_ms + 40, at_ms + 55, at_ms + 70, at_ms=at_ms, usage=(5, 3))
    return run.stops(20_000).ends(20_100)


def test_blocks_of_the_steady_state_have_nothing_from_before_it(a_run: NewRun) -> None:
    """Their mean is its rate, though some answers were over, and others in flight, when it began."""
    run = a_run(kind="constant", rate=10.0)
    for number in range(200):
        at_ms = 100.0 * number
        for _ in range(3 if at_ms < 1000 else 1):
            run.answers(at_ms + 40, at_ms + 290, at_ms + 540, at_ms=at_ms, usage=(5, 3))
    folder = run.stops(20_000).ends(20_700).write()
    with measured(folder, Definitions(throughput_window="steady_state")) as (report, evidence):
        assert (report.window.duration_s or 99) < 19.5
        for metric in ("qps", "output_tps"):
            rate = evidence.rate(metric, ())
            assert fmean(rate.blocks) == pytest.approx(rate.value, rel=0.01)


@pytest.mark.slow
def test_over_the_steady_state(a_run: NewRun) -> None:
    """What completed and arrived in it counts, and nothing from before."""
    run = a_steady_run(a_run())
    whole, steady = over(run, "run"), over(run, "steady_state")
    assert steady.steady_state is not None
    assert steady.steady_state.found
    assert steady.window.kind == "steady_state"
    steady_s = (steady.steady_state.end_s or 0) - (steady.steady_state.start_s or 0)
    assert steady.window.duration_s == pytest.approx(steady_s)
    assert steady.throughput.qps == pytest.approx(10, rel=0.02)
    assert steady.throughput.output_tps == pytest.approx(30, rel=0.02)
    assert steady.throughput.total_tps == pytest.approx(80, rel=0.02)
    assert (whole.throughput.qps or 0) > 10.5
    assert steady.ttft_ms == whole.ttft_ms
    assert steady.over_time == whole.over_time


def test_a_token_counts_where_it_arrived(a_run: NewRun) -> None:
    """Of an answer that straddles the start of the window, only the chunks inside it."""
    run = a_run()
    run.settings["load"] = {"kind": "constant", "rate": 10.0}
    for number in range(200):
        at_ms = 100.0 * number
        run.answers(*(at_ms + 20 * chunk for chunk in range(1, 61)), at_ms=at_ms, usage=(5, 60))
    steady = over(run.stops(20_000).ends(21_300), "steady_state")
    assert steady.steady_state is not None
    assert steady.steady_state.found
    assert steady.steady_state.start_s
    assert steady.throughput.output_tps == pytest.approx(600, rel=0.02)


def test_without_a_steady_state_the_run_is_invalid(a_run: NewRun) -> None:
    """Without the state, there are no rates over it."""
    report = over(a_run().answers(5, 6, usage=(1, 2)).ends(), "steady_state")
    assert report.throughput == ThroughputFigures(None, None, None)
    assert not report.validity.valid
    assert [finding.code for finding in report.findings if finding.severity == "error"] == ["not_steady"]


@pytest.mark.parametrize(
    ("duration_s", "stopped", "issuing_s"),
    [(None, 450, 0.45), (0.5, 500.2, 0.5), (0.5, 499.7, 0.5), (0.5, 450, 0.45)],
)
def test_for_how_long_requests_were_issued(
    a_run: NewRun, duration_s: float | None, stopped: float, issuing_s: float
) -> None:
    """Until issuing stopped, or for the duration that was asked for, whose timer may be a little early."""
    run = a_run()
    run.events.clear()
    run.begins(duration_s=duration_s).answers(50, usage=(1, 1)).stops(stopped)
    assert run.ends(900).report().window.issuing_s == pytest.approx(issuing_s)


def test_nothing_was_issued_for_any_time(a_run: NewRun) -> None:
    """A run without a performance phase has no such span."""
    run = a_run()
    run.events.clear()
    run.session(EventType.TEST_STARTED, 0)
    assert run.ends().report().window.issuing_s is None
