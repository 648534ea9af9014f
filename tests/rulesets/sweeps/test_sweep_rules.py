"""Every rule over several runs: points that pass it, and points that fail it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesets.demands import CHECKS as DEMANDED
from rulesets.demands import Sweep
from rulesets.sweeps import CHECKS, evaluate, front, names
from rulesets.sweeps.pareto_steps import step

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rulesets.evaluators.rule_row import VerdictRow
    from rulesets.sweeps import Point
    from rulesets.verdict import Verdict

    Make = Callable[..., Point]
    Judged = Callable[..., Verdict]

POINTS = {
    "min": 8,
    "max": 9,
    "regions": "mlperf_endpoints",
    "require": [{"region": name, "min": 1} for name in ("ultra_low", "low", "medium", "high")],
}
PARETO = {"x": {"metric": "interactivity", "stat": "median"}, "y": "tps", "interpolation": "none"}
SEARCH = {"maximise": "rate", "subject_to": "targets", "tolerance": 0.05}


def rows(sweep: Sweep, points: Sequence[Point], **more: Any) -> dict[str, VerdictRow]:
    """Judge points, and find their rows by the end of their id."""
    result = evaluate(sweep, points, **more)
    assert {row.group for row in result} == {"sweep"}
    return {row.id.removeprefix("sweep."): row for row in result}


def check(name: str, message: Any, points: Sequence[Point], **more: Any) -> VerdictRow:
    """Judge points by one check."""
    return rows(Sweep(checks=((name, message),)), points, **more)[name]


def test_a_whole_curve_passes_every_rule_of_points(curve: list[Point]) -> None:
    """Seven points in four regions are enough where Offline is elected."""
    result = rows(Sweep(points=POINTS), curve)
    assert {row.status for row in result.values()} == {"PASS"}
    assert list(result) == [
        "points.min",
        "points.max",
        "regions.basis",
        "regions.in_range",
        *(f"regions.{name}" for name in ("ultra_low", "low", "medium", "high")),
    ]
    assert result["points.min"].bound == 7


def test_with_a_dedicated_offline_run_there_must_be_eight(curve: list[Point], point: Make) -> None:
    """The Offline run is one of eight, so that a curve of six others is too short."""
    offline = point(13368, offline=True)
    assert rows(Sweep(points=POINTS), [*curve, offline])["points.min"].status == "PASS"
    short = rows(Sweep(points=POINTS), [*curve[1:], offline])["points.min"]
    assert (short.status, short.observed, short.bound, short.remedy) == ("FAIL", 7, 8, "measure 1 more")


def test_a_plain_sweep_has_the_minimum_that_it_says(curve: list[Point]) -> None:
    """Without regions nothing is elected, and eight are eight."""
    result = rows(Sweep(points={"min": 8}), curve)
    assert (list(result), result["points.min"].status) == (["points.min"], "FAIL")


def test_too_many_points(curve: list[Point], point: Make) -> None:
    """The cap counts every point."""
    result = rows(Sweep(points=POINTS), [*curve, point(300), point(301), point(302)])["points.max"]
    assert (result.status, result.observed, result.bound) == ("FAIL", 10, 9)


def test_what_is_invalid_does_not_count(curve: list[Point], point: Make, judged: Judged) -> None:
    """A point that its report or its rules call invalid is counted nowhere, and the reason names it."""
    unsound = [point(8, valid=False), *curve[1:6], point(1024, verdict=judged("INVALID"))]
    result = rows(Sweep(points=POINTS), unsound)["points.min"]
    assert (result.status, result.observed) == ("FAIL", 5)
    assert "concurrency 8, concurrency 1024" in result.reason


@pytest.mark.parametrize(
    ("left_out", "region"), [((16,), "low"), ((64,), "medium"), ((128, 256, 512, 1024), "high")]
)
def test_a_region_without_a_point(curve: list[Point], left_out: tuple[int, ...], region: str) -> None:
    """Each region must be covered, and the remedy says where it lies; the margin is not one of them."""
    result = rows(
        Sweep(points=POINTS), [point for point in curve if point.concurrency not in left_out], c_max=1024
    )
    assert {name for name, row in result.items() if name.startswith("regions") and row.status == "FAIL"} == {
        f"regions.{region}"
    }
    assert "at a concurrency from" in result[f"regions.{region}"].remedy


def test_a_curve_that_starts_high_has_no_ultra_low(point: Make) -> None:
    """The lowest point is at most 32."""
    points = [point(concurrency) for concurrency in (33, 40, 64, 128, 256, 512, 1024)]
    result = rows(Sweep(points=POINTS), points)["regions.ultra_low"]
    assert (result.status, result.remedy) == ("FAIL", "measure one at a concurrency from 1 to 32")


def test_the_margin_is_valid_and_not_high(curve: list[Point], point: Make) -> None:
    """10 % above the declared C_max is in range but covers no region, and beyond it is a warning."""
    low = [item for item in curve if (item.concurrency or 0) < 110]
    margin = rows(Sweep(points=POINTS), [*low, point(1127)], c_max=1024)
    assert (margin["regions.in_range"].status, margin["regions.high"].status) == ("PASS", "FAIL")
    beyond = rows(Sweep(points=POINTS), [*curve, point(1128)], c_max=1024)["regions.in_range"]
    assert (beyond.status, beyond.severity, beyond.observed, beyond.bound) == ("FAIL", "warn", 1128, 1127)


def test_an_offline_run_covers_no_region(curve: list[Point], point: Make) -> None:
    """A dedicated Offline run at a concurrency of High is not a point of High."""
    low = [item for item in curve if (item.concurrency or 0) < 110]
    result = rows(Sweep(points=POINTS), [*low, point(1024, offline=True)], c_max=1024)
    assert result["regions.high"].status == "FAIL"


def test_an_offline_run_can_be_required(curve: list[Point], point: Make) -> None:
    """Offline can stand among what is required."""
    sweep = Sweep(points={"require": [{"region": "offline", "min": 1}]})
    assert rows(sweep, curve)["regions.offline"].status == "FAIL"
    assert rows(sweep, [*curve, point(13368, offline=True)])["regions.offline"].status == "PASS"


@pytest.mark.parametrize("concurrencies", [(), (2, 16), (64,)])
def test_without_a_basis_nothing_passes_silently(point: Make, concurrencies: tuple[int, ...]) -> None:
    """Where regions cannot be computed their rows are there, and fail."""
    result = rows(Sweep(points=POINTS), [point(concurrency) for concurrency in concurrencies])
    failed = {name for name, row in result.items() if row.status == "FAIL"}
    assert failed >= {"regions.basis", "regions.ultra_low", "regions.low", "regions.medium", "regions.high"}


def test_offline_ordering(curve: list[Point], point: Make) -> None:
    """Offline gives at least 0.98 of the throughput at C_max."""
    points = [*curve, point(13368, offline=True, tps=98.0)]
    payload = {"factor": 0.98, "of": "c_max"}
    assert check("offline_tps_at_least", payload, points).status == "PASS"
    slow = check("offline_tps_at_least", payload, [*curve, point(13368, offline=True, tps=97.9)])
    assert (slow.status, slow.bound) == ("FAIL", 0.98)
    assert slow.observed == pytest.approx(0.979)
    assert check("offline_tps_at_least", None, points).status == "PASS"


def test_offline_ordering_never_goes_missing(curve: list[Point], point: Make) -> None:
    """Without an Offline run, and without a point at C_max, the row says why it was skipped."""
    nothing_at_c_max = [*curve[:-1], point(13368, offline=True)]
    for points, why in ((curve, "dedicated Offline"), (nothing_at_c_max, "C_max (1024)")):
        row = check("offline_tps_at_least", {}, points, c_max=1024)
        assert row.status == "SKIP"
        assert why in row.reason


def test_an_offline_run_without_tokens_fails(curve: list[Point], point: Make) -> None:
    """What was not measured is not met, on either side."""
    mute = point(13368, offline=True, tps=None)
    assert check("offline_tps_at_least", {}, [*curve, mute]).status == "FAIL"
    nothing = [*curve[:-1], point(1024, tps=None), point(13368, offline=True)]
    assert check("offline_tps_at_least", {}, nothing).status == "FAIL"


def test_offline_concurrency(curve: list[Point], point: Make) -> None:
    """The Offline run asks at least C_max at once."""
    name = "offline_concurrency_at_least"
    assert check(name, "c_max", [*curve, point(1024, offline=True)]).status == "PASS"
    small = check(name, "c_max", [*curve, point(1023, offline=True)])
    assert (small.status, small.observed, small.bound) == ("FAIL", 1023, 1024)
    assert check(name, "c_max", curve).status == "SKIP"
    assert check(name, "c_max", [*curve, point(None, offline=True)]).status == "SKIP"
    assert check(name, "c_max", [point(64, offline=True)]).status == "SKIP"


def test_tps_per_user_agrees_with_tpot(point: Make, judged: Judged) -> None:
    """TPOT p90 of 25 ms is 40 tok/s a user: 40.3 is within 1 %, and 41 is not."""
    name = "tps_per_user_consistency"
    points = [point(8, verdict=judged(tps_per_user=40.3)), point(16, verdict=judged(tps_per_user=40.0))]
    assert check(name, 0.01, points).status == "PASS"
    apart = check(name, 0.01, [*points, point(64, verdict=judged(tps_per_user=41.0))])
    assert (apart.status, apart.bound, apart.n) == ("FAIL", 0.01, 3)
    assert apart.observed == pytest.approx(0.025)
    assert "concurrency 64" in apart.reason


def test_tps_per_user_without_a_statement_is_skipped(curve: list[Point]) -> None:
    """Where no verdict states the figure there is nothing to compare, which the row says."""
    assert check("tps_per_user_consistency", None, curve).status == "SKIP"


def test_points_ask_alike(curve: list[Point], point: Make) -> None:
    """Another model, or other questions, at one point is not a curve of one server."""
    name = "config_identical"
    assert check(name, ["model", "dataset"], curve).status == "PASS"
    other = check(name, ["model"], [*curve, point(2000, model="mistral")])
    assert (other.status, other.reason) == ("FAIL", "points differ: model is llama or mistral")
    strange = point(2000, dataset={"name": "questions", "sha256": "cd" * 32})
    assert check(name, None, [*curve, strange]).status == "FAIL"
    assert check(name, ["model"], [*curve, strange]).status == "PASS"
    assert check(name, None, []).status == "SKIP"


def test_each_region_is_right_somewhere(point: Make, judged: Judged) -> None:
    """One point of each region, and the Offline run, have their accuracy; the others need none."""
    name, right = "accuracy_per_region", judged(accuracy="PASS")
    whole = [point(c, verdict=right) for c in (8, 16, 64, 1024)]
    assert check(name, 1, [*whole, point(512), point(256, verdict=judged(accuracy="SKIP"))]).status == "PASS"
    short = check(name, 1, [*whole[:2], *whole[3:], point(65), point(13368, offline=True)])
    assert (short.status, short.observed) == ("FAIL", 0)
    assert "medium (0), offline (0)" in short.reason
    assert check(name, None, [*whole, point(13368, offline=True, verdict=right)]).status == "PASS"
    assert check(name, 2, whole).status == "FAIL"


EXACT = (
    ("accuracy_per_region", {"exactly": 1}),
    ("accuracy_runs", {"metric": "accuracy.ROUGE1", "runs": 5, "combine": "each"}),
)


@pytest.mark.parametrize(
    ("with_result", "offline", "status", "reason"),
    [
        # C_max 1024 and C_min 8: Low is 9 to 18, Medium 19 to 109, High 110 to 1024.
        ((8, 16, 64, 512), True, "PASS", ""),
        ((8, 16, 64, 1024), None, "PASS", ""),
        ((16, 32, 64, 1024), None, "PASS", ""),
        ((8, 16, 64, 512, 1024), None, "PASS", ""),
        ((8, 16, 64, 512), False, "FAIL", "no accuracy result in Offline"),
        ((8, 16, 64), None, "FAIL", "no accuracy result in high, Offline"),
        ((8, 16, 1024), None, "FAIL", "no accuracy result in medium"),
        ((8, 16, 32, 64, 512), True, "FAIL", "one accuracy result too many: concurrency 64"),
        ((8, 16, 64, 256, 512), True, "FAIL", "one accuracy result too many: concurrency 512"),
    ],
)
def test_exactly_one_accuracy_result(
    point: Make,
    judged: Judged,
    with_result: tuple[int, ...],
    offline: bool | None,  # noqa: FBT001 (a parameter of the test)
    status: str,
    reason: str,
) -> None:
    """One for each region and for Offline: the dedicated run, else C_max's, which counts for both."""
    points = [
        point(c, verdict=judged(score=40) if c in with_result else None)
        for c in (8, 16, 32, 64, 256, 512, 1024)
    ]
    if offline is not None:
        points.append(point(13368, offline=True, verdict=judged(score=40) if offline else None))
    result = rows(Sweep(checks=EXACT), points, c_max=1024)
    assert (result["accuracy_per_region"].status, result["accuracy_per_region"].reason) == (status, reason)
    if status == "PASS":
        assert result["accuracy_runs.ROUGE1"].status == "PASS"


