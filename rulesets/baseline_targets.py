"""The metrics of a baseline as targets: `tps: higher` is `tps:delta>=-3%`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rulesets.quantity import SCORES
from rulesets.target import Target

if TYPE_CHECKING:
    from rulesets.demands import Baseline


def targets(baseline: Baseline) -> tuple[Target, ...]:
    """The targets of a baseline, one for each metric.

    Raises:
        TargetError: A metric does not exist, or cannot be better in that direction.
    """
    return tuple(target(name, better, baseline) for name, better in baseline.metrics.items())


def target(name: str, better: str, baseline: Baseline) -> Target:
    """The target of one metric: `ttft.p95: lower` is `ttft:p(95):delta<=3%`.

    Raises:
        TargetError: The metric does not exist, or cannot be better in that direction.
    """
    metric, stat = (name, "") if name.startswith(SCORES) else name.partition(".")[::2]
    made = Target.of(
        metric=metric,
        stat=stat or None,
        op=">=" if better == "higher" else "<=",
        value=-baseline.min_effect if better == "higher" else baseline.min_effect,
        confidence={"level": 1 - baseline.alpha} if baseline.test == "mann_whitney" else None,
        delta=True,
    )
    return replace(made, id=f"baseline.{name}")
