"""Where client and server disagree, and where not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from recorder import EventType
from reporter import MetricsReporter

if TYPE_CHECKING:
    from collections.abc import Callable

    from reporter import Report
    from tests.reporter.conftest import Run

BEFORE = {
    "completed_requests_total": 7.0,
    "output_tokens_total": 100.0,
    "prompt_tokens_total": 50.0,
    "ttft_sum_s": 1.0,
    "ttft_requests_total": 7.0,
    "queue_sum_s": 0.5,
    "queue_requests_total": 7.0,
    "preemptions_total": 1.0,
}
"""What the server had counted before the run."""

GROWN = {
    "completed_requests_total": 2.0,
    "output_tokens_total": 4.0,
    "prompt_tokens_total": 6.0,
    "ttft_sum_s": 0.2 - 0.004,
    "ttft_requests_total": 2.0,
    "queue_sum_s": 0.02,
    "queue_requests_total": 2.0,
    "preemptions_total": 0.0,
}
"""What it counts of two requests with a TTFT of 100 ms for the client."""


def report(a_run: Callable[..., Run], buckets: dict[str, float] | None = None, **other: float) -> Report:
    """The report of two requests, with a server that counts so."""
    run = a_run()
    run.session(EventType.SENSOR_STARTED, 0, source="server", target="http://h/metrics", interval_s=1.0)
    labels = {"page": "0", "server": "vllm"}
    none = dict.fromkeys(buckets or {}, 3.0)
    of = {"source": "server", "labels": labels}
    run.session(EventType.SENSOR_READING, 0, **of, moment="first", readings=BEFORE, histograms={"ttft": none})
    run.begins(1)
    for begun_ms in (1, 301):
        run.answers(begun_ms + 100, begun_ms + 120, at_ms=begun_ms, complete=begun_ms + 150, usage=(3, 2))
    run.stops(500).ends(600)
    after = {name: value + {**GROWN, **other}.get(name, 0.0) for name, value in BEFORE.items()}
    counts = {bound: 3.0 + count for bound, count in (buckets or {}).items()}
    run.session(
        EventType.SENSOR_READING, 250, **of, readings={"running_requests": 1.0, "waiting_requests": 4.0}
    )
    run.session(
        EventType.SENSOR_READING, 550, **of, moment="last", readings=after, histograms={"ttft": counts}
    )
    with MetricsReporter(run.write()) as reporter:
        return reporter.create_report()


def codes(of: Report) -> set[str]:
    """The findings on the server."""
    return {finding.code for finding in of.findings if finding.code.startswith("server_")}


def test_they_agree(a_run: Callable[..., Run]) -> None:
    """Counts to the last one; a TTFT that is 2 ms longer for the client."""
    side = (made := report(a_run)).server_side
    assert side is not None
    assert (side.engine, side.pages, side.running_max, side.waiting_max) == (
        "vllm",
        ["http://h/metrics"],
        1,
        4,
    )
    rows = {row.quantity: row for row in side.compared}
    assert {row.agrees for row in rows.values()} <= {True, None}
    assert (rows["completed requests"].client, rows["completed requests"].server) == (2, 2)
    assert (rows["prompt tokens"].server, rows["output tokens"].server) == (6, 4)
    assert rows["TTFT mean (ms)"].difference == pytest.approx(2)
    assert rows["time in queue mean (ms)"].server == pytest.approx(10)
    assert codes(made) == set()


@pytest.mark.parametrize(
    "differing",
    [
        {"server_requests_differ": {"completed_requests_total": 5.0}},
        {"server_requests_differ": {"completed_requests_total": 1.0}},
        {
            "server_tokens_differ": {"output_tokens_total": 9.0},
            "server_ttft_differs": {"ttft_sum_s": 0.1},
            "server_queue_differs": {"queue_sum_s": 0.4},
        },
        {"server_ttft_differs": {"ttft_sum_s": 0.3}, "server_preempted": {"preemptions_total": 2.0}},
    ],
)
def test_they_disagree(a_run: Callable[..., Run], differing: dict[str, dict[str, float]]) -> None:
    """Each disagreement is a finding of its own."""
    other = {name: value for changed in differing.values() for name, value in changed.items()}
    assert codes(report(a_run, **other)) == differing.keys()


@pytest.mark.slow
def test_percentiles_are_bounded_by_buckets(a_run: Callable[..., Run]) -> None:
    """100 ms is in the bucket up to 0.25 s, and not in that up to 0.08 s."""
    side = report(a_run, {"0.08": 0.0, "0.25": 2.0, "+Inf": 2.0}).server_side
    assert side is not None
    row = next(row for row in side.compared if row.quantity == "TTFT p99 (ms)")
    assert (row.server_low, row.server_high, row.difference, row.agrees) == (80, 250, 0, True)
    side = report(a_run, {"0.08": 2.0, "0.25": 2.0, "+Inf": 2.0}).server_side
    assert side is not None
    row = next(row for row in side.compared if row.quantity == "TTFT p99 (ms)")
    assert (row.server_low, row.server_high, row.difference, row.agrees) == (0, 80, pytest.approx(20), False)


def test_a_server_that_started_again(a_run: Callable[..., Run]) -> None:
    """Counters that went back count nothing."""
    side = report(a_run, completed_requests_total=-7.0).server_side
    assert side is not None
    assert "completed requests" not in {row.quantity for row in side.compared}


def test_a_run_without_sensors_says_nothing_of_them(a_run: Callable[..., Run]) -> None:
    """Neither in the report nor in report.json."""
    with MetricsReporter(a_run().begins().answers(5).stops(10).ends().write()) as reporter:
        made = reporter.create_report()
    assert (made.server_side, made.energy) == (None, None)
    assert not {"server_side", "energy"} & made.to_dict().keys()
