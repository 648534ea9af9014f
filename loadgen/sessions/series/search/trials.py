"""From a load to a point of the series, and from the point's outcome to a verdict."""

from __future__ import annotations

import math
from itertools import takewhile
from statistics import variance
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from loadgen.driver.load import Load, Open, ProcessArrivals, expected_arrivals
from loadgen.sessions.run.loads import load_of
from loadgen.sessions.series.point_options import point_of
from loadgen.sessions.series.search.meeting import evaluate
from loadgen.sessions.series.search.requirements import Required, fewest_samples
from loadgen.sessions.series.search.strategy import Trial, TrialResult, TrialVerdict
from loadgen.sessions.settings.perf import perf_settings
from reporter.findings.rate_held import BLOCKS, FILLING, kept_up
from reporter.log.query import query
from reporter.run_facts import OVERLOADED
from rulesets.evaluators.rule_row import figure_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from loadgen.sessions.files.series_file import SeriesPoint
    from loadgen.sessions.series_outcome import PointOutcome
    from rulesets.verdict import Verdict

SCOUT_S: Final = 2.0
"""The least duration of a scout, in seconds."""

SCOUT_ANSWERS: Final = 3
THOROUGH_ANSWERS: Final = 20
"""A trial lasts at least as long as this many answers in sequence: a shorter one shows only its start."""

_OF_SESSIONS: Final = ("validity.min_sessions", "validity.min_sessions_per_concurrency")

SERVERS_OWN: Final = frozenset(
    {OVERLOADED, "nothing_completed", "error_budget", "many_failures", "rate_limited", "endpoint_gone"}
)
"""Findings that make a run invalid and are caused by the endpoint."""


@dataclass(frozen=True, slots=True)
class EvaluatedTrial:
    """A trial that has been run.

    Attributes:
        tried: Its result.
        outcome: The run.
        why: Why it did not meet the requirements, or is unclear; empty when it met them.
    """

    tried: TrialResult
    outcome: PointOutcome
    why: str

    @property
    def in_words(self) -> str:
        """The verdict, with the reason for a miss: `missed (overloaded, completed 41 req/s)`."""
        return f"{self.tried.verdict} ({self.why})" if self.why else str(self.tried.verdict)


