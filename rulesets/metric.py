"""The four metrics of the MLPerf endpoints metrics specification: a target, and what meets it.

Every target is one-sided: a server that is faster than its target is valid. The specification's own code
(mlcommons/endpoints, `src/inference_endpoint/metrics/metric.py`) holds throughput and query latency to their
targets from both sides, within 10 % of the greater of the two, and so calls a server invalid whose throughput
is 11.2 % above its target. See docs/rulesets.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from rulesets.errors import TargetError


@dataclass(frozen=True, slots=True)
class Throughput:
    """At least so many queries/s.

    Raises:
        TargetError: The target is not a positive, finite number.
    """

    target: float

    def __post_init__(self) -> None:
        _check(self.target, "throughput", "queries/s")

    def is_valid(self, measurement: float | None) -> bool:
        """Tell whether a throughput in queries/s meets the target. None, NaN and infinity never do."""
        return measurement is not None and self.target <= measurement < math.inf


@dataclass(frozen=True, slots=True)
class _AtMost:
    """A latency in ms that is not to be exceeded.

    Raises:
        TargetError: The target is not a positive, finite number.
    """

    target: float
    label: ClassVar[str]

    def __post_init__(self) -> None:
        _check(self.target, self.label, "ms")

    def is_valid(self, measurement: float | None) -> bool:
        """Tell whether a latency in ms meets the target. None, NaN and negative times never do."""
        return measurement is not None and 0 <= measurement <= self.target


class TTFT(_AtMost):
    """At most so many ms from the request to its first token."""

    __slots__ = ()
    label = "TTFT"


class TPOT(_AtMost):
    """At most so many ms for each output token after the first."""

    __slots__ = ()
    label = "TPOT"


class QueryLatency(_AtMost):
    """At most so many ms from the request to the complete response.

    Args:
        target_latency_ms: The target, in ms.
        target_qps: Instead of it, queries/s one after the other: the target is 1000 / target_qps ms.

    Raises:
        TargetError: Both or neither are given, or the one given is not a positive, finite number.
    """

    __slots__ = ()
    label = "query latency"

    def __init__(self, target_latency_ms: float | None = None, target_qps: float | None = None) -> None:
        if (target_latency_ms is None) == (target_qps is None):
            raise TargetError("value", "a query latency takes either target_latency_ms or target_qps")
        if target_qps is not None:
            _check(target_qps, self.label, "queries/s")
            target_latency_ms = 1000 / target_qps
        super().__init__(target_latency_ms)  # type: ignore[arg-type]  # one of the two was given


def _check(target: object, label: str, unit: str) -> None:
    number = isinstance(target, int | float) and not isinstance(target, bool)
    if not number or not 0 < target < math.inf:  # type: ignore[operator]  # it is a number by now
        raise TargetError(
            "value", f"the target of {label} must be a positive, finite number of {unit}, not {target!r}"
        )
