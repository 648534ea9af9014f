"""An opened log is a value: definitions, windows and counts of one do not change another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from reporter import MetricsReporter
from reporter.log import database
from reporter.log.database import COUNTS, open_log
from reporter.log.window import Window
from reporter.windows.run_spans import SpanRow, span_macro
from rulesets.definitions import Definitions

if TYPE_CHECKING:
    from collections.abc import Callable

    from reporter.log.database import OpenLog
    from tests.reporter.conftest import Run

DEFINITIONS = [Definitions(), Definitions(throughput_window="last_issued_done", tpot_end="complete")]
NOWHERE = Window("steady_state", 1.0, 0, 1)


def described(a_run: Callable[..., Run]) -> Run:
    """A run of three requests, of which the one that was issued last ends first."""
    run = a_run(kind="poisson", rate=10)
    for number, end in enumerate((900, 700, 400)):
        run.answers(end - 50, end - 20, end, at_ms=100.0 * number, usage=(3, 7), uuid=f"request {number}")
    return run.stops(1000).ends(1000)


def answers(log: OpenLog) -> tuple[Any, ...]:
    """What depends on a value's definitions and window."""
    query = """
        SELECT max(tpot_ms), count(*) FILTER (in_window), (SELECT count(*) FILTER (in_window) FROM arrived),
            (SELECT kind FROM measured_window), (SELECT count(client_server) FROM recounted)
        FROM samples"""
    return log.execute(query).fetchall()[0]


@pytest.mark.slow
@pytest.mark.parametrize("definitions", DEFINITIONS)
def test_figures_are_the_same_from_a_table_of_samples_and_from_the_view(
    a_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, definitions: Definitions
) -> None:
    """Also over the window that definitions choose while the report is computed."""
    run = described(a_run).write()
    with MetricsReporter(run) as reporter:
        from_table = reporter.create_report(definitions=definitions)
    monkeypatch.setattr(database, "FEW_REQUESTS", 0)
    with MetricsReporter(run) as reporter:
        from_view = reporter.create_report(definitions=definitions)
    assert from_table.to_dict() == from_view.to_dict()
    assert from_table.throughput.qps is not None


@pytest.mark.parametrize("with_table", [False, True])
def test_values_of_one_log_can_be_used_in_any_order(a_run: Callable[..., Run], *, with_table: bool) -> None:
    """Each answers by its own definitions, window and counts, whichever was made or asked before."""
    with open_log(described(a_run).write()) as opened:
        opened.execute(f"CREATE TABLE counts ({COUNTS})")
        opened.execute("INSERT INTO counts (sample_uuid, server) VALUES ('request 0', 7)")
        first = opened.with_samples_table() if with_table else opened
        values = [
            first,
            first.with_windows([NOWHERE], NOWHERE),
            first.with_definitions(Definitions(tpot_denominator="n")),
            first.with_definitions(Definitions(tpot_denominator="n")).with_windows([NOWHERE], NOWHERE),
            first.with_token_counts("counts"),
        ]
        expected = [
            (pytest.approx(50 / 6), 3, 3, "requests", 0),
            (pytest.approx(50 / 6), 0, 0, "steady_state", 0),
            (pytest.approx(50 / 7), 3, 3, "requests", 0),
            (pytest.approx(50 / 7), 0, 0, "steady_state", 0),
            (pytest.approx(50 / 6), 3, 3, "requests", 1),
        ]
        places = range(len(values))
        for order in (list(places), list(reversed(places))):
            assert [answers(values[place]) for place in order] == [expected[place] for place in order]
        assert values[1].window == NOWHERE
        assert first.window.kind == "requests"


@pytest.mark.slow
def test_two_reports_of_a_log_keep_their_own_evidence(a_run: Callable[..., Run]) -> None:
    """The log of the first report answers by its definitions after the second was computed."""
    by_n = Definitions(tpot_denominator="n", throughput_window="last_issued_done")
    with MetricsReporter(described(a_run).write()) as reporter:
        report, log = reporter.create_report_and_log()
        before = answers(log)
        other, log_by_n = reporter.create_report_and_log(definitions=by_n)
        assert answers(log) == before
        assert answers(log_by_n)[3] == "last_issued_done"
        assert reporter.create_report() == report
        assert reporter.create_report(definitions=by_n) == other


def test_spans_are_named_by_what_they_are(a_run: Callable[..., Run]) -> None:
    """Spans that were asked for before do not change what others mean."""
    with open_log(described(a_run).write()) as log:
        wide, narrow = (span_macro(log, [SpanRow(0, 0, width, 10)]) for width in (100, 10))
        asked = log.execute(f"SELECT {wide}(55), {narrow}(55), {wide}(-1)").fetchall()
    assert asked == [(0, 5, None)]


def test_only_few_requests_are_stored_as_a_table(
    a_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of many requests stay a view."""
    with open_log(described(a_run).write()) as log:
        assert log.with_samples_table().has_samples_table
        monkeypatch.setattr(database, "FEW_REQUESTS", 2)
        assert log.with_samples_table() is log