def test_an_accuracy_result_stands_where_most_regions_have_one(point: Make, judged: Judged) -> None:
    """16 may be Ultra Low or Low: with a result at 8 it is that of Low, with one at 12 that of Ultra Low."""
    for other in (8, 12):
        points = [point(c, verdict=judged(score=40)) for c in (other, 16, 64, 1024)]
        points += [] if other == 8 else [point(8)]
        assert rows(Sweep(checks=EXACT), points)["accuracy_per_region"].status == "PASS"


def test_a_declared_c_min_leaves_one_place_for_each_result(point: Make, judged: Judged) -> None:
    """Then 16 is Low alone; and where no point lies at it there are no regions."""
    points = [point(8), *(point(c, verdict=judged(score=40)) for c in (12, 16, 64, 1024))]
    declared = rows(Sweep(checks=EXACT), points, c_min=8)["accuracy_per_region"]
    assert declared.reason == "no accuracy result in ultra low"
    absent = rows(Sweep(points=POINTS, checks=EXACT), points, c_min=9)
    assert absent["accuracy_per_region"].reason.endswith("no valid point lies at the declared C_min, 9")
    assert absent["regions.basis"].status == "FAIL"


def test_an_accuracy_result_is_whole(point: Make, judged: Judged) -> None:
    """A result that lacks one of the scores is not taken for the others."""
    both = (*EXACT, ("accuracy_runs", {"metric": "accuracy.ROUGE2", "runs": 5, "combine": "each"}))
    verdict = judged(score=40)
    absent = replace(verdict.rows[0], id="accuracy.ROUGE2", observed=None, status="SKIP")
    partial = replace(verdict, rows=(*verdict.rows, absent))
    points = [point(c, verdict=partial) for c in (8, 16, 64, 1024)]
    result = rows(Sweep(checks=both), points)["accuracy_per_region"]
    assert (result.status, result.reason.partition(" lacks ")[2]) == ("FAIL", "accuracy.ROUGE2")


