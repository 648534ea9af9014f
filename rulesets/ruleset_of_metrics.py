"""Metrics as a ruleset, and the metrics of a ruleset."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rulesets.errors import TargetError
from rulesets.expression import unparse
from rulesets.metric import metric_of
from rulesets.ruleset import Ruleset

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rulesets.metric import Metric


def reported_metrics(ruleset: Ruleset) -> tuple[Metric, ...]:
    """The metrics of a ruleset that are among the specification's four."""
    return tuple(metric for target in ruleset.targets if (metric := metric_of(target)) is not None)


def of_metrics(metrics: Iterable[Metric], stat: str = "p99") -> Ruleset:
    """Make a ruleset of metrics.

    Args:
        metrics: One at least, none of them twice.
        stat: The statistic of latencies that must meet their targets.

    Raises:
        TargetError: No metric is given, one is given twice, or the statistic does not exist.
    """
    targets = [metric.requirement(stat) for metric in metrics]
    if not targets:
        raise TargetError("value", "a ruleset of metrics takes one metric or more")
    names = [target.metric for target in targets]
    if twice := [name for name in names if names.count(name) > 1]:
        raise TargetError("value", f"{twice[0]} is there twice; leave one out")
    return Ruleset("metrics", "", tuple(replace(target, id=unparse(target)) for target in targets))