class Trials:
    """Makes points for trials, and evaluates the outcomes."""

    def __init__(self, axis: str, required: Required, perf: Mapping[str, Any], least_s: float) -> None:
        self._axis = axis
        self._required = required
        self._perf = perf
        self._least_s = least_s
        self._evaluated: dict[int, EvaluatedTrial] = {}

    def evaluated(self, outcomes: Sequence[PointOutcome]) -> list[EvaluatedTrial]:
        """The trials of the runs so far; each is evaluated once."""
        for outcome in outcomes:
            if outcome.number not in self._evaluated:
                self._evaluated[outcome.number] = self._evaluate(outcome)
        return [self._evaluated[outcome.number] for outcome in outcomes]

    def seconds(self, trial: Trial, before: Sequence[EvaluatedTrial]) -> float:
        """The duration of a trial, in seconds."""
        answer_s = _answer_s(before)
        if not trial.thorough:
            return max(SCOUT_S, SCOUT_ANSWERS * answer_s)
        # A user of the closed loop sends the next request when the answer has come.
        a_second = trial.load if self._axis == "rate" else trial.load / answer_s if answer_s else 0.0
        counted_s = fewest_samples(self._required) / a_second if a_second else 0.0
        if not trial.extensions and self._seems_missed(trial.load, before):
            # A clear miss takes fewer requests than a clear pass.
            counted_s = 0.0
        return float(max(self._least_s, THOROUGH_ANSWERS * answer_s, counted_s) * 2**trial.extensions)

    def remark(self, outcome: PointOutcome) -> str:
        """The verdict of a trial, and why a requirement is not met."""
        return self.evaluated([outcome])[0].in_words

    @staticmethod
    def _seems_missed(load: float, before: Sequence[EvaluatedTrial]) -> bool:
        results = (evaluated.tried for evaluated in before)
        return any(result.trial.load == load and result.verdict is TrialVerdict.MISSED for result in results)

    def point(self, trial: Trial, seconds: float, number: int) -> SeriesPoint:
        """The run of a trial."""
        load = int(trial.load) if self._axis == "concurrency" else f"{trial.load:g}"
        options = {**self._perf, self._axis: load, "duration": round(seconds, 3)}
        if self._axis == "rate":
            options["stop_on_overload"] = True
            settings = perf_settings(**options)
            if settings.load.schedule_seed is None:
                first = (settings.load.seed + 1000 * number) % 2**63
                options["seed"] = fair_seed(load_of(settings.load), seconds, first)
        kind = "full" if trial.thorough else "scout"
        axes = {self._axis: trial.load, "trial": kind + f"-x{2**trial.extensions}" * bool(trial.extensions)}
        return point_of(f"{self._axis}-{load}-{axes['trial']}", axes, perf_settings(**options))

    def _evaluate(self, outcome: PointOutcome) -> EvaluatedTrial:
        trial = self._trial(outcome.point)
        verdict, why, limit = self._verdict(outcome, trial)
        looked_at = self._axis == "rate" and trial.thorough and verdict is TrialVerdict.MET
        doubtful = looked_at and may_hide(outcome.folder, trial.load)
        return EvaluatedTrial(TrialResult(trial, verdict, limit, doubtful), outcome, why)

    def _trial(self, point: SeriesPoint) -> Trial:
        kind, _, times = point.axes["trial"].partition("-x")
        extensions = int(times or 1).bit_length() - 1
        return Trial(point.axes[self._axis], thorough=kind == "full", extensions=extensions)

    def _verdict(self, outcome: PointOutcome, trial: Trial) -> tuple[TrialVerdict, str, float | None]:
        report = outcome.report
        refused = report.counts.by_error.get("refused", 0)
        if refused and trial.thorough:
            # The server is or was down: that says nothing about the load, unless it happens repeatedly.
            return TrialVerdict.UNCLEAR, f"{refused} requests were refused: nothing listened there", None
        errors = {finding.code: finding.message for finding in report.findings if finding.severity == "error"}
        if theirs := [message for code, message in errors.items() if code in SERVERS_OWN]:
            qps, behind = report.throughput.qps, OVERLOADED in errors
            return TrialVerdict.MISSED, _overloaded(qps) if behind else theirs[0], qps if behind else None
        if not report.validity.stands:
            return TrialVerdict.INVALID, " ".join(report.validity.reasons), None
        if self._axis == "rate":
            keeping = kept_up(outcome.folder, trial.load)
            if keeping is not None and keeping.behind:
                return TrialVerdict.MISSED, _overloaded(keeping.completed_rate), keeping.completed_rate
        if trial.thorough:
            few = too_few_sessions(report.verdict)
            verdict = TrialVerdict.UNCLEAR, few
            return *(verdict if few else evaluate(self._required, report, outcome.folder)), None
        return *_at_face_value(self._required, report.verdict), None


def too_few_sessions(verdict: Verdict | None) -> str:
    """Why a trial does not count, where its ruleset asks for more completed sessions."""
    rows = [row for row in (verdict.rows if verdict else ()) if row.id in _OF_SESSIONS]
    return "; ".join(row.reason for row in rows if row.status == "INVALID")


def _overloaded(completed_qps: float | None) -> str:
    return "overloaded" + (f", completed {figure_text(completed_qps)} req/s" if completed_qps else "")


def _at_face_value(required: Required, verdict: Verdict | None) -> tuple[TrialVerdict, str]:
    """The verdict by the figures alone, without regard to chance."""
    ids = {target.id for target in required.targets}
    rows = [row for row in (verdict.rows if verdict else ()) if row.id in ids]
    missed = [row.reason for row in rows if row.status in {"FAIL", "INVALID"}]
    return (TrialVerdict.MISSED, "; ".join(missed)) if missed else (TrialVerdict.MET, "")