def test_an_agentic_curve_has_four_results(point: Make, judged: Judged) -> None:
    """Four runs are asked for, so that none is Offline; a score that every point has is not such a result."""
    four = (
        ("accuracy_per_region", {"exactly": 1}),
        ("accuracy_runs", {"metric": "accuracy.ROUGE1", "runs": 4, "combine": "mean"}),
    )
    points = [point(c, verdict=judged(score=40)) for c in (8, 16, 64, 1024)]
    inline = replace(judged(score=60).rows[0], id="accuracy.inline")
    points.append(point(512, verdict=replace(judged(), rows=(inline,))))
    result = rows(Sweep(checks=four), points)
    assert {row.status for row in result.values()} == {"PASS"}
    assert result["accuracy_per_region"].bound == 4


def test_offline_ordering_can_be_a_warning(curve: list[Point], point: Make) -> None:
    """As the submission tool has it."""
    slow = [*curve, point(100, offline=True, tps=1.0)]
    for name in ("offline_tps_at_least", "offline_concurrency_at_least"):
        row = check(name, {"of": "c_max", "severity": "warn"}, slow)
        assert (row.status, row.severity) == ("FAIL", "warn")


def runs(point: Make, judged: Judged, scores: Sequence[float], combine: str, **bounds: float) -> VerdictRow:
    """Judge four runs of a score by its least and its greatest."""
    payload = {"metric": "accuracy.ROUGE1", "runs": 4, "combine": combine}
    points = [
        point(concurrency, verdict=judged(score=score, **bounds))
        for concurrency, score in enumerate(scores, start=1)
    ]
    return rows(Sweep(checks=(("accuracy_runs", payload),)), points)["accuracy_runs.ROUGE1"]


