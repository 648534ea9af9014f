"""One run of a sweep, and the figures of the run's report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from lazy_dataclasses import dataclass
from rulesets.evaluators import facts
from rulesets.quantity import METRIC_ALIASES, PERCENTILE, STAT_ALIASES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rulesets.verdict import Verdict

_MS_A_SECOND: Final = 1000.0
_INTERACTIVITY: Final = "tps_per_user"
_A_GPU: Final = "tps_per_gpu"

End = Literal["low", "high"]

_OF_TPOT: Final[Mapping[End, End]] = {"low": "high", "high": "low"}
"""The end of TPOT at which interactivity is at its own."""


@dataclass(frozen=True, slots=True)
class Point:
    """One run of a sweep.

    Attributes:
        concurrency: Requests in flight; of an offline point, how many were asked at once. None where it was
            not prescribed.
        offline: Whether everything was asked at once.
        report: Its report as plain values, keyed as report.json is.
        verdict: Its own verdict; None where it was not evaluated.
        name: What it is called in a sentence; its concurrency where it has none.
    """

    concurrency: int | None
    offline: bool
    report: Mapping[str, Any]
    verdict: Verdict | None = None
    name: str = ""

    def __str__(self) -> str:
        """The name of the point."""
        if self.name:
            return self.name
        return "offline" if self.offline else f"concurrency {self.concurrency}"

    @property
    def stands(self) -> bool:
        """Whether the figures can represent the server: neither report nor rules call the run invalid.

        A run that is accepted in spite of its report (`--on-invalid warn`) stands unless its rules are
        locked, which its verdict says.
        """
        validity = facts.section(self.report, "validity")
        stands = validity.get("valid") is True or validity.get("accepted") is True
        return stands and (self.verdict is None or self.verdict.status != "INVALID")


@dataclass(frozen=True, slots=True)
class FigureAxis:
    """A figure that points are laid out by.

    Attributes:
        metric: `tps_per_user`, `tps_per_gpu`, or a rate of the report.
        stat: Of `tps_per_user`: the statistic of TPOT that it is 1000 / of.
        tokens: Of `tps_per_gpu`: `input_plus_output`, or `output`.
    """

    metric: str
    stat: str = "p50"
    tokens: str = "input_plus_output"

    @classmethod
    def of(cls, axis: str | Mapping[str, Any]) -> FigureAxis:
        """Read an axis: the name of a metric, or `metric` with `stat` or `tokens`."""
        keys = {"metric": axis} if isinstance(axis, str) else dict(axis)
        stat = str(keys.get("stat", "p50"))
        percentile = PERCENTILE.fullmatch(stat)
        return cls(
            metric=METRIC_ALIASES.get(keys["metric"], keys["metric"]),
            stat=f"p{percentile[1] or percentile[2]}" if percentile else STAT_ALIASES.get(stat, stat),
            tokens=str(keys.get("tokens", "input_plus_output")),
        )

    def figure(self, point: Point, end: End | None = None) -> float | None:
        """The figure of a point, tokens or requests per second; None where the report has none above 0.

        Args:
            point: The point.
            end: The least or the most that it can be, if stamps are in doubt; None for the stamped figure.
        """
        if self.metric == _INTERACTIVITY:
            doubtful = facts.section(point.report, "bounds", "tpot_ms", _OF_TPOT[end]) if end else {}
            summary = doubtful or facts.section(point.report, "tpot_ms")
            tpot = facts.number(summary.get(self.stat.replace(".", "")))
            return _MS_A_SECOND / tpot if tpot else None
        if self.metric == _A_GPU:
            rate, gpus = _rate(point, self._counted), facts.number(facts.run(point.report).get("gpus"))
            return rate / gpus if rate and gpus else None
        return _rate(point, self.metric)

    @property
    def _counted(self) -> str:
        return "total_tps" if self.tokens == "input_plus_output" else "output_tps"

    def __str__(self) -> str:
        """The axis in the short form."""
        return f"{self.metric}:{self.stat}" if self.metric == _INTERACTIVITY else self.metric


def _rate(point: Point, metric: str) -> float | None:
    return facts.number(facts.section(point.report, "throughput").get(metric)) or None


def standing(points: Sequence[Point]) -> list[Point]:
    """The points that count."""
    return [point for point in points if point.stands]


def listed(points: Sequence[Point]) -> str:
    """Name points in a sentence."""
    return ", ".join(map(str, points))
