"""From a load to a point of the series, and from what came of it to what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.run.loads import load_of
from loadgen.sessions.series.options import point_of
from loadgen.sessions.series.search.backlog import may_hide
from loadgen.sessions.series.search.fairness import fair_seed
from loadgen.sessions.series.search.meeting import judge
from loadgen.sessions.series.search.requirements import fewest_samples
from loadgen.sessions.series.search.strategy import Trial, TrialResult, TrialVerdict
from loadgen.sessions.settings.perf import perf_settings
from reporter.findings.rate_held import kept_up
from reporter.sweep import OVERLOADED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.sessions.series.outcome import PointOutcome
    from loadgen.sessions.series.search.requirements import Required
    from loadgen.sessions.series.series import SeriesPoint
    from rulesets.verdict import Verdict

SCOUT_S: Final = 2.0
"""So long a scout is at least."""

SCOUT_ANSWERS: Final = 3
THOROUGH_ANSWERS: Final = 20
"""A trial lasts as long as so many answers, one after the other: else it would be about its beginning."""

SERVERS_OWN: Final = frozenset({OVERLOADED, "nothing_completed", "error_budget"})
"""Findings that make a run invalid and are the endpoint's doing."""


@dataclass(frozen=True, slots=True)
class EvaluatedTrial:
    """A trial that has been run.

    Attributes:
        tried: What it says.
        outcome: The run.
        why: Why it did not meet the requirements, or is not clear; empty when it met them.
    """

    tried: TrialResult
    outcome: PointOutcome
    why: str

    @property
    def in_words(self) -> str:
        """The verdict, and why where it is not met: `missed (overloaded, completed 41 requests/s)`."""
        return f"{self.tried.verdict} ({self.why})" if self.why else str(self.tried.verdict)


class Trials:
    """Makes points of trials, and judges them.

    Args:
        axis: `rate` or `concurrency`.
        required: The requirements.
        perf: The options that all runs have in common, by field.
        least_s: So long a thorough trial is at least.
    """

    def __init__(self, axis: str, required: Required, perf: Mapping[str, Any], least_s: float) -> None:
        self._axis = axis
        self._required = required
        self._perf = perf
        self._least_s = least_s
        self._judged: dict[int, EvaluatedTrial] = {}

    def judged(self, outcomes: Sequence[PointOutcome]) -> list[EvaluatedTrial]:
        """What the runs so far say; each is judged once."""
        for outcome in outcomes:
            if outcome.number not in self._judged:
                self._judged[outcome.number] = self._judge(outcome)
        return [self._judged[outcome.number] for outcome in outcomes]

    def seconds(self, trial: Trial, before: Sequence[EvaluatedTrial]) -> float:
        """How long a trial is to last."""
        answer_s = _answer_s(before)
        if not trial.thorough:
            return max(SCOUT_S, SCOUT_ANSWERS * answer_s)
        # A user of the closed loop asks again when the answer is there.
        a_second = trial.load if self._axis == "rate" else trial.load / answer_s if answer_s else 0.0
        counted_s = fewest_samples(self._required) / a_second if a_second else 0.0
        if not trial.extensions and self._seems_missed(trial.load, before):
            # That something is missed by far, fewer requests tell than that it is met.
            counted_s = 0.0
        return float(max(self._least_s, THOROUGH_ANSWERS * answer_s, counted_s) * 2**trial.extensions)

    def remark(self, outcome: PointOutcome) -> str:
        """What a trial says, in a few words: its verdict, and why it is not met."""
        return self.judged([outcome])[0].in_words

    @staticmethod
    def _seems_missed(load: float, before: Sequence[EvaluatedTrial]) -> bool:
        tried = (one.tried for one in before)
        return any(one.trial.load == load and one.verdict is TrialVerdict.MISSED for one in tried)

    def point(self, trial: Trial, seconds: float, number: int) -> SeriesPoint:
        """The run of a trial."""
        load = int(trial.load) if self._axis == "concurrency" else f"{trial.load:g}"
        options = {**self._perf, self._axis: load, "duration": round(seconds, 3)}
        if self._axis == "rate":
            options["stop_on_overload"] = True
            given = perf_settings(**options)
            if given.schedule_seed is None:
                first = (given.seed + 1000 * number) % 2**63
                options["seed"] = fair_seed(load_of(given), seconds, first)
        kind = "full" if trial.thorough else "scout"
        axes = {self._axis: trial.load, "trial": kind + f"-x{2**trial.extensions}" * bool(trial.extensions)}
        return point_of(f"{self._axis}-{load}-{axes['trial']}", axes, perf_settings(**options))

    def _judge(self, outcome: PointOutcome) -> EvaluatedTrial:
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
            # It is down, or was: that says nothing of the load, unless it happens again and again.
            return TrialVerdict.UNCLEAR, f"{refused} requests were refused: nothing listened there", None
        errors = {one.code: one.message for one in report.findings if one.severity == "error"}
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
            return *judge(self._required, report, outcome.folder), None
        return *_at_face_value(self._required, report.verdict), None


def _overloaded(completed_qps: float | None) -> str:
    return "overloaded" + (f", completed {completed_qps:.4g} requests/s" if completed_qps else "")


def _at_face_value(required: Required, verdict: Verdict | None) -> tuple[TrialVerdict, str]:
    """What the figures themselves say, chance or not, of what is required."""
    ids = {target.id for target in required.targets}
    rows = [row for row in (verdict.rows if verdict else ()) if row.id in ids]
    missed = [row.reason for row in rows if row.status in {"FAIL", "INVALID"}]
    return (TrialVerdict.MISSED, "; ".join(missed)) if missed else (TrialVerdict.MET, "")


def _answer_s(before: Sequence[EvaluatedTrial]) -> float:
    """How long an answer takes, at the highest load that met; 0 while that is not known."""
    met = [one for one in before if one.tried.verdict is TrialVerdict.MET and one.outcome.report.latency_ms]
    best = max(met, key=lambda one: one.tried.trial.load, default=None)
    latency = best.outcome.report.latency_ms if best else None
    return latency.p50 / 1e3 if latency else 0.0
