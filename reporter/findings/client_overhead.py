"""Client overhead in the time to the first token: the part that would vanish with an infinitely fast client.

The time that counts runs from the schedule to the first token, without the set-up of a connection. Its part
before `sent` (`own_ms`: issue lag, and send lag over an open connection) is the client's own; what is left is
the server's TTFT. The share compares the percentiles of the two distributions, and so asks what the client
changed in the figure that is read, not what it did to single requests:

    overhead = 1 - p99(TTFT) / p99(own + TTFT)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass, field, replace
from reporter.distribution import COMPLETED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reporter.client_health import ClientHealth, OwnLimit
    from reporter.log.database import OpenLog
    from reporter.report import Summary

    Delays = Mapping[str, Summary | None]
    Figures = Callable[[str], float]

IDLE_LAG_MS: Final = 1.0
"""How late an idle loop runs a timer, as its poll counts in milliseconds; arrivals do not wait for it."""


# From the stamps, whatever the definitions let a TTFT count from. A response that is not streamed has its
# first token when it is complete.
_SINCE_SENT: Final = "(coalesce(first_token_ns, complete_ns) - sent_ns) / 1e6"
_WHOLE: Final = "(complete_ns - sent_ns) / 1e6"
_SINCE_SENT_LOW: Final = "since(sent_high_ns, coalesce(first_token_low_ns, complete_ns))"
_WHOLE_LOW: Final = "since(sent_high_ns, complete_low(complete_ns, last_token_ns, last_token_low_ns))"

METRICS: Final = ("ttft", "latency")
STATS: Final = ("mean", "p50", "p90", "p95", "p99", "p999", "max")
"""The statistics whose own part is known."""

DELAYS: Final = {
    "ttft_server": f"CASE WHEN own_ms IS NOT NULL THEN {_SINCE_SENT} END",
    "ttft_all": f"own_ms + {_SINCE_SENT}",
    "latency_server": f"CASE WHEN own_ms IS NOT NULL THEN {_WHOLE} END",
    "latency_all": f"own_ms + {_WHOLE}",
}
"""SQL over `samples` for the time to the first token, and to the completion, without client overhead
(`server`) and with it (`all`), where that is known; by the names of their summaries."""

ENDS: Final = {
    "ttft_server_low": f"CASE WHEN own_ms IS NOT NULL THEN {_SINCE_SENT_LOW} END",
    "ttft_all_low": f"own_ms + {_SINCE_SENT_LOW}",
    "latency_server_low": f"CASE WHEN own_ms IS NOT NULL THEN {_WHOLE_LOW} END",
    "latency_all_low": f"own_ms + {_WHOLE_LOW}",
    "own_low": "own_ms",
    "own_high": "own_ms + since(sent_ns, sent_high_ns)",
}
"""The same at their least, where stamps are uncertain, and the least and the most of a request's client
overhead."""


def with_delays(delays: Mapping[str, str]) -> str:
    """SQL from FROM on: the measured requests that completed, with their delays as columns."""
    return f"FROM (SELECT *, {', '.join(f'{sql} AS {name}' for name, sql in delays.items())} {COMPLETED})"


@dataclass(frozen=True, slots=True)
class OwnPart:
    """The client's part of a percentile: `ms` of the `of_ms` from the schedule to the first token."""

    ms: float
    of_ms: float

    @property
    def share(self) -> float:
        """The part as a share; of nothing it is nothing."""
        return self.ms / self.of_ms if self.of_ms else 0.0

    def exceeds(self, limit: OwnLimit, part: float = 1.0) -> bool:
        """Whether it is above the limit, or above a part of the share that the limit allows."""
        return self.ms > limit.ms and self.share > part * limit.share


@dataclass(frozen=True, slots=True)
class ClientOverhead:
    """The client's part of the median and of the p99.

    Attributes:
        parts: The client's part of each of `STATS`, of `ttft` and of `latency`.
        ends: The least and the most that these parts can be, where stamps are in doubt; None where they are
            exact.
        longest_ms: The longest delay of a request that completed, at its upper bound; None where it is not
            known.
    """

    count: int
    p50: OwnPart
    p99: OwnPart
    parts: Mapping[str, Mapping[str, OwnPart]] = field(default_factory=dict)
    ends: tuple[ClientOverhead, ClientOverhead] | None = None
    longest_ms: float | None = None

    @property
    def least(self) -> ClientOverhead:
        """With all parts at the least that they can be."""
        return self if self.ends is None else self.ends[0]

    @property
    def greatest(self) -> ClientOverhead:
        """With all parts at the most that they can be."""
        return self if self.ends is None else self.ends[1]


