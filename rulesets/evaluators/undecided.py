"""Targets that no figure decides: scores that are not final, doubtful clocks, and tags without a request."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from rulesets.errors import listing, suggestion
from rulesets.evaluators import facts, figure
from rulesets.evaluators.rule_row import RuleOutcome, bound_text, figure_text
from rulesets.quantity import COMPARE, SCORES
from rulesets.target import meets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulesets.evidence import Accuracy, Evidence, Where
    from rulesets.target import Target


_NO_TAGS: Final = frozenset({"phase", "stage", "time"})
"""What a report breaks requests down by, and rules do not."""
_OWN: Final = ("endpoint", "turn")
"""The tags of every request; a report leaves out those with a single value."""


def tags_remedy(where: Where, report: Mapping[str, Any]) -> str:
    """Name the nearest tag or value for the first tag that the run lacks, else the requests to issue."""
    tags = {name: rows for name, rows in facts.section(report, "breakdown").items() if name not in _NO_TAGS}
    for tag, value in where:
        if tag in tags:
            values = [row.get("value") for row in tags[tag]]
            if value not in values and all(row.get("values") == 1 for row in tags[tag]):
                return f"no request has {tag}:{value}; {suggestion(value, filter(None, values))}"
        elif tag not in _OWN:
            return f"no request has the tag {tag!r}; {_which(tag, tags)}"
    pairs = listing((f"{tag}:{value}" for tag, value in where), last="and")
    return f"ask something that is tagged {pairs}"


def _which(tag: str, tags: Mapping[str, Any]) -> str:
    return suggestion(tag, tags) if tags else "the run has no tags: a dataset gives them (docs/workloads.md)"


_OF: Final = {"tps_per_gpu": "total_tps", "good": "qps"}
"""The throughput of the report that a metric is a part of."""

REMEDY: Final = "measure for longer, or use nodes with a shorter way to the coordinator"


def with_clock_doubt(target: Target, outcome: RuleOutcome, run: Evidence) -> RuleOutcome:
    """The outcome of a rate over time; inconclusive where the nodes' clocks decide the outcome.

    A latency has the stamps of one clock, and is not in doubt.

    Args:
        target: The target.
        outcome: By the figure as it is.
        run: The run; its report has the ends of each throughput. That of a part of the requests, and the rate
            of those that met a goal, are taken to be in doubt by the same share.
    """
    nodes, value = run.report.get("nodes"), figure.observe(target, run).value
    metric = _OF.get(target.metric, target.metric)
    whole = run.report.get("throughput", {}).get(metric)
    if not nodes or outcome.status not in {"PASS", "FAIL"} or not value or not whole:
        return outcome
    name, asked = figure.name_of(target), bound_text(target.value, target.unit)
    low, high = nodes[f"{metric}_low"], nodes[f"{metric}_high"]
    if low is None or high is None:
        reason = "the clock of a node was never compared with the coordinator's"
    else:
        ends = (value * low / whole, value * high / whole)
        if all(meets(target, end) == meets(target, value) for end in ends):
            return outcome
        shown = [figure_text(target.in_unit(end), target.value, target.unit) for end in ends]
        reason = f"{name} is between {shown[0]} and {shown[1]} by the nodes' clocks"
    return replace(
        outcome,
        status="INCONCLUSIVE",
        met=outcome.status != "FAIL",
        reason=f"{reason}, and {target.op} {asked} is required",
        remedy=REMEDY,
    )


def unscored_outcome(target: Target, run: Evidence) -> RuleOutcome | None:
    """Evaluate a target on a score that waits for a judge model; None for a final or absent score.

    Such a score never passes. It fails where it would fail whatever these answers score: with all of them
    right, and with all of them wrong, as they count now.

    Raises:
        Unanswerable: The name of the score may mean several.
    """
    score = run.accuracy(target.metric.removeprefix(SCORES))
    if score is None or not score.unscored:
        return None
    name, best = target.metric.removeprefix(SCORES), score.best
    if score.unscored == score.n and score.value is None:
        reason = f"{name} is not known: none of {score.n:,} answers has a score"
    else:
        reason = f"{name} is not known: {score.unscored:,} of {score.n:,} answers have no score"
    if best is None or any(COMPARE[target.op](end, target.bound) for end in (_worst(score), best)):
        return RuleOutcome(
            "INCONCLUSIVE", score.value, score.n, "lower bound", reason=reason, remedy=score.remedy
        )
    return RuleOutcome(
        "FAIL",
        score.value,
        score.n,
        "lower bound",
        reason=f"{reason}; were they all right it would be "
        f"{figure_text(target.in_unit(best), target.value, target.unit)}; "
        f"required: {target.op} {bound_text(target.value, target.unit)}",
    )


def _worst(score: Accuracy) -> float:
    """The score if every unscored answer were wrong; 0 without any scored answer."""
    return 0.0 if score.value is None else score.value
