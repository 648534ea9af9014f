"""A run in progress over time: the report's plots, from every ended request once, in bounded memory.

Rates, requests in flight and tokens are those of `reporter.plots.over_time` for measured requests; a
percentile is that of values rounded to `_STEP` of their size.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from reporter.live.growing_log import ENDED
from reporter.plots.make import PLOTS
from reporter.plots.plot_value import Plot, PlotSeries

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reporter.live.growing_log import UnendedRequest

MOST_MOMENTS: Final = 120
_FIRST_WIDTH_S: Final = 0.5
_STEP: Final = 0.02
"""Latencies of one bin differ by this share."""

QUERY: Final = f"""
    SELECT node, segment, status, scheduled_ns, issued_ns, ended_ns, first_token_ns, last_token_ns,
        coalesce(output_tokens, 0), ttft_ms, latency_ms
    FROM samples WHERE {ENDED} AND issued_ns IS NOT NULL"""  # noqa: S608 (a constant)

_RATES: Final = ("wanted", "completed", "failed")
_LATENCIES: Final = ("ttft", "latency")
_FAILED: Final = "failed requests"

LIVE_PLOTS: Final = (
    "ttft-over-time",
    "latency-over-time",
    "rate-over-time",
    "tokens-over-time",
    "in-flight-over-time",
)


class LiveMoments:
    """The requests of a run's last segment by moments, at most `MOST_MOMENTS`, which double in width.

    Args:
        is_open: Whether the load is open, so that requests are due at their own times.

    Attributes:
        width_s: The width of a moment.
        latest_s: When the last request ended, since the first one was issued.
    """

    def __init__(self, *, is_open: bool) -> None:
        self._is_open = is_open
        self._segment = 0
        self._begin()

    def _begin(self) -> None:
        self.width_s = _FIRST_WIDTH_S
        self.latest_s = 0.0
        self._first_ns: dict[str | None, int] = {}
        self._sums: dict[str, defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
        self._bins: dict[str, defaultdict[int, Counter[int]]] = defaultdict(lambda: defaultdict(Counter))
        self._last = 0

    def add(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Take ended requests, as rows of `QUERY`."""
        # Nodes have their own clocks: each counts from its first request.
        for row in sorted(rows, key=lambda row: (row[1], row[4])):
            self._add(*row)

    def plots(self, in_flight: Sequence[UnendedRequest], idle_s: float = 0.0) -> tuple[Plot, ...]:
        """The plots so far.

        Args:
            in_flight: The requests in flight, which last until now.
            idle_s: The time since the last call of `add` with a request.
        """
        flying: defaultdict[int, float] = defaultdict(float)
        issued = [self._at_s(of.node, of.issued_ns) for of in in_flight if of.segment == self._segment]
        now_s = max([self.latest_s + idle_s, *issued])
        self._reach(now_s)
        for issued_s in issued:
            _spread(flying, issued_s / self.width_s, now_s / self.width_s, 1.0)
        return tuple(plot for name in LIVE_PLOTS if (plot := self._plot(name, flying)) is not None)

    def _add(
        self,
        node: str | None,
        segment: int,
        status: str,
        scheduled_ns: int | None,
        issued_ns: int,
        ended_ns: int,
        first_token_ns: int | None,
        last_token_ns: int | None,
        tokens: int,
        *latencies_ms: float | None,
    ) -> None:
        if segment != self._segment:
            self._segment = segment
            self._begin()
        issued_s, ended_s = self._at_s(node, issued_ns), self._at_s(node, ended_ns)
        self.latest_s = max(self.latest_s, ended_s)
        self._reach(ended_s)
        width_s, sums = self.width_s, self._sums
        _spread(sums["in flight"], issued_s / width_s, ended_s / width_s, 1.0)
        if self._is_open and scheduled_ns is not None:
            sums["wanted"][max(0, int(self._at_s(node, scheduled_ns) / width_s))] += 1
        if status in _RATES:
            sums[status][int(ended_s / width_s)] += 1
        moment = int(issued_s / width_s)
        if status == "failed":
            _count(self._bins[_FAILED], moment, 1e3 * (ended_s - issued_s))
        if status != "completed":
            return
        for name, value_ms in zip(_LATENCIES, latencies_ms, strict=True):
            _count(self._bins[name], moment, value_ms)
        first, last = (
            ended_s if at_ns is None else self._at_s(node, at_ns) for at_ns in (first_token_ns, last_token_ns)
        )
        first, last = first / width_s, max(last / width_s, first / width_s + 1e-9)
        _spread(sums["output tokens"], first, last, tokens / (last - first))

    def _at_s(self, node: str | None, at_ns: int) -> float:
        return max(0.0, (at_ns - self._first_ns.setdefault(node, at_ns)) / 1e9)

    def _reach(self, at_s: float) -> None:
        """Make a moment for a time; join moments in pairs above `MOST_MOMENTS`."""
        while at_s / self.width_s >= MOST_MOMENTS:
            self.width_s *= 2
            self._last //= 2
            for name, sums in self._sums.items():
                self._sums[name] = _joined(sums, 0.5 if name == "in flight" else 1.0)
            for name, bins in self._bins.items():
                joined: defaultdict[int, Counter[int]] = defaultdict(Counter)
                for moment, counts in bins.items():
                    joined[moment // 2] += counts
                self._bins[name] = joined
        self._last = max(self._last, int(at_s / self.width_s))

    def _plot(self, name: str, flying: Mapping[int, float]) -> Plot | None:
        definition = PLOTS[name]
        drawn = self._series(name.removesuffix("-over-time"), flying)
        series = tuple(replace(of, kind=definition.kind_of(of.name)) for of in drawn)
        return Plot(name, definition.title, definition.x, definition.y, series, "") if series else None

    def _series(self, subject: str, flying: Mapping[int, float]) -> Iterator[PlotSeries]:
        if subject in _LATENCIES:
            for name, share in (("p50", 0.5), ("p99", 0.99)):
                yield from self._percentile(name, subject, share)
            if subject == "ttft":
                yield from self._percentile(_FAILED, _FAILED, 0.5)
            return
        names, divisor = {
            "rate": (_RATES, self.width_s),
            "tokens": (("output tokens",), self.width_s),
            "in-flight": (("in flight",), 1.0),
        }[subject]
        for name in names:
            sums: Mapping[int, float] = self._sums.get(name, {})
            extra: Mapping[int, float] = flying if name == "in flight" else {}
            if self._last and (sums or extra):
                moments = range(self._last)  # the last one is not over
                values = [(sums.get(moment, 0.0) + extra.get(moment, 0.0)) / divisor for moment in moments]
                yield PlotSeries(
                    name, "step", tuple(moment * self.width_s for moment in moments), tuple(values)
                )

    def _percentile(self, name: str, subject: str, share: float) -> Iterator[PlotSeries]:
        bins = self._bins.get(subject)
        if bins:
            moments = sorted(bins)
            x = tuple((moment + 0.5) * self.width_s for moment in moments)
            yield PlotSeries(name, "line", x, tuple(_quantile(bins[moment], share) for moment in moments))


def _spread(sums: defaultdict[int, float], first: float, last: float, height: float) -> None:
    """Add a height from one place to another, each moment by the share that is covered."""
    for moment in range(int(first), int(last) + 1):
        sums[moment] += height * max(0.0, min(last, moment + 1) - max(first, moment))


def _joined(sums: Mapping[int, float], share: float) -> defaultdict[int, float]:
    joined: defaultdict[int, float] = defaultdict(float)
    for moment, value in sums.items():
        joined[moment // 2] += share * value
    return joined


def _count(bins: defaultdict[int, Counter[int]], moment: int, value_ms: float | None) -> None:
    if value_ms is not None and value_ms > 0:
        bins[moment][round(math.log(value_ms) / _STEP)] += 1


def _quantile(bins: Mapping[int, int], share: float) -> float:
    """The value with this share of all values at or below, by nearest rank."""
    rank = max(1, math.ceil(share * sum(bins.values())))
    for number in sorted(bins):
        rank -= bins[number]
        if rank <= 0:
            break
    return math.exp(number * _STEP)
