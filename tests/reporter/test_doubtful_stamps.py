"""Figures whose stamps are in doubt: bounds in the views and the report, and what rules make of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from reporter.compare.compare_sides import compare
from reporter.compare.compared_metric import metric
from reporter.compare.comparison import Rules
from reporter.compare.side import Side, look
from reporter.log.database import open_log
from reporter.log.settings import LogHead
from reporter.measured_run import measured
from reporter.render.comparison_tables import render
from rulesets.definitions import Definitions
from rulesets.evaluation import evaluate
from rulesets.report_evidence import ReportEvidence
from rulesets.ruleset import of_expressions
from tests.reporter.conftest import ns

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reporter.conftest import Run

    NewRun = Callable[..., Run]


def late(run: Run, at_ms: float = 0.0, **more: Any) -> Run:
    """Chunks at 50, 60 and 70 ms, of which the first two were read 20 ms late, with the third."""
    return run.answers(
        *(at_ms + 70, at_ms + 70, at_ms + 70),
        at_ms=at_ms,
        usage=(1, 3),
        first_token_low_ns=ns(at_ms + 45),
        first_output_low_ns=ns(at_ms + 45),
        late_chunks=[0, 2, 25_000],
        **more,
    )


def a_doubtful_run(a_run: NewRun) -> Run:
    """Of ten requests two were read late, the others took 40 ms to their first token."""
    run = a_run()
    for number in range(8):
        run.answers(*(number + arrival for arrival in (40, 50, 60)), at_ms=number, usage=(1, 3))
    return late(late(run, 8.0), 9.0)


def test_the_views_have_both_ends(a_run: NewRun) -> None:
    """A request in doubt has a least figure, and an exact one is its own least."""
    run = a_doubtful_run(a_run).ends()
    with open_log(run.write()) as log:
        rows = log.execute(
            "SELECT ttft_low_ms, ttft_ms, tpot_low_ms, tpot_ms, tpot_high_ms, latency_low_ms, latency_ms "
            "FROM samples ORDER BY issued_ns"
        ).fetchall()
        chunks = log.execute(
            "SELECT (at_ns - at_low_ns) / 1e6 FROM chunks "
            "WHERE sample_uuid = 'request 10' ORDER BY chunk_index"
        ).fetchall()
        gaps = log.execute(
            "SELECT low_ms, high_ms FROM gap_bounds WHERE sample_uuid = 'request 10' ORDER BY high_ms"
        ).fetchall()
    assert rows[0] == (40, 40, 10, 10, 10, 60, 60)
    assert rows[9] == (45, 70, 0, 0, 12.5, 70, 70)
    assert [early for (early,) in chunks] == [25, 25, 0]
    assert gaps == [(0, 25), (0, 25)]


def test_the_report_has_bounds(a_run: NewRun) -> None:
    """Those of the figures in doubt alone; a warning says between what they lie."""
    report = a_doubtful_run(a_run).ends().report()
    ttft = report.bounds["ttft_ms"]
    assert (ttft.late, ttft.low.max, ttft.high) == (2, 45, report.ttft_ms)
    assert "latency_ms" not in report.bounds
    assert report.bounds["tpot_ms"].high.max == 12.5
    assert report.bounds["itl_ms"].high.max == 25
    (finding,) = [item for item in report.findings if item.code == "late_reads"]
    assert finding.message.startswith("The client read 2 of 10 first tokens late, so only ranges are known: ")
    assert "TTFT p99 [45.0, 70.0] ms" in finding.message
    assert report.validity.valid


def test_a_small_doubt_can_be_read(a_run: NewRun) -> None:
    """Its ends have as many decimals as they need to differ."""
    run = a_run().answers(40, 40, usage=(1, 2), first_token_low_ns=ns(39.5), late_chunks=[0, 1, 500])
    (finding,) = [item for item in run.ends().report().findings if item.code == "late_reads"]
    assert "known: TTFT p50 [39.5, 40.0] ms" in finding.message


def test_exact_stamps_have_no_bounds(a_run: NewRun) -> None:
    """Exact stamps have no finding, nor has a log from before doubts were stored."""
    report = a_run().answers(40, 50, usage=(1, 2)).ends().report()
    assert report.bounds == {}
    assert report.own_ttft_share_high is None
    assert not any(finding.code == "late_reads" for finding in report.findings)


def test_a_request_that_took_long_to_send(a_run: NewRun) -> None:
    """It may have been sent later than its stamp says, and then it was answered sooner."""
    run = a_run().answers(40, usage=(1, 1), issue={"sent": 0.0, "sent_high_ns": ns(5)})
    report = run.ends().report()
    assert report.bounds["ttft_ms"].low.p50 == 35
    assert "tpot_ms" not in report.bounds


DECIDED = {
    "ttft:p(99)<80ms": "PASS",
    "ttft:p(99)<60ms": "INCONCLUSIVE",
    "ttft:p(99)<42ms": "FAIL",
    "ttft:p(50)<41ms": "PASS",
    "tpot:max<11ms": "INCONCLUSIVE",
    "tpot:max<13ms": "PASS",
    "itl:max<20ms": "INCONCLUSIVE",
    "good(ttft<60ms):fraction>=95%": "INCONCLUSIVE",
    "good(ttft<80ms):fraction>=95%": "PASS",
    "tps_per_user:max>85": "INCONCLUSIVE",
    "qps>0": "PASS",
    # Chunks that share a stamp have no speed by their stamps, and 80 tok/s at the least.
    "generation_tps:mean>99": "INCONCLUSIVE",
    "generation_tps:p(50)>90": "PASS",
    "generation_tps:min>79": "PASS",
    "generation_tps:min>101": "FAIL",
    "prompt_tps:mean>24": "INCONCLUSIVE",
    "prompt_tps:mean>25": "FAIL",
    "decode:max<24ms": "INCONCLUSIVE",
    "decode:max<26ms": "PASS",
}
"""The status of each rule on a run with two late reads of ten."""


def test_rules_are_decided_by_both_ends(a_run: NewRun) -> None:
    """Met at both ends is met, missed at both is missed, and between them it is unknown."""
    folder = a_doubtful_run(a_run).stops(100).ends().write()
    with measured(folder, Definitions()) as (_, evidence):
        rows = [row for rule in DECIDED for row in evaluate(of_expressions([rule]), evidence).rows]
    assert dict(zip(DECIDED, [row.status for row in rows], strict=True)) == DECIDED
    for row in rows:
        if row.status == "INCONCLUSIVE":
            assert row.reason.startswith("the client was too busy to tell: ")
            assert row.remedy
            assert "in doubt: " in row.method


def test_a_latency_is_decided_by_both_ends(a_run: NewRun) -> None:
    """The last chunk may have arrived before it was read."""
    run = late(a_doubtful_run(a_run), 10.0, last_token_low_ns=ns(60), complete=90)
    with measured(run.stops(100).ends().write(), Definitions()) as (_, evidence):
        (row,) = evaluate(of_expressions(["latency:max<75ms"]), evidence).rows
    assert row.status == "INCONCLUSIVE"


def test_a_report_alone_has_the_bounds_too(a_run: NewRun) -> None:
    """What is known of a figure is in the report, and the verdict looks at both ends."""
    report = a_doubtful_run(a_run).stops(100).ends().report().to_dict()
    rows = evaluate(
        of_expressions(["ttft:max<60ms", "ttft:max<80ms", "ttft:max<42ms"]), ReportEvidence(report)
    ).rows
    assert [row.status for row in rows] == ["INCONCLUSIVE", "PASS", "FAIL"]


def tagged(run: Run, kind: str, first: int) -> Run:
    """Two requests of a tag: of `late` both were read late, of others none."""
    for at_ms in (first, first + 1):
        if kind == "late":
            late(run, float(at_ms), issue={"about": {"tags": {"kind": kind}}})
        else:
            run.answers(
                at_ms + 40, at_ms + 60, at_ms=at_ms, usage=(1, 2), issue={"about": {"tags": {"kind": kind}}}
            )
    return run


def test_the_parts_of_a_run_have_their_own_bounds(a_run: NewRun) -> None:
    """A rule about requests that were read in time is decided, by the log and by the report alone."""
    run = tagged(tagged(a_run(), "late", 0), "prompt", 2).stops(100).ends()
    rules = of_expressions(
        ["ttft{kind:late}:max<60ms", "ttft{kind:prompt}:max<60ms", "ttft{kind:late}:max<80ms"]
    )
    with measured(run.write(), Definitions()) as (report, evidence):
        verdicts = [evaluate(rules, source) for source in (evidence, ReportEvidence(report.to_dict()))]
    bounds = {part.value: part.bounds for part in report.breakdown["kind"]}
    assert (bounds["late"]["ttft_ms"].late, bounds["late"]["ttft_ms"].low.max) == (2, 45)
    assert bounds["prompt"] == {}
    assert [[row.status for row in verdict.rows] for verdict in verdicts] == [
        ["INCONCLUSIVE", "PASS", "PASS"]
    ] * 2


def delayed(run: Run, own_ms: float, low_ms: float, every: int = 1) -> Run:
    """200 requests of 100 ms, some of them sent late; all may have been answered as early as `low_ms`."""
    for number in range(200):
        at_ms = 200.0 * number
        run.answers(
            at_ms + 100,
            at_ms=at_ms,
            usage=(1, 1),
            issue={"scheduled": at_ms - (0.0 if number % every else own_ms)},
            first_token_low_ns=ns(at_ms + low_ms),
            first_output_low_ns=ns(at_ms + low_ms),
            last_token_low_ns=ns(at_ms + low_ms),
            late_chunks=[0, 1, round(1000 * (100 - low_ms))],
        )
    return run.stops(40_000).ends(41_000)


@pytest.mark.parametrize(
    ("own_ms", "every", "low_ms", "code"),
    [
        (8.0, 1, 99.0, "client_late"),
        (8.0, 1, 60.0, "client_delay_in_doubt"),
        (20.0, 2, 60.0, "client_delay_in_doubt"),
        (20.0, 2, 95.0, "client_limited"),
        (20.0, 1, 60.0, "client_limited"),
    ],
)
def test_validity_is_decided_by_both_ends(
    a_run: NewRun, own_ms: float, every: int, low_ms: float, code: str
) -> None:
    """A run is invalid where client overhead is too large at both ends; between them, rules cannot tell."""
    run = delayed(a_run(kind="constant", rate=5.0), own_ms, low_ms, every)
    report = run.report()
    assert report.ttft_ms is not None
    near = f"ttft:p(99)<{report.ttft_ms.p99 - 1e-3}ms"
    rules = of_expressions(["ttft:p(99)<1s", near, "ttft:p(99)<1ms", "error<1%"])
    judged = run.report(judged_by=rules)
    locked = run.report(judged_by=replace(rules, locked=True))
    assert [finding.code for finding in report.findings if finding.code.startswith("client_")] == [code]
    assert report.validity.valid is judged.validity.valid is (code != "client_limited")
    verdict, whole = (
        evaluate(rules, ReportEvidence(judged.to_dict())),
        evaluate(replace(rules, locked=True), ReportEvidence(locked.to_dict())),
    )
    in_doubt = code == "client_delay_in_doubt"
    # The delay can be what is a little too much, and nothing else: it lengthens, and by so much at most.
    expected = ["PASS", "INCONCLUSIVE", "FAIL"]
    assert [row.status for row in verdict.rows if row.id.startswith("ttft")] == expected
    assert [row.status for row in verdict.rows if row.id.startswith("error")] == ["PASS"]
    assert [row.status for row in whole.rows if row.id.startswith("error")] == [
        "INCONCLUSIVE" if in_doubt else "PASS"
    ]
    effect = report.own_effect["ttft_ms"]["p99"]
    assert effect.in_doubt is in_doubt
    assert effect.share_low is not None
    assert effect.share_high is not None
    assert effect.share_low <= effect.share <= effect.share_high
    assert effect.share_low == pytest.approx(report.own_ttft_share_low)
    assert effect.share_high == pytest.approx(report.own_ttft_share_high)


def test_a_user_who_accepts_the_clients_delay_accepts_that_it_is_in_doubt(a_run: NewRun) -> None:
    """As a delay that is too much for sure does not keep rules from being decided then."""
    rules = of_expressions(["ttft:p(99)<1s"])
    run = delayed(a_run(kind="constant", rate=5.0), 8.0, 60.0)
    report = run.report(judged_by=rules, on_invalid="warn")
    assert [row.status for row in evaluate(rules, ReportEvidence(report.to_dict())).rows] == ["PASS"]


def test_a_change_is_decided_by_both_ends(a_run: NewRun) -> None:
    """Whether a run of 45 to 70 ms is faster than one of 60 ms is unknown."""
    exact = a_run().answers(60, 70, usage=(1, 2)).stops(100).ends().write()
    doubtful = late(a_run()).stops(100).ends().write()
    expected = {
        "ttft:max:delta<0%": "INCONCLUSIVE",
        "ttft:max:delta<200%": "PASS",
        "ttft:max:delta<-60%": "FAIL",
    }
    with measured(doubtful, Definitions()) as (_, run), measured(exact, Definitions()) as (_, baseline):
        rows = [evaluate(of_expressions([rule]), run, baseline=[baseline]).rows[0] for rule in expected]
    assert dict(zip(expected, [row.status for row in rows], strict=True)) == expected
    assert rows[0].reason == "chunks were read late: ttft:max changed by -25 to +16.67 %"


@pytest.mark.slow
def test_a_difference_that_the_stamps_decide_is_in_doubt(a_run: NewRun) -> None:
    """Whether a run is faster depends on when its chunks arrived; what is exact is compared as ever."""
    metrics = [metric(name) for name in ("ttft:mean", "latency:mean", "error")]
    sides = []
    for name, doubtful in (("exact", False), ("late", True)):
        run = a_run()
        for number in range(60):
            at_ms, ms = 100.0 * number, 60 + number % 5
            low = (
                {"first_token_low_ns": ns(at_ms + ms - 20), "late_chunks": [0, 1, 20_000]} if doubtful else {}
            )
            run.answers(at_ms + ms + 5 * doubtful, at_ms + 90, at_ms=at_ms, usage=(1, 2), **low)
        with measured(run.stops(6000).ends(7000).write(), Definitions()) as (_, evidence):
            sides.append(Side(name, (look(name, evidence, LogHead(), metrics, 0.95),)))
    compared = compare(sides, metrics, [], Rules())
    ttft, latency, _ = compared.rows
    (change,) = ttft.changes
    assert (compared.status, change.finding, change.fails) == ("INCONCLUSIVE", "in doubt", False)
    assert (change.least or 0) < 0 < (change.by or 0) == change.most
    assert latency.changes[0].finding == "no significant difference"
    assert compared.reasons[0].startswith("chunks were read late, so the difference in ttft:mean of late")
    assert "in doubt: -" in render(compared)
    assert compare([sides[0], sides[0]], metrics, [], Rules()).status == "PASS"
