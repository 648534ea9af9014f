"""Where client and server disagree, and where not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from recorder import EventType
from reporter import MetricsReporter
from tests.reporter.conftest import ns

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
    "tpot_sum_s": 0.3,
    "tpot_requests_total": 7.0,
    "itl_sum_s": 2.1,
    "itl_gaps_total": 93.0,
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
    "tpot_sum_s": 0.041,
    "tpot_requests_total": 2.0,
    "itl_sum_s": 0.041,
    "itl_gaps_total": 2.0,
    "queue_sum_s": 0.02,
    "queue_requests_total": 2.0,
    "preemptions_total": 0.0,
}
"""What it counts of two requests with a TTFT of 100 ms and a TPOT of 20 ms for the client."""


def report(
    a_run: Callable[..., Run],
    buckets: dict[str, float] | None = None,
    *,
    running: float = 1.0,
    low_ms: int | None = None,
    url: str = "http://h/metrics",
    engine: str = "vllm",
    stopped_at_ms: int | None = None,
    **other: float,
) -> Report:
    """The report of two requests, with a server that counts so."""
    run = a_run()
    run.session(EventType.SENSOR_STARTED, 0, source="server", target=url, interval_s=1.0)
    labels = {"page": "0", "server": engine}
    none = dict.fromkeys(buckets or {}, 3.0)
    of = {"source": "server", "labels": labels}
    run.session(EventType.SENSOR_READING, 0, **of, moment="first", readings=BEFORE, histograms={"ttft": none})
    run.begins(1)
    for begun_ms in (1, 301):
        low = {} if low_ms is None else {"first_token_low_ns": ns(begun_ms + low_ms)}
        run.answers(
            begun_ms + 100, begun_ms + 120, at_ms=begun_ms, complete=begun_ms + 150, usage=(3, 2), **low
        )
    run.stops(500).ends(600)
    after = {name: value + {**GROWN, **other}.get(name, 0.0) for name, value in BEFORE.items()}
    counts = {bound: 3.0 + count for bound, count in (buckets or {}).items()}
    if stopped_at_ms != 0:
        gauges = {"running_requests": running, "waiting_requests": 0.0}
        run.session(EventType.SENSOR_READING, stopped_at_ms or 250, **of, readings=gauges)
    if stopped_at_ms is not None:
        of = {"source": "server", "labels": {"page": "0"}, "error": "unreachable", "message": "refused"}
        run.session(EventType.SENSOR_READING, 350, **of)
        run.session(EventType.SENSOR_READING, 550, **of, moment="last")
        with MetricsReporter(run.write()) as reporter:
            return reporter.create_report()
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
        0,
    )
    rows = {row.quantity: row for row in side.compared}
    assert {row.agrees for row in rows.values()} <= {True, None}
    assert (rows["completed requests"].client, rows["completed requests"].server) == (2, 2)
    assert (rows["prompt tokens"].server, rows["output tokens"].server) == (6, 4)
    assert rows["TTFT mean (ms)"].difference == pytest.approx(2)
    assert [rows[f"{name} mean (ms)"].difference for name in ("TPOT", "ITL")] == pytest.approx([-0.5, -0.5])
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
    """Each disagreement is its own finding."""
    other = {name: value for changed in differing.values() for name, value in changed.items()}
    assert codes(report(a_run, **other)) == differing.keys()


@pytest.mark.parametrize(
    ("quantity", "other", "agrees"),
    [
        ("TPOT", {"tpot_sum_s": 0.0364}, True),
        ("TPOT", {"tpot_sum_s": 0.0444}, True),
        ("TPOT", {"tpot_sum_s": 0.034}, False),
        ("TPOT", {"tpot_sum_s": 0.056}, False),
        # The server counts a request without a TPOT, as one of a single token.
        ("TPOT", {"tpot_sum_s": 0.02, "tpot_requests_total": 3.0}, None),
        ("ITL", {"itl_sum_s": 0.056}, False),
        # Each response has one more token than chunks, at its end; or several tokens a chunk.
        ("ITL", {"itl_sum_s": 0.08, "itl_gaps_total": 4.0}, True),
        ("ITL", {"itl_sum_s": 0.04, "itl_gaps_total": 5.0}, None),
        ("ITL", {"itl_sum_s": 0.04, "itl_gaps_total": 1.0}, None),
    ],
)
def test_the_pace_of_tokens(
    a_run: Callable[..., Run], quantity: str, other: dict[str, float], *, agrees: bool | None
) -> None:
    """A tenth more or less agrees, where both sides have the same requests and gaps."""
    side = report(a_run, **other).server_side
    assert side is not None
    (row,) = [row for row in side.compared if row.quantity == f"{quantity} mean (ms)"]
    assert row.client == pytest.approx(20)
    assert row.agrees is agrees


def test_the_pace_of_a_client_that_read_late(a_run: Callable[..., Run]) -> None:
    """A first chunk that came up to 40 ms earlier makes a pace of 20 to 60 ms."""
    side = report(a_run, low_ms=60, tpot_sum_s=0.11, ttft_sum_s=0.16).server_side
    assert side is not None
    (row,) = [row for row in side.compared if row.quantity == "TPOT mean (ms)"]
    assert (row.client, row.server, row.difference, row.agrees) == (20, pytest.approx(55), 0, True)


@pytest.mark.parametrize(
    ("low_ms", "expected"),
    [(None, True), (45, False), (28, False), (95, True)],
)
def test_a_client_that_read_late(a_run: Callable[..., Run], low_ms: int | None, *, expected: bool) -> None:
    """The server says 25 ms; the client 100 ms, or as little as its lower bound."""
    made = report(a_run, low_ms=low_ms, ttft_sum_s=0.05, queue_sum_s=0.0)
    assert ("server_ttft_differs" in codes(made)) is expected
    assert made.server_side is not None
    row = next(row for row in made.server_side.compared if row.quantity == "TTFT mean (ms)")
    assert (row.client, row.client_low) == (100, low_ms)
    assert row.difference == pytest.approx((low_ms or 100) - 25)
    assert row.agrees is (low_ms == 28)


def test_a_small_difference_has_no_finding(a_run: Callable[..., Run]) -> None:
    """18 ms of what a server's HTTP front end takes; the table has it all the same."""
    made = report(a_run, ttft_sum_s=2 * 0.082)
    assert codes(made) == set()
    assert made.server_side is not None
    assert [row.quantity for row in made.server_side.compared if row.agrees is False] == ["TTFT mean (ms)"]