def test_each_of_several_runs_is_right(point: Make, judged: Judged) -> None:
    """Every run must meet the bound, and the figure shown is the worst."""
    passed = runs(point, judged, (40, 41, 39, 40), "each", least=38.5)
    assert (passed.status, passed.observed, passed.n) == ("PASS", 39, 4)
    failed = runs(point, judged, (40, 41, 38, 40), "each", least=38.5)
    assert (failed.status, failed.observed) == ("FAIL", 38)


def test_the_mean_of_several_runs_is_right(point: Make, judged: Judged) -> None:
    """A run below the bound is made up for by the others, on either side."""
    assert runs(point, judged, (40, 41, 38, 40), "mean", least=38.5).status == "PASS"
    failed = runs(point, judged, (38, 38, 38, 39), "mean", least=38.5)
    assert (failed.status, failed.observed) == ("FAIL", 38.25)
    assert runs(point, judged, (40, 41, 38, 40), "mean", least=38.5, limit=39.0).status == "FAIL"


def test_too_few_runs_are_not_enough(point: Make, judged: Judged) -> None:
    """Three runs are not four, however right they are."""
    assert runs(point, judged, (40, 41, 40), "each", least=38.5).status == "FAIL"


def test_a_wrong_point_is_wrong_wherever_it_lies(point: Make, judged: Judged) -> None:
    """One accuracy that is missed fails the sweep, however many others pass."""
    points = [point(c, verdict=judged(accuracy="PASS")) for c in (8, 16, 64, 1024)]
    wrong = check("accuracy_per_region", 1, [*points, point(512, verdict=judged("FAIL", accuracy="FAIL"))])
    assert (wrong.status, wrong.reason) == ("FAIL", "the accuracy of concurrency 512 is not met")
    assert check("accuracy_per_region", 1, []).status == "FAIL"


