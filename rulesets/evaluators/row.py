"""The outcome of one rule, as a row of a verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from rulesets.target import Severity  # noqa: TC001 (read at runtime: a stored verdict is validated)

Status = Literal["PASS", "FAIL", "INCONCLUSIVE", "INVALID", "SKIP"]
Group = Literal[
    "validity", "load", "target", "accuracy", "goodput", "audit", "steady_state", "baseline", "sweep"
]


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """The outcome of one rule.

    Attributes:
        id: The target's id, or `validity.KEY`, `load.KEY`, `audit.NAME`… for all other rules.
        target: The rule as text.
        observed: The figure, in `unit`; None when there is none, or an infinite one.
        bound: The bound, in `unit`; None for a rule that bounds no figure.
        unit: The unit that the rule is written in; empty for counts and fractions.
        n: The number of samples: gaps for itl, runs for a change, requests for all others.
        status: `PASS`; `FAIL` for a target that is missed or was not measured; `INVALID` for a rule that the
            run itself breaks; `INCONCLUSIVE` where there are too few samples for the demanded
            confidence; `SKIP` for a rule that does not apply.
        severity: Whether it counts for the whole (`fail`) or is only shown (`warn`, `info`).
        margin: The distance of the figure from the bound as a share of it, negative on the wrong side; None
            where the bound is 0 or there is no figure.
        reason: Why it did not pass; empty when it did.
        group: What kind of rule it is.
        method: How the figure was computed, and its confidence, in words.
        limit: The confidence limit that must meet the bound, in `unit`; None where the rule asks for none, or
            where there are too few samples for any.
        remedy: What would help; empty when it passed.
        source: Where the rule comes from.
    """

    id: str
    target: str
    observed: float | None
    bound: float | None
    unit: str
    n: int
    status: Status
    severity: Severity
    margin: float | None
    reason: str
    group: Group
    method: str = ""
    limit: float | None = None
    remedy: str = ""
    source: str = ""


def margin(observed: float | None, bound: float | None, *, met: bool) -> float | None:
    """The distance from the bound as a share of the bound, negative for a miss."""
    if observed is None or not bound:
        return None
    share = abs(observed - bound) / abs(bound)
    if not math.isfinite(share):
        return None
    return share if met else 0.0 - share  # -share would be -0.0 on the bound itself
