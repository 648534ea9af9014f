"""A verdict's evidence over the log, against plain Python over the same requests."""

from __future__ import annotations

import math
import operator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from reporter.measured.timeline import SegmentLine
from reporter.measured_run import measured
from reporter.report_options import ReportOptions
from rulesets.condition import Condition
from rulesets.definitions import Definitions
from rulesets.evidence import Accuracy, Good, Rate
from rulesets.metric_table import BY_NAME
from rulesets.request_metrics import REQUEST_METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from reporter import Report
    from reporter.measured.log_evidence import LogEvidence
    from tests.reporter.conftest import Run

REQUESTS = 400
EVERY = ()
CLASS_A = (("class", "a"),)
OPS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def drawn() -> list[dict[str, Any]]:
    """The outcomes of requests: one every 10 ms; one in forty fails, one in eighty is cancelled."""
    random = Random(7)  # noqa: S311 (a test, not a secret)
    requests = []
    for number in range(REQUESTS):
        at_ms = 10.0 * number
        chunks = 1 + random.randrange(6)
        arrivals = [at_ms + 20.0 + random.randrange(30)]
        while len(arrivals) < chunks:
            arrivals.append(arrivals[-1] + 1 + random.randrange(9))
        what = "failed" if number % 40 == 13 else "cancelled" if number % 80 == 17 else "completed"
        tags = {"class": "a" if number % 3 else "b", "it's": "x"}
        requests.append(
            {"at_ms": at_ms, "arrivals": arrivals, "what": what, "tags": tags, "turn": number % 2}
        )
    return requests


@pytest.fixture(scope="module")
def requests() -> list[dict[str, Any]]:
    """The requests of the run."""
    return drawn()


@pytest.fixture(scope="module")
def folder(a_run: Callable[..., Run], requests: list[dict[str, Any]]) -> Path:
    """The log of them."""
    run = a_run(kind="constant", rate=100.0)
    run.settings |= {"url": "http://h", "urls": ["http://h", "http://i"], "gpus": 4}
    for request in requests:
        issue = {
            "about": {"tags": request["tags"], "turn": request["turn"], "endpoint": request["turn"]},
        }
        if request["what"] == "completed":
            arrivals = request["arrivals"]
            run.answers(*arrivals, at_ms=request["at_ms"], usage=(7, len(arrivals)), issue=issue)
            continue
        run.issues(request["at_ms"], about=issue["about"], sent=request["at_ms"])
        from recorder import EventType

        kind, data = (
            (EventType.ERROR, {"error": "reset", "message": ""})
            if request["what"] == "failed"
            else (EventType.CANCELLED, {"reason": "drain_over"})
        )
        run.happens(kind, request["at_ms"] + 5, **data)
    return run.stops(4000).ends(4200).write()


@pytest.fixture(scope="module")
def judged(folder: Path) -> Iterator[tuple[Report, LogEvidence]]:
    """Its report and its evidence, by the defaults."""
    with measured(folder, Definitions()) as both:
        yield both


@pytest.fixture(scope="module")
def violated(folder: Path) -> Iterator[tuple[Report, LogEvidence]]:
    """As above: where failed requests exceed every bound."""
    by = Definitions(failed_requests="count_as_violation", percentile_method="loadgen_floor")
    with measured(folder, by) as both:
        yield both


def values(requests: list[dict[str, Any]], metric: str, kind: str | None = None) -> list[float]:
    """The values of a metric in plain Python, ascending."""
    figures: list[float] = []
    for request in requests:
        if request["what"] != "completed" or kind not in {None, request["tags"]["class"]}:
            continue
        arrivals, at_ms = request["arrivals"], request["at_ms"]
        figures += {
            "ttft": [arrivals[0] - at_ms],
            "latency": [arrivals[-1] - at_ms],
            "tpot": [(arrivals[-1] - arrivals[0]) / (len(arrivals) - 1)] if arrivals[1:] else [],
            "itl": [after - before for before, after in pairwise(arrivals)],
            "input_tokens": [7],
            "output_tokens": [len(arrivals)],
            "connect": [],
        }[metric]
    return sorted(figures)