def test_the_front_is_shown(point: Make) -> None:
    """What another point beats in both is off the front; the row is for information."""
    points = [point(1, tps=10, tpot=10), point(2, tps=20, tpot=20), point(3, tps=15, tpot=25)]
    row = rows(Sweep(pareto=PARETO), points)["pareto"]
    assert (row.status, row.severity, row.observed, row.n) == ("PASS", "info", 2, 3)
    assert "50 at 20; 100 at 10" in row.method


def test_a_front_needs_both_figures(point: Make) -> None:
    """Without TPOT, without GPUs, or with invalid points only, the row says what is missing."""
    assert rows(Sweep(pareto=PARETO), [point(1, tpot=None), point(2, valid=False)])["pareto"].status == "FAIL"
    a_gpu = {"x": "interactivity", "y": {"metric": "tps_per_gpu", "tokens": "input_plus_output"}}
    unknown = rows(Sweep(pareto=a_gpu), [point(1)])["pareto"]
    assert (unknown.status, unknown.remedy) == (
        "FAIL",
        "measure with the number of GPUs that serve the model: --gpus N",
    )
    invalid = rows(Sweep(pareto=a_gpu), [point(1, tps=100, tpot=10, gpus=4, valid=False)])["pareto"]
    assert (invalid.severity, invalid.remedy) == ("fail", "measure again what is invalid: see each point")
    expected = rows(Sweep(pareto=a_gpu), [point(1, tps=100, tpot=10, gpus=4)])["pareto"]
    assert "100 at 75" in expected.method
    output = {**a_gpu, "y": {"metric": "tps_per_gpu", "tokens": "output"}}
    assert "100 at 25" in rows(Sweep(pareto=output), [point(1, tps=100, tpot=10, gpus=4)])["pareto"].method