def overhead_of(delays: Delays, ends: Delays | None, late_ms: float) -> ClientOverhead | None:
    """Compare the time to the first token, and the latency, with and without client overhead.

    Args:
        delays: The summaries of `DELAYS`.
        ends: Those of `ENDS`, where stamps are in doubt.
        late_ms: The part of the TTFT itself that is client overhead, from `late_reads_ms`.

    Returns:
        None where no completed measured request has a known overhead.
    """
    own = _overhead(delays, late_ms, lambda figure: (figure("all"), figure("server")))
    if own is None or ends is None:
        return own
    both = {**delays, **ends}
    least, greatest = _overhead(both, late_ms, _least), _overhead(both, late_ms, _greatest)
    return own if least is None or greatest is None else replace(own, ends=(least, greatest))


def _least(figure: Figures) -> tuple[float, float]:
    """The time with client overhead and without it, where the overhead has the least share.

    The client's part is at least the least time with its delay less the greatest without it, and it is not
    less than the least delay of any request; of a mean, than the mean delay.
    """
    server_ms = figure("server")
    return server_ms + max(figure("all_low") - server_ms, figure("own_low")), server_ms


def _greatest(figure: Figures) -> tuple[float, float]:
    """The same, where the overhead has the greatest share."""
    server_ms = figure("server_low")
    return server_ms + min(figure("all") - server_ms, figure("own_high")), server_ms


def _overhead(
    summaries: Delays, late_ms: float, times: Callable[[Figures], tuple[float, float]]
) -> ClientOverhead | None:
    """Client overhead, from times with it and without it."""
    ttft = summaries["ttft_all"]
    if ttft is None:
        return None
    parts = {
        metric: {stat: _part(*times(_figures(summaries, metric, stat)), late_ms) for stat in STATS}
        for metric in METRICS
        if summaries[f"{metric}_all"] is not None
    }
    return ClientOverhead(ttft.count, parts["ttft"]["p50"], parts["ttft"]["p99"], parts)


def _figures(summaries: Delays, metric: str, stat: str) -> Figures:
    """Look a statistic of a metric up; of the client's delays, what bounds its part of that statistic."""

    def figure(name: str) -> float:
        own = {"own_low": "min", "own_high": "max"}.get(name)
        summary = summaries[name if own else f"{metric}_{name}"]
        return float(getattr(summary, own if own and stat != "mean" else stat))

    return figure


def _part(of_ms: float, server_ms: float, late_ms: float) -> OwnPart:
    return OwnPart(min(of_ms, max(0.0, of_ms - server_ms + late_ms)), of_ms)


_LONGEST: Final = f"SELECT max(coalesce(own_ms + since(sent_ns, sent_high_ns), issue_lag_ms)) {COMPLETED}"


def longest_delay_ms(log: OpenLog) -> float | None:
    """The longest client overhead of a measured request that completed, at its upper bound; None without one.

    With `late_reads_ms` it bounds how far latencies can lie above the stamped ones
    (`rulesets.evaluators.client_delay`); a failed request has no latency.
    """
    longest_ms: float | None
    ((longest_ms,),) = log.execute(_LONGEST).fetchall()
    return longest_ms


def late_reads_ms(timestamp_source: str | None, client: ClientHealth) -> float:
    """How much later than they came arrivals are stamped: an estimate, and 0 where the kernel stamps them.

    Where the client stamps what it reads, it reads as late as its event loop runs: by the median lag of the
    slowest worker's loop (the longest in a run too short for one), less what an idle loop's timer is late.
    """
    if timestamp_source != "read":
        return 0.0
    lag_ms = client.loop_lag_max_ms if client.loop_lag_p50_ms is None else client.loop_lag_p50_ms
    return max(0.0, (lag_ms or 0.0) - IDLE_LAG_MS)
