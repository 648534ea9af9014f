"""The four metrics of the MLPerf endpoints metrics specification, with targets and checks.

`rulesets.ruleset_of_metrics` makes a ruleset of them. Every target is one-sided: a server that is faster than
its target is valid. The specification's own code (mlcommons/endpoints,
`src/inference_endpoint/metrics/metric.py`) holds throughput and query latency to their targets from both
sides, within 10 % of the greater of the two, and so calls a server invalid whose throughput is 11.2 % above
its target: `is_close` is that check. See docs/rulesets.md.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Final

from lazy_dataclasses import dataclass
from rulesets.errors import TargetError
from rulesets.target import Target

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Metric(ABC):
    """A figure of a run that must meet a target.

    Attributes:
        target: The target, in `unit`.
        strict: Whether the target itself does not meet it.

    Raises:
        TargetError: The target is not a positive, finite number.
    """

    target: float
    strict: bool = False
    label: ClassVar[str]
    """What it is called in a sentence."""
    unit: ClassVar[str]
    """What the target is in, as a sentence says it."""
    name: ClassVar[str]
    """What rules call it (docs/metrics.md)."""
    REL_TOL: ClassVar = 0.1
    """The tolerance of `is_close`, as the specification declares it for throughput and query latency."""

    def __post_init__(self) -> None:
        _check(self.target, self.label, self.unit)

    @abstractmethod
    def is_valid(self, measurement: float | None) -> bool:
        """Tell whether a measurement in `unit` meets the target. None, NaN and infinity never do."""

    def is_close(self, measurement: float | None) -> bool:
        """Tell whether a measurement and the target differ by at most `REL_TOL` of the greater of the two.

        The specification's own check, from both sides: a server that is faster than `1 / (1 - REL_TOL)` times
        the target fails too. Verdicts use `is_valid`.
        """
        return measurement is not None and math.isclose(measurement, self.target, rel_tol=self.REL_TOL)

    @abstractmethod
    def requirement(self, stat: str = "p99") -> Target:
        """The metric as a target of a ruleset.

        Args:
            stat: The statistic of a latency that must meet the target; a throughput has only one.

        Raises:
            TargetError: The statistic does not exist.
        """


class Throughput(Metric):
    """A minimum of queries per second.

    Args:
        target_qps: The target, in queries/s.
        strict: Whether the target itself does not meet it.

    Raises:
        TargetError: The target is not a positive, finite number.
    """

    __slots__ = ()
    label = "throughput"
    unit = "queries/s"
    name = "qps"

    def __init__(self, target_qps: float, *, strict: bool = False) -> None:
        super().__init__(target_qps, strict)

    def is_valid(self, measurement: float | None) -> bool:
        """Tell whether a throughput in queries/s meets the target. None, NaN and infinity never do."""
        if measurement is None or not measurement < math.inf:
            return False
        return measurement > self.target if self.strict else measurement >= self.target

    def requirement(self, stat: str = "p99") -> Target:
        """The metric as a target of a ruleset; a throughput has one statistic, whatever is asked for."""
        del stat
        return Target.of(metric=self.name, op=">" if self.strict else ">=", value=self.target, unit="req/s")


class _Latency(Metric):
    """A latency in ms that is not to be exceeded."""

    __slots__ = ()
    unit = "ms"

    def is_valid(self, measurement: float | None) -> bool:
        """Tell whether a latency in ms meets the target. None, NaN and negative times never do."""
        if measurement is None or not measurement >= 0:
            return False
        return measurement < self.target if self.strict else measurement <= self.target

    def requirement(self, stat: str = "p99") -> Target:
        """The metric as a target of a ruleset: the bounded statistic of the latencies."""
        op = "<" if self.strict else "<="
        return Target.of(metric=self.name, stat=stat, op=op, value=self.target, unit="ms")


class TTFT(_Latency):
    """A maximum of the time from the request to the first token, in ms.

    Args:
        max_ttft_latency_ms: The target, in ms.
        strict: Whether the target itself does not meet it.

    Raises:
        TargetError: The target is not a positive, finite number.
    """

    __slots__ = ()
    label = "TTFT"
    name = "ttft"

    def __init__(self, max_ttft_latency_ms: float, *, strict: bool = False) -> None:
        super().__init__(max_ttft_latency_ms, strict)


class TPOT(_Latency):
    """A maximum of the time for each output token after the first, in ms.

    Args:
        max_tpot_latency_ms: The target, in ms.
        strict: Whether the target itself does not meet it.

    Raises:
        TargetError: The target is not a positive, finite number.
    """

    __slots__ = ()
    label = "TPOT"
    name = "tpot"

    def __init__(self, max_tpot_latency_ms: float, *, strict: bool = False) -> None:
        super().__init__(max_tpot_latency_ms, strict)


class QueryLatency(_Latency):
    """A maximum of the time from the request to the complete response, in ms.

    Args:
        target_latency_ms: The target, in ms.
        target_qps: Instead of it, queries/s one after the other: the target is 1000 / target_qps ms.
        strict: Whether the target itself does not meet it.

    Raises:
        TargetError: Both or neither are given, or the one given is not a positive, finite number.
    """

    __slots__ = ()
    label = "query latency"
    name = "latency"

    def __init__(
        self,
        target_latency_ms: float | None = None,
        target_qps: float | None = None,
        *,
        strict: bool = False,
    ) -> None:
        if (target_latency_ms is None) == (target_qps is None):
            raise TargetError("value", "a query latency takes either target_latency_ms or target_qps")
        if target_qps is not None:
            _check(target_qps, self.label, "queries/s")
            target_latency_ms = 1000 / target_qps
        super().__init__(target_latency_ms, strict)  # type: ignore[arg-type]  # one of the two was given


_METRICS: Final[Mapping[tuple[str, str], type[Throughput | TTFT | TPOT | QueryLatency]]] = {
    (kind.name, op): kind
    for kind, ops in (
        (Throughput, (">", ">=")),
        (TTFT, ("<", "<=")),
        (TPOT, ("<", "<=")),
        (QueryLatency, ("<", "<=")),
    )
    for op in ops
}
"""The metric that a target of a ruleset is, by its name and its operator."""


def metric_of(target: Target) -> Metric | None:
    """The metric that a target of a ruleset is; None for any other figure, or a change of one."""
    kind = None if target.delta else _METRICS.get((target.metric, target.op))
    if kind is None or not 0 < target.bound < math.inf:
        return None
    return kind(target.bound, strict=target.op in {"<", ">"})


def _check(target: object, label: str, unit: str) -> None:
    number = isinstance(target, int | float) and not isinstance(target, bool)
    if not number or not 0 < target < math.inf:  # type: ignore[operator]  # it is a number by now
        raise TargetError(
            "value", f"the target of {label} must be a positive, finite number of {unit}, not {target!r}"
        )
