"""The requirements of a search: upper bounds that more load can only bring nearer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.errors import UsageError
from cli.judging import read_rules
from cli.searching.chance import allowed_share, fewest, of_mean, of_share
from cli.searching.strategy import Verdict
from reporter.exceeding import exceeding
from rulesets.target import COMPARE, spell

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reporter.report import Report
    from rulesets.target import Target


def targets_of(require: Sequence[str], ruleset: Path | None) -> tuple[Target, ...]:
    """The targets that a search is to meet.

    Raises:
        RulesetError: One cannot be read.
        UsageError: There is none, or one that a search cannot use.
    """
    rules = read_rules(require, ruleset)
    if rules is None:
        raise UsageError("nothing is required: say what is to be met, e.g. --require 'ttft:p(99)<2s'")
    for target in rules.targets:
        if target.quantity.kind not in {"latency", "error"}:
            raise UsageError(
                f"{target.id}: a search meets upper bounds of latencies and of the error rate; "
                f"{target.metric} is no such figure"
            )
        if target.severity != "fail":
            raise UsageError(f"{target.id}: what is only shown ({target.severity}) cannot be searched for")
        if target.where:
            raise UsageError(f"{target.id}: a search is about all requests")
    return rules.targets


def fewest_samples(targets: Sequence[Target]) -> int:
    """So many requests it takes at least until all requirements can be met clearly."""
    return max((fewest(target) for target in targets), default=0)


def judge(targets: Sequence[Target], report: Report, run: Path) -> tuple[Verdict, str]:
    """Whether a run meets all requirements beyond what chance may have done, and why not.

    Percentiles and the error rate are judged by exact binomial tests, means by their standard error; a
    minimum or a maximum as it is. A request that failed is over every bound, unless it is said how many may.
    """
    shares = [target for target in targets if target.quantity.kind == "latency" and allowed_share(target)]
    counted = dict(zip(shares, exceeding(run, shares), strict=True))
    may_fail = any(target.quantity.kind == "error" for target in targets)
    failed = 0 if may_fail else report.counts.failed
    unclear = ""
    for target in targets:
        if target in counted:
            of, allowed = counted[target], allowed_share(target) or 0.0
            # Gaps between tokens are counted one by one, and a request that failed has no number of them.
            lost = 0 if target.metric == "itl" else failed
            verdict = of_share(of.over + lost, of.count + lost, allowed)
            seen = f"{of.over} of {of.count} are over it" + f", and {lost} failed" * bool(lost)
        else:
            verdict, seen = _other(target, report)
        if verdict is Verdict.MISSED:
            return verdict, f"{target.id}: {seen}"
        unclear = unclear or (f"{target.id}: {seen}" if verdict is Verdict.UNCLEAR else "")
    return (Verdict.UNCLEAR, unclear) if unclear else (Verdict.MET, "")


def _other(target: Target, report: Report) -> tuple[Verdict, str]:
    if target.quantity.kind == "error":
        failed = report.counts.failed + report.counts.cancelled
        ended = report.counts.completed + failed
        return of_share(failed, ended, target.bound), f"{failed} of {ended} failed"
    summary = getattr(report, f"{target.metric}_ms")
    if summary is None:
        return Verdict.MISSED, "there are no samples"
    seen = f"the {spell(target.stat)} is {getattr(summary, target.stat):.3g} ms"
    if target.stat == "mean":
        return of_mean(summary, target.bound), seen
    met = COMPARE[target.op](getattr(summary, target.stat), target.bound)
    return Verdict.MET if met else Verdict.MISSED, seen