@pytest.mark.parametrize(
    ("url", "network"), [("http://127.0.0.1:8/metrics", False), ("http://h/metrics", True)]
)
def test_no_network_on_loopback(a_run: Callable[..., Run], url: str, *, network: bool) -> None:
    """A difference is not blamed on the network of one machine."""
    (finding,) = (
        finding
        for finding in report(a_run, url=url, ttft_sum_s=0.1).findings
        if finding.code == "server_ttft_differs"
    )
    assert ("network" in finding.message) is network
    assert ("on the server's machine" in finding.remedy) is network


@pytest.mark.parametrize(("running", "expected"), [(1.0, False), (2.0, False), (40.0, True)])
def test_more_requests_than_the_client_sent(
    a_run: Callable[..., Run], running: float, *, expected: bool
) -> None:
    """40 running in the server, 1 in flight; the gauge may lag behind by one."""
    assert ("server_load_differs" in codes(report(a_run, running=running))) is expected


@pytest.mark.parametrize(
    ("at_ms", "words"),
    [
        (
            250,
            "2 of 4 readings of the server's metrics failed: 2 unreachable. Readings stopped 0.249 s after",
        ),
        # The page was read before the first request, and in vain after the last one.
        (0, "2 of 3 readings of the server's metrics failed: 2 unreachable. Readings failed after"),
    ],
)
def test_readings_that_stopped(a_run: Callable[..., Run], at_ms: int, words: str) -> None:
    """No cache is blamed for requests of which the counter was not read."""
    made = report(a_run, stopped_at_ms=at_ms)
    assert codes(made) == set()
    assert made.server_side is not None
    assert made.server_side.compared == []
    assert made.server_side.stopped_s == pytest.approx((at_ms - 1) / 1000)
    (finding,) = (finding for finding in made.findings if finding.code == "sensor_unread")
    assert f"{words} the first request, so nothing is compared." in finding.message


@pytest.mark.parametrize("prompt_tokens", [1.0, 6.0, 9.0])
def test_older_llama_cpp_counts_no_cached_prompt_tokens(
    a_run: Callable[..., Run], prompt_tokens: float
) -> None:
    """A smaller count agrees; a larger one does not."""
    made = report(a_run, engine="llama.cpp", prompt_tokens_total=prompt_tokens)
    assert codes(made) == ({"server_tokens_differ"} if prompt_tokens > 6 else set())


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


def test_a_server_that_counts_the_inputs_of_batches(a_run: Callable[..., Run]) -> None:
    """Completed inputs are compared where they agree; other clients are blamed where neither number does."""
    for counted, quantity, expected in (
        (8.0, "completed inputs", set()),
        (9.0, "completed requests", {"server_requests_differ"}),
    ):
        run = a_run()
        run.settings["dataset"] = {"facts": {"inputs": {}}}
        run.session(EventType.SENSOR_STARTED, 0, source="server", target="http://h/metrics", interval_s=1.0)
        of = {"source": "server", "labels": {"page": "0", "server": "vllm"}}
        run.session(
            EventType.SENSOR_READING, 0, **of, moment="first", readings={"completed_requests_total": 7.0}
        )
        run.begins(1)
        for begun_ms in (1, 301):
            run.answers(at_ms=begun_ms, complete=begun_ms + 50, results={"count": 4, "dimensions": 2})
        run.stops(500).ends(600)
        after = {"completed_requests_total": 7.0 + counted}
        run.session(EventType.SENSOR_READING, 550, **of, moment="last", readings=after)
        with MetricsReporter(run.write()) as reporter:
            made = reporter.create_report()
        assert made.server_side is not None
        assert made.server_side.compared[0].quantity == quantity
        assert codes(made) == expected
