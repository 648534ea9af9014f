"""Throughputs of several machines: clocks are uncertain, and both extremes must agree.

A latency has the stamps of one clock, and is not in doubt.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rulesets.evaluators import figure
from rulesets.evaluators.rule_row import RuleOutcome, figure_in_words
from rulesets.metric import meets

if TYPE_CHECKING:
    from rulesets.evidence import Evidence
    from rulesets.target import Target

_OF: Final = {"tps_per_gpu": "total_tps", "good": "qps"}
"""The throughput of the report that a metric is a part of."""

REMEDY: Final = "measure for longer, or use nodes with a shorter way to the coordinator"


def with_clock_doubt(target: Target, outcome: RuleOutcome, run: Evidence) -> RuleOutcome:
    """The outcome of a rate over time; inconclusive where the nodes' clocks decide the outcome.

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
    name, asked = figure.name_of(target), figure_in_words(target.value, target.unit)
    low, high = nodes[f"{metric}_low"], nodes[f"{metric}_high"]
    if low is None or high is None:
        reason = "the clock of a node was never compared with the coordinator's"
    else:
        ends = (value * low / whole, value * high / whole)
        if all(meets(target, end) == meets(target, value) for end in ends):
            return outcome
        shown = [figure_in_words(float(f"{end:.6g}"), target.unit) for end in ends]
        reason = f"{name} is between {shown[0]} and {shown[1]} by the nodes' clocks"
    return replace(
        outcome,
        status="INCONCLUSIVE",
        met=outcome.status != "FAIL",
        reason=f"{reason}, and {target.op} {asked} is required",
        remedy=REMEDY,
    )