def test_one_front_dominates_another(point: Make) -> None:
    """At each point of the baseline's front ours gives as much, at no less interactivity."""
    sweep = Sweep(pareto={**PARETO, "must_dominate": "baseline"})
    theirs = [point(1, tps=10, tpot=10), point(8, tps=40, tpot=40)]
    name = "pareto.must_dominate"
    better = [point(1, tps=11, tpot=9), point(8, tps=40, tpot=40)]
    assert rows(sweep, better, baseline=theirs)[name].status == "PASS"
    # Between (100, 10) and (20, 50) a straight line would pass above the baseline's (25, 40); no step does.
    between = [point(1, tps=10, tpot=10), point(9, tps=50, tpot=50)]
    worse = rows(sweep, between, baseline=theirs)[name]
    assert (worse.status, worse.observed, worse.bound) == ("FAIL", 0.25, 1)
    short = rows(sweep, [point(8, tps=99, tpot=40)], baseline=theirs)[name]
    assert (short.status, short.observed) == ("FAIL", 0)
    assert "no point of ours gets there" in short.reason


@pytest.mark.parametrize(
    ("low", "high", "status"), [(8, 10, "PASS"), (9, 12, "INCONCLUSIVE"), (11, 12, "FAIL")]
)
@pytest.mark.parametrize("stamped", ["low", "high"])
def test_dominance_is_decided_by_both_ends(
    point: Make, low: float, high: float, status: str, stamped: str
) -> None:
    """Of a TPOT whose chunks were read late, ours must be as quick as the baseline's 10 ms at both."""
    sweep = Sweep(pareto={**PARETO, "must_dominate": "baseline"})
    theirs = [point(1, tps=10, tpot=10)]
    ours = point(1, tps=10, tpot={"low": low, "high": high}[stamped])
    ends = {end: {**ours.report["tpot_ms"], "p50": ms} for end, ms in (("low", low), ("high", high))}
    doubtful = replace(ours, report={**ours.report, "bounds": {"tpot_ms": ends}})
    row = rows(sweep, [doubtful], baseline=theirs)["pareto.must_dominate"]
    assert row.status == status
    assert ("too busy to tell" in row.reason) is (status == "INCONCLUSIVE")


def test_a_baseline_that_is_missing_is_not_beaten(point: Make) -> None:
    """Without a baseline, or with none that is valid, dominance is not shown."""
    sweep = Sweep(pareto={**PARETO, "must_dominate": "baseline"})
    for baseline in ([], [point(1, valid=False)]):
        result = rows(sweep, [point(1)], baseline=baseline)
        assert result["pareto.must_dominate"].status == "FAIL"
        assert result["pareto"].severity == "fail"


@given(
    st.lists(st.tuples(st.integers(1, 9).map(float), st.integers(1, 9).map(float)), min_size=1, max_size=12)
)
def test_a_front_is_what_nothing_beats(spots: list[tuple[float, float]]) -> None:
    """The front is exactly the spots that no other dominates, and its step function is that of all spots."""
    line = front(spots)
    unbeaten = {(x, y) for x, y in spots if not any(a >= x and b >= y and (a, b) != (x, y) for a, b in spots)}
    assert line == sorted(unbeaten)
    assert [step(line, x) for x in range(11)] == [step(spots, x) for x in range(11)]


def row_of_search(point: Make, judged: Judged, message: dict[float, str | None], **search: Any) -> VerdictRow:
    """Judge a search over rates whose points have these statuses."""
    points = [
        point(None, rate=rate, verdict=None if status is None else judged(status))
        for rate, status in message.items()
    ]
    return rows(Sweep(search={**SEARCH, **search}), points)["search"]


