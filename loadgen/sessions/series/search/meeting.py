"""Whether a run meets a search's requirements, beyond chance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from loadgen.sessions.series.search.requirements import Required, allowed_share, doubt_of, of_mean, of_share
from loadgen.sessions.series.search.strategy import TrialVerdict
from reporter.log.database import open_log
from reporter.measured.log_evidence import LogEvidence
from reporter.windows.rate_window import over_defined_window
from rulesets.evaluators.delay_decides import leaves_open
from rulesets.evaluators.rule_row import figure_text
from rulesets.metric_table import BY_NAME
from rulesets.quantity import COMPARE, Op, spell
from rulesets.ruleset import Ruleset

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from reporter.report import Report, Summary
    from rulesets.target import Target


def evaluate(required: Required, report: Report, run: Path) -> tuple[TrialVerdict, str]:
    """Whether a run meets all requirements, and why not.

    Percentiles, the error rate and the share of good requests are judged by exact binomial tests, means by
    their standard error; a minimum or a maximum as it is. A request that failed is over every bound, unless
    it is said how many may. What chunks that were read late can decide is unclear, as it is for a gate.
    """
    definitions = required.definitions
    with open_log(run) as opened:
        log = over_defined_window(
            opened.with_definitions(definitions),
            definitions.throughput_window,
            report.steady_state,
            report.run.load.get("kind"),
        )
        evidence = LogEvidence(log, report)
        may_fail = any(target.quantity.kind == "error" for target in required.targets)
        failed = 0 if may_fail else report.counts.failed
        unclear = ""
        for target in required.targets:
            verdict, seen = _judged_at_both_ends(target, report, evidence, failed)
            if verdict is TrialVerdict.MISSED:
                return verdict, f"{target.id}: {seen}"
            unclear = unclear or (f"{target.id}: {seen}" if verdict is TrialVerdict.UNCLEAR else "")
    return (TrialVerdict.UNCLEAR, unclear) if unclear else (TrialVerdict.MET, "")


def _judged_at_both_ends(
    target: Target, report: Report, evidence: LogEvidence, failed: int
) -> tuple[TrialVerdict, str]:
    """Whether a run meets a target at both ends of the figure's interval."""
    name = f"{target.metric}_ms"
    verdict, seen = _judged(target, getattr(report, name, None), evidence, failed)
    bounds = report.bounds.get(name)
    summaries = (bounds.low, bounds.high) if bounds else (getattr(report, name, None),) * 2
    ends = zip(evidence.ends, summaries, strict=False)
    in_doubt = any(_judged(target, summary, run, failed)[0] is not verdict for run, summary in ends)
    rules = Ruleset.of_dict(report.run.ruleset) if report.run.ruleset else None
    if in_doubt or (rules is not None and leaves_open(target, rules, evidence)):
        return TrialVerdict.UNCLEAR, f"{seen}, and the client was too busy to tell: chunks were read late"
    return verdict, seen


def _judged(
    target: Target, summary: Summary | None, evidence: LogEvidence, failed: int
) -> tuple[TrialVerdict, str]:
    share, doubt = allowed_share(target), doubt_of(target)
    if share is None:
        return _at_face_value(target, summary)
    match target.quantity.kind:
        case "error":
            counts = evidence.counts(())
            bad = counts["failed"] + counts["cancelled"]
            of, seen = counts["completed"] + bad, "{} of {} failed"
        case "good":
            good = evidence.good(target.conditions, ())
            bad, of, seen = good.ended - good.good, good.ended, "{} of {} are not good"
        case _:
            over, count = _exceeding(target, evidence)
            # Gaps between tokens are counted one by one, and a request that failed has no number of them.
            counted = (
                BY_NAME[target.metric].per in {"gap", "session"}
                or evidence.definitions.failed_requests != "exclude"
            )
            lost = 0 if counted else failed
            seen = f"{over} of {count} are over it" + f", and {lost} failed" * bool(lost)
            bad, of = over + lost, count + lost
    return of_share(bad, of, share, doubt), seen.format(bad, of)


def _exceeding(target: Target, evidence: LogEvidence) -> tuple[int, int]:
    """How many samples do not meet a bound, and how many there are."""
    if target.quantity.kind != "interactivity":
        sample = evidence.sample(target.metric, ())
        return sample.unmet(target.op, target.bound), sample.count
    sample, turned = evidence.sample("tpot", ()), _TURNED[target.op]
    return sample.unmet(turned, 1000 / target.bound if target.bound else math.inf), sample.count


_TURNED: Final[Mapping[Op, Op]] = {">": "<", ">=": "<="}
"""Of 1000 / TPOT: what bounds one from below bounds the other from above."""


def _at_face_value(target: Target, summary: Summary | None) -> tuple[TrialVerdict, str]:
    """A mean, a minimum or a maximum."""
    if summary is None:
        return TrialVerdict.MISSED, "there are no samples"
    seen = f"the {spell(target.stat)} is {figure_text(getattr(summary, target.stat), target.bound)} ms"
    if target.stat == "mean":
        return of_mean(summary, target.bound), seen
    met = COMPARE[target.op](getattr(summary, target.stat), target.bound)
    return TrialVerdict.MET if met else TrialVerdict.MISSED, seen
