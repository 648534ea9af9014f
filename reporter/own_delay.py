"""The client's own share of the time to the first token: what of it would go away if the client took no time.

The time that counts runs from the schedule to the first token, without the set-up of a connection. Its part
before `sent` (`own_ms`: issue lag, and send lag over an open connection) is the client's own; what is left is
the server's TTFT. The share compares the percentiles of the two distributions, and so asks what the client
changed in the figure that is read, not what it did to single requests:

    own share = 1 - p99(TTFT) / p99(own + TTFT)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.report import OwnLimit, Summary

IDLE_LAG_MS: Final = 1.0
"""How late an idle loop runs a timer, as its poll counts in milliseconds; arrivals do not wait for it."""


# From the stamps, whatever the definitions let a TTFT count from. A response that is not streamed has its
# first token when it is complete.
_SINCE_SENT: Final = "(coalesce(first_token_ns, complete_ns) - sent_ns) / 1e6"
SERVER_MS: Final = f"CASE WHEN own_ms IS NOT NULL THEN {_SINCE_SENT} END"
"""SQL over `samples` for the time to the first token without the client's own delay, where that is known."""
ALL_MS: Final = f"own_ms + {_SINCE_SENT}"
"""The same, with it."""


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
class OwnDelay:
    """The client's part of the median and of the p99, over so many requests."""

    count: int
    p50: OwnPart
    p99: OwnPart


def own_delay(with_own: Summary | None, without: Summary | None, late_ms: float) -> OwnDelay | None:
    """Compare the time to the first token with and without the client's own delay.

    Args:
        with_own: Of `ALL_MS`.
        without: Of `SERVER_MS`.
        late_ms: What of the TTFT itself is the client's own, from `late_reads_ms`.

    Returns:
        None where no measured request completed whose own delay is known.
    """
    if with_own is None or without is None:
        return None

    def part(name: str) -> OwnPart:
        of_ms = getattr(with_own, name)
        return OwnPart(min(of_ms, max(0.0, of_ms - getattr(without, name) + late_ms)), of_ms)

    return OwnDelay(with_own.count, part("p50"), part("p99"))


def late_reads_ms(timestamp_source: str | None, client: Mapping[str, Any]) -> float:
    """How much later than they came arrivals are stamped: an estimate, and 0 where the kernel stamps them.

    Where the client stamps what it reads, it reads as late as its event loop runs: by the median lag of the
    slowest worker's loop, less what an idle loop's timer is late.
    """
    if timestamp_source != "read":
        return 0.0
    return max(0.0, (client.get("loop_lag_p50_ms") or 0.0) - IDLE_LAG_MS)