def test_a_search_that_is_done(point: Make, judged: Judged) -> None:
    """The highest rate that passes and the lowest that fails are 5 % apart."""
    row = row_of_search(point, judged, {10: "PASS", 20: "PASS", 21: "FAIL", 40: "FAIL"})
    assert (row.status, row.observed, row.n) == ("PASS", 20, 4)


@pytest.mark.parametrize(
    ("message", "status", "remedy"),
    [
        ({10: "PASS", 20: "FAIL"}, "INCONCLUSIVE", "measure about 15"),
        ({10: "PASS", 20: "PASS"}, "INCONCLUSIVE", "measure above 20"),
        ({10: "FAIL", 20: "PASS", 21: "FAIL"}, "INCONCLUSIVE", "repeat these points, with more requests"),
        ({10: "INCONCLUSIVE", 20: "FAIL"}, "INCONCLUSIVE", "repeat them"),
        ({10: None}, "INCONCLUSIVE", "repeat them"),
        ({10: "FAIL", 20: "FAIL"}, "FAIL", "measure below 10"),
        ({}, "FAIL", "measure at several"),
    ],
)
def test_a_search_that_is_not(
    point: Make, judged: Judged, message: dict[float, str | None], status: str, remedy: str
) -> None:
    """What lies between points is not guessed: the row says where to measure next."""
    row = row_of_search(point, judged, message)
    assert (row.status, row.remedy) == (status, remedy)


def test_a_search_over_concurrency(point: Make, judged: Judged) -> None:
    """Concurrency is searched too, and an Offline run is not one of its points."""
    points = [
        point(20, verdict=judged("PASS")),
        point(21, verdict=judged("FAIL")),
        point(13368, offline=True, verdict=judged("PASS")),
    ]
    row = rows(Sweep(search={"maximise": "concurrency"}), points)["search"]
    assert (row.status, row.observed) == ("PASS", 20)


def test_a_rate_that_changes_is_taken_as_it_came_about(point: Make, judged: Judged) -> None:
    """Where no number was asked for the completed requests per second stand for it."""
    row = rows(Sweep(search=SEARCH), [point(4, verdict=judged("FAIL"))])["search"]
    assert row.remedy == "measure below 1"


def test_every_check_of_a_file_is_judged(curve: list[Point]) -> None:
    """Whatever check a file may name has a rule here, and each has a row for any points."""
    assert set(CHECKS) == {*DEMANDED, "accuracy_runs"}
    sweep = Sweep(checks=tuple((name, None) for name in DEMANDED))
    for points in ([], curve):
        assert [row.id for row in evaluate(sweep, points)] == [f"sweep.{name}" for name in DEMANDED]


def test_every_rule_has_a_row_whatever_the_points(curve: list[Point], point: Make) -> None:
    """So the names of a sweep's rules are known before there is a point."""
    payload = {"metric": "accuracy.gsm8k", "runs": 2}
    checks = (*((name, None) for name in DEMANDED), ("accuracy_runs", payload))
    sweep = Sweep(points=POINTS, pareto={**PARETO, "must_dominate": "b"}, search=SEARCH, checks=checks)
    for points in ([], curve, [point(4)], [point(13368, offline=True)]):
        assert tuple(row.id for row in evaluate(sweep, points)) == names(sweep)


def test_a_check_of_another_version_is_inconclusive(curve: list[Point]) -> None:
    """Rules that a log kept may name what this version does not know; that is said, and nothing passes."""
    assert check("tomorrow", None, curve).status == "INCONCLUSIVE"


def test_the_order_of_points_does_not_matter(curve: list[Point], point: Make) -> None:
    """Rows are the same however the points are sorted."""
    sweep = Sweep(points=POINTS, pareto=PARETO, search=SEARCH, checks=(("offline_tps_at_least", None),))
    points = [*curve, point(13368, offline=True)]
    assert evaluate(sweep, points) == evaluate(sweep, points[::-1])


def test_no_rules_make_no_rows(curve: list[Point]) -> None:
    """A sweep that asks for nothing is not judged."""
    assert evaluate(Sweep(), curve) == ()