METRICS = ["ttft", "latency", "tpot", "itl", "input_tokens", "output_tokens"]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("where", [EVERY, CLASS_A], ids=["all", "class a"])
def test_a_sample_is_the_values_of_a_metric(
    judged: Any, requests: list[dict[str, Any]], metric: str, where: Any
) -> None:
    """Its number, ranks, mean and percentiles, of all requests and of those with a tag."""
    expected = values(requests, metric, "a" if where else None)
    sample = judged[1].sample(metric, where)
    assert sample.count == len(expected)
    assert [sample.at(rank) for rank in range(sample.count)] == pytest.approx(expected)
    assert sample.mean() == pytest.approx(sum(expected) / len(expected))
    assert sample.percentile(Fraction(0)) == pytest.approx(expected[0])
    assert sample.percentile(Fraction(1, 2)) == pytest.approx(
        (expected[(len(expected) - 1) // 2] + expected[len(expected) // 2]) / 2
    )


@pytest.mark.parametrize("metric", [metric.name for metric in REQUEST_METRICS if metric.in_rules])
def test_it_agrees_with_the_report(judged: Any, metric: str) -> None:
    """The percentiles and the mean that a report has are those of the evidence."""
    report, evidence = judged
    summary = getattr(report, BY_NAME[metric].column)
    sample = evidence.sample(metric, EVERY)
    assert (summary is None) is (sample.count == 0)
    if summary is None:
        return
    assert (summary.count, summary.min, summary.max) == (
        sample.count,
        sample.at(0),
        sample.at(sample.count - 1),
    )
    assert summary.mean == pytest.approx(sample.mean(), rel=1e-12)
    for name, p in {"p50": (1, 2), "p95": (19, 20), "p99": (99, 100), "p999": (999, 1000)}.items():
        assert getattr(summary, name) == pytest.approx(sample.percentile(Fraction(*p)), rel=1e-12)


@pytest.mark.parametrize("metric", ["ttft", "itl"])
@pytest.mark.parametrize("op", OPS)
def test_what_does_not_meet_a_bound(
    judged: Any, violated: Any, requests: list[dict[str, Any]], metric: str, op: Any
) -> None:
    """Counted by each operator, on a value and between two; a failed request meets no upper bound."""
    expected = values(requests, metric)
    lost = sum(request["what"] != "completed" for request in requests)
    for bound in (expected[0], expected[len(expected) // 3], 24.5, 5.5, expected[-1], 0.0):
        missed = [value for value in expected if not OPS[op](value, bound)]
        assert judged[1].sample(metric, EVERY).unmet(op, bound) == len(missed)
        more = 0 if OPS[op](math.inf, bound) else lost
        assert violated[1].sample(metric, EVERY).unmet(op, bound) == len(missed) + more


def test_failed_requests_are_the_slowest(judged: Any, violated: Any, requests: list[dict[str, Any]]) -> None:
    """They are infinite values behind the others, in no mean; what was given up failed as well."""
    lost = sum(request["what"] != "completed" for request in requests)
    assert lost == 15
    sample, without = violated[1].sample("ttft", EVERY), judged[1].sample("ttft", EVERY)
    assert sample.count == without.count + lost
    assert sample.at(without.count - 1) < sample.at(without.count) == math.inf
    assert sample.mean() == without.mean()
    assert sample.percentile(Fraction(99, 100)) == math.inf
    assert sample.percentile(Fraction(1, 2)) == without.at(sample.count // 2)
    assert violated[0].ttft_ms.max == judged[0].ttft_ms.max
    some = violated[1].sample("ttft", CLASS_A)
    assert some.count - judged[1].sample("ttft", CLASS_A).count == sum(
        request["what"] != "completed" and request["tags"]["class"] == "a" for request in requests
    )


def test_ranks_out_of_range_are_refused(judged: Any) -> None:
    """A rank below 0 and a rank beyond the last value raise an error."""
    sample = judged[1].sample("ttft", EVERY)
    for rank in (-1, sample.count):
        with pytest.raises(IndexError, match="outside the"):
            sample.at(rank)


def test_a_metric_without_values(judged: Any) -> None:
    """It has neither a mean nor a percentile, nor blocks."""
    for metric, where in (("connect", EVERY), ("ttft", (("class", "none"),)), ("itl", (("no", "tag"),))):
        sample = judged[1].sample(metric, where)
        assert (sample.count, sample.mean(), sample.percentile(Fraction(1, 2))) == (0, None, None)
        assert (sample.block_means(), list(sample.in_order(1.0))) == ((), [])
        assert sample.unmet("<", 5.0) == 0


@pytest.mark.parametrize("metric", ["ttft", "itl", "tpot"])
def test_blocks_are_equal_spans_of_issuing(judged: Any, requests: list[dict[str, Any]], metric: str) -> None:
    """32 of them where each has five values, with their means."""
    length = requests[-1]["at_ms"] - requests[0]["at_ms"]
    blocks: list[list[float]] = [[] for _ in range(32)]
    for request in requests:
        block = min(31, int(request["at_ms"] * 32 // length))
        blocks[block] += values([request], metric)
    assert min(map(len, blocks)) >= 5
    sample = judged[1].sample(metric, EVERY)
    assert sample.block_means() == pytest.approx([sum(block) / len(block) for block in blocks])


@pytest.mark.slow
def test_neighbouring_blocks_become_one_where_values_are_few(a_run: Callable[..., Run]) -> None:
    """Of 40 values in equal spans, 8 blocks of five are left; of nine values none."""
    for count, left in ((40, 8), (10, 2), (9, 0)):
        run = a_run()
        for number in range(count):
            run.answers(100.0 * number + 10 + number, at_ms=100.0 * number, usage=(1, 1))
        with measured(run.stops(9000).ends(9000).write(), Definitions()) as (_, evidence):
            means = evidence.sample("ttft", EVERY).block_means()
            assert len(means) == left
            size = count // left if left else 1
            assert means == tuple(
                pytest.approx(sum(10 + n for n in range(first, first + size)) / size)
                for first in range(0, size * left, size)
            )


def test_what_is_issued_at_once_has_no_blocks(a_run: Callable[..., Run]) -> None:
    """There is no time to be cut."""
    run = a_run(kind="offline")
    for number in range(50):
        run.answers(10.0 + number, at_ms=0, usage=(1, 1))
    with measured(run.stops(1).ends(100).write(), Definitions()) as (_, evidence):
        assert evidence.sample("ttft", EVERY).block_means() == ()
        assert evidence.sample("ttft", EVERY).count == 50


def test_rates_are_those_of_the_report(judged: Any) -> None:
    """Over the window, and over its equal parts, with the same result; each GPU has its share."""
    report, evidence = judged
    for metric in ("qps", "output_tps", "total_tps"):
        rate = evidence.rate(metric, EVERY)
        assert (rate.value, rate.n) == (getattr(report.throughput, metric), report.counts.completed)
        assert len(rate.blocks) == 32
        assert sum(rate.blocks) / 32 == pytest.approx(rate.value, rel=0.005)
    total, each = evidence.rate("total_tps", EVERY), evidence.rate("tps_per_gpu", EVERY)
    blocks, series = (tuple(part / 4 for part in parts) for parts in (total.blocks, total.series))
    assert each == Rate(total.value / 4, total.n, blocks, series)


def test_rates_of_a_part(judged: Any, requests: list[dict[str, Any]]) -> None:
    """What of the part completed and arrived in the window of the run, as its breakdown says."""
    report, evidence = judged
    (part,) = [row for row in report.breakdown["class"] if row.value == "a"]
    assert evidence.rate("qps", CLASS_A).value == pytest.approx(part.qps)
    assert evidence.rate("output_tps", CLASS_A).value == pytest.approx(part.output_tps)
    done = [
        request for request in requests if request["what"] == "completed" and request["tags"]["class"] == "a"
    ]
    assert evidence.rate("qps", CLASS_A).n == len(done)
    tokens = sum(7 + len(request["arrivals"]) for request in done)
    assert evidence.rate("total_tps", CLASS_A).value == pytest.approx(tokens / report.window.duration_s)
    assert sum(evidence.rate("total_tps", CLASS_A).blocks) / len(
        evidence.rate("total_tps", CLASS_A).blocks
    ) == pytest.approx(evidence.rate("total_tps", CLASS_A).value, rel=0.005)
    assert evidence.rate("qps", (("class", "none"),)) == Rate(0.0, 0, ())


def test_without_token_counts_there_is_no_token_rate(a_run: Callable[..., Run]) -> None:
    """Not of a part either; and without a number of GPUs, none per GPU."""
    tagged = {"about": {"tags": {"class": "a"}}}
    run = (
        a_run()
        .answers(50, 60, at_ms=0, issue=tagged, usage=(None, 3))
        .answers(55, at_ms=1, stream=False, chunks=0)
    )
    with measured(run.stops(2).ends(100).write(), Definitions()) as (_, evidence):
        assert evidence.rate("total_tps", CLASS_A).value is None
        assert evidence.rate("output_tps", CLASS_A).value is not None
        assert evidence.rate("tps_per_gpu", EVERY) == Rate(None, 2)


@pytest.mark.parametrize(
    ("where", "belongs"),
    [
        (EVERY, lambda _: True),
        (CLASS_A, lambda request: request["tags"]["class"] == "a"),
        ((("turn", "1"),), lambda request: request["turn"] == 1),
        ((("endpoint", "http://i"),), lambda request: request["turn"] == 1),
        (
            (("class", "a"), ("turn", "0")),
            lambda request: request["tags"]["class"] == "a" and request["turn"] == 0,
        ),
        ((("tag:class", "b"),), lambda request: request["tags"]["class"] == "b"),
        ((("it's", "x"),), lambda _: True),
        ((("class", "a' OR 'a' = 'a"),), lambda _: False),
    ],
)
def test_a_part_is_those_with_a_tag(
    judged: Any, requests: list[dict[str, Any]], where: Any, belongs: Any
) -> None:
    """Or an endpoint, or a turn; of several conditions all hold, and no text can be SQL."""
    outcomes = [request["what"] for request in requests if belongs(request)]
    counts = {name: outcomes.count(name) for name in ("completed", "failed", "cancelled")}
    assert judged[1].counts(where) == {"issued": len(outcomes)} | counts
    assert judged[1].sample("ttft", where).count == counts["completed"]


@pytest.mark.parametrize("where", [EVERY, CLASS_A], ids=["all", "class a"])
def test_a_good_request_meets_every_condition(
    judged: Any, requests: list[dict[str, Any]], where: Any
) -> None:
    """All at once; one without a TPOT is not good, nor is one that failed."""
    conditions = [Condition("ttft", "<", 35.0, "ms"), Condition("tpot", "<=", 0.006, "s")]
    part = [request for request in requests if not where or request["tags"]["class"] == "a"]
    good = [
        request
        for request in part
        if request["arrivals"][0] - request["at_ms"] < 35
        and (tpot := values([request], "tpot"))
        and tpot[0] <= 6
    ]
    assert 20 < len(good) < len(part) / 2
    counted = judged[1].good(conditions, where)
    assert replace(counted, blocks=()) == Good(len(good), len(part), judged[0].window.duration_s, len(good))
    assert len(counted.blocks) > 1
    assert tuple(map(sum, zip(*counted.blocks, strict=True))) == (len(good), len(part))


def test_only_what_completed_in_the_window_counts_for_a_rate(a_run: Callable[..., Run]) -> None:
    """What the drain brought may be good as well."""
    run = a_run()
    run.events.clear()
    run.begins(duration_s=1.0).answers(50, 60, at_ms=0, usage=(1, 2)).answers(
        1050, 1060, at_ms=990, usage=(1, 2)
    )
    with measured(run.stops(1000).ends(1100).write(), Definitions()) as (_, evidence):
        assert evidence.good([Condition("ttft", "<", 100.0, "ms")], EVERY) == Good(2, 2, 1.0, 1)


def test_a_log_has_no_scores_until_they_are_set(judged: Any) -> None:
    """An accuracy score may come from another run."""
    evidence = judged[1]
    assert evidence.accuracy("ROUGE1") is None
    evidence.scores = {"ROUGE1": Accuracy(38.7, 100)}
    assert evidence.accuracy("ROUGE1") == Accuracy(38.7, 100)


def test_evidence_is_by_the_definitions(folder: Path) -> None:
    """Whatever a reader wants of the report: its figures move, those of the verdict do not."""
    by = Definitions(percentile_method="lower", latency_origin="issued")
    with measured(folder, by, ReportOptions(percentile_method="nearest_rank")) as (report, evidence):
        assert report.run.percentile_method == "nearest_rank"
        assert evidence.definitions == by
        sample = evidence.sample("ttft", EVERY)
        assert sample.percentile(Fraction(99, 100)) == sample.at((sample.count - 1) * 99 // 100)


def test_a_run_of_two_segments_is_one_line_of_time() -> None:
    """Between segments nothing happens, and no block is empty for it."""
    line = SegmentLine(((1, 100, 200), (2, 1000, 1100)))
    assert line.length_ns == 200
    assert line.moment("at") == "(CASE segment WHEN 1 THEN at - 100 WHEN 2 THEN at - 900 END)"
    assert SegmentLine(()).moment("at") == "NULL::BIGINT"


@pytest.mark.parametrize("metric", ["ttft", "output_tokens", "itl"])
def test_values_in_the_order_of_issue(metric: str, judged: Any, requests: list[dict[str, Any]]) -> None:
    """Request by request: how many values each has, and their sum or how many are at most an edge."""
    _, evidence = judged
    sample = evidence.sample(metric, EVERY)
    edge = sample.percentile(Fraction(1, 2))
    rows, below = sample.in_order(), sample.in_order(edge)
    assert len(rows) == len(below) <= sum(request["what"] == "completed" for request in requests)
    assert sum(count for count, _ in rows) == sum(count for count, _ in below) == sample.count
    assert math.fsum(total for _, total in rows) / sample.count == pytest.approx(sample.mean())
    assert sum(total for _, total in below) == sample.count - sample.unmet("<=", edge)
    if metric == "ttft":
        done = sorted(
            (request for request in requests if request["what"] == "completed"),
            key=lambda request: request["at_ms"],
        )
        assert [round(total, 6) for _, total in rows] != sorted(round(total, 6) for _, total in rows)
        assert len(done) == len(rows)


def test_failed_requests_have_their_place_in_the_order(
    violated: Any, requests: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where they count as violations: above every edge, and in no sum."""
    sample = violated[1].sample("ttft", EVERY)
    edge = sample.percentile(Fraction(1, 2))
    ended = sorted(requests, key=lambda request: request["at_ms"])
    lost = [place for place, request in enumerate(ended) if request["what"] != "completed"]
    assert lost
    rows = sample.in_order(edge)
    assert len(rows) == sample.count == len(requests)
    assert {rows[place] for place in lost} == {(1, 0.0)}
    assert sum(below for _, below in rows) == sample.count - sample.unmet("<=", edge)
    assert len(sample.in_order()) == len(requests) - len(lost)
    monkeypatch.setattr("reporter.measured.values.ONE_BY_ONE", 10)
    spans = violated[1].sample("ttft", EVERY).in_order(edge)
    assert tuple(map(sum, zip(*spans, strict=True))) == tuple(map(sum, zip(*rows, strict=True)))


def test_many_requests_are_taken_by_spans_of_time(judged: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which have the same sums."""
    _, evidence = judged
    sample = evidence.sample("ttft", EVERY)
    one_by_one = sample.in_order()
    monkeypatch.setattr("reporter.measured.values.ONE_BY_ONE", 10)
    spans = sample.in_order()
    assert len(spans) == 1024
    for place in (0, 1):
        assert math.fsum(span[place] for span in spans) == pytest.approx(
            math.fsum(row[place] for row in one_by_one)
        )


def test_good_requests_in_the_order_of_issue(judged: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as are good in all, request by request or by spans of time."""
    _, evidence = judged
    conditions = [Condition.of(metric="ttft", op="<", value=300, unit="ms")]
    good = evidence.good(conditions, EVERY)
    rows = evidence.good_in_order(conditions, EVERY)
    assert (sum(row[1] for row in rows), sum(row[0] for row in rows)) == (good.good, good.ended)
    monkeypatch.setattr("reporter.measured.log_evidence.ONE_BY_ONE", 10)
    spans = evidence.good_in_order(conditions, EVERY)
    assert len(spans) == 1024
    assert (sum(row[1] for row in spans), sum(row[0] for row in spans)) == (good.good, good.ended)