def _answer_s(before: Sequence[EvaluatedTrial]) -> float:
    """How long an answer takes, at the highest load that met; 0 while that is unknown."""
    met = [
        evaluated
        for evaluated in before
        if evaluated.tried.verdict is TrialVerdict.MET and evaluated.outcome.report.latency_ms
    ]
    best = max(met, key=lambda evaluated: evaluated.tried.trial.load, default=None)
    latency = best.outcome.report.latency_ms if best else None
    return latency.p50 / 1e3 if latency else 0.0


CANDIDATES: Final = 32
MANY: Final = 100_000
"""From this many arrivals on, every seed has nearly the expected number."""


def fair_seed(load: Load, seconds: float, first: int) -> int:
    """The seed, among candidates, whose number of arrivals is nearest to the expected number.

    In a few seconds a Poisson process of 40 req/s has 5 % more or fewer than expected, which would
    decide the verdict. With a chosen seed it is a Poisson process given its count: as irregular as any other.
    """
    expected = expected_arrivals(load, seconds) or 0.0
    if not (isinstance(load, Open) and isinstance(load.arrivals, ProcessArrivals)) or not 0 < expected < MANY:
        return first
    arrivals = load.arrivals
    if not arrivals.variance:
        return first

    def off(seed: int) -> float:
        return abs(sum(1 for _ in takewhile(expected.__gt__, arrivals.positions(seed))) - expected)

    return min(range(first, first + CANDIDATES), key=off)


SHORT: Final = 0.06
"""The share of the rate that a slow endpoint may be short of without being detected."""

_SQL: Final = """
WITH span AS (
    SELECT min(started_ns) AS a, (SELECT min(at_ns) FROM events WHERE type = 'STOP_PERFORMANCE_TRACKING') AS b
    FROM phases
    WHERE phase = 'performance'
), core AS (
    SELECT (a + $filling * (b - a))::BIGINT AS a, b FROM span
), blocks AS (
    SELECT k, a + k * (b - a) / $blocks AS since, a + (k + 1) * (b - a) / $blocks AS until
    FROM core, range($blocks) AS numbers(k)
), first_turns AS (
    SELECT issued_ns, complete_ns FROM samples WHERE measured AND coalesce(turn, 0) = 0
)
SELECT
    (until - since) / 1e9,
    (SELECT count(*) FROM first_turns WHERE issued_ns >= since AND issued_ns < until),
    (SELECT count(*) FROM first_turns WHERE complete_ns >= since AND complete_ns < until)
FROM blocks
""".replace("$filling", repr(FILLING)).replace("$blocks", str(BLOCKS))


def may_hide(run: Path, rate: float) -> bool:
    """Whether a slowly growing backlog may be hidden by chance in a trial.

    An endpoint whose latencies vary does not fall behind steadily. In a trial of a few hundred requests this
    variation hides a rate that is 5 % too high. The measured time is cut into blocks; that the endpoint kept
    up is in doubt if it may have been short of more than a share of the rate, within one standard error of
    the observation. Either of two figures is enough: the completed requests, which vary little where an
    endpoint is busy all the time, and those issued and not completed, which vary little where it is not.
    """
    seconds, issued, completed = zip(*query(run, _SQL).rows, strict=True)
    return may_grow(rate * sum(seconds), issued, completed)


def may_grow(expected: float, issued: Sequence[int], completed: Sequence[int]) -> bool:
    """Whether a backlog may grow, from counts.

    Args:
        expected: The expected requests of the rate, in all blocks together.
        issued: How many requests were issued, block by block.
        completed: How many completed, block by block.
    """
    grown = [begun - done for begun, done in zip(issued, completed, strict=True)]
    shortage = min(expected - sum(completed) + _error(completed), sum(grown) + _error(grown))
    return shortage > SHORT * expected


def _error(counts: Sequence[int]) -> float:
    """The standard error of the sum, at least one: a block may end just before a request does."""
    return math.sqrt(len(counts) * variance(counts) + 1)
