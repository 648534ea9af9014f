"""The figures of a run in progress, from the log so far."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Sequence

WINDOW_S = 10.0
"""The span that rates and percentiles are of."""


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Of the requests that completed in the last seconds, in ms."""

    p50: float
    p90: float
    p99: float


@dataclass(frozen=True, slots=True)
class LiveTarget:
    """A target so far: over all measured requests that have ended.

    Attributes:
        observed: The figure, in the unit of the target; None where there is none yet, or none is shown live.
        holds: Whether the figure meets the bound; None where that is not known yet.
        why: Why `holds` is None.
    """

    rule: str
    observed: float | None = None
    unit: str = ""
    holds: bool | None = None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFigures:
    """A run at one moment; a figure without data is None.

    Attributes:
        phase: `warmup`, `performance` or `drain`; `setup` before the first.
        issued: Requests issued since the performance phase began; before, since the warm-up did.
        rate: Requests that ended per second, of the last seconds.
        issued_rate: Requests issued per second, as above.
        wanted_rate: The rate of the load, where it is constant.
        output_tps: Output tokens of completed requests per second, as above.
        client: The last readings of each worker, parent and recorder; `source` says what each is of.
        nodes: The number of nodes; 0 for a run of one machine.
        awaited: The nodes whose logs are not there yet: their requests are in no figure.
        scored: How many answers have a score, if any has.
    """

    phase: str = "setup"
    elapsed_s: float = 0.0
    planned_s: float | None = None
    planned_requests: int | None = None
    issued: int = 0
    completed: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    cancelled: int = 0
    in_flight: int = 0
    rate: float | None = None
    issued_rate: float | None = None
    wanted_rate: float | None = None
    output_tps: float | None = None
    ttft: Percentiles | None = None
    tpot: Percentiles | None = None
    window_s: float = WINDOW_S
    client: Sequence[dict[str, Any]] = ()
    nodes: int = 0
    awaited: tuple[str, ...] = ()
    scored: int = 0
    mean_score: float | None = None
    targets: tuple[LiveTarget, ...] = ()

    @property
    def ended(self) -> int:
        """Requests that have ended."""
        return self.completed + self.errors.total() + self.cancelled

    @property
    def share(self) -> float | None:
        """The finished share of the phase, by the nearer limit; None for a phase without an end."""
        shares = []
        if self.planned_requests:
            shares.append(self.ended / self.planned_requests)
        if self.planned_s:
            shares.append(self.elapsed_s / self.planned_s)
        return min(1.0, max(shares)) if shares else None

    @property
    def left_s(self) -> float | None:
        """How long the phase still takes, at the rate of the last seconds; None where that is unknown."""
        left = []
        if self.planned_s is not None:
            left.append(max(0.0, self.planned_s - self.elapsed_s))
        if self.planned_requests and self.rate:
            left.append(max(0, self.planned_requests - self.ended) / self.rate)
        return min(left, default=None)
