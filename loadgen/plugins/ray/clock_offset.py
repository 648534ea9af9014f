"""The offset of a node's clock from the coordinator's, from round trips (as in NTP), with uncertainty.

The node's stamp was taken after the question was sent and before the answer was received, whatever the
network did in between. So each exchange bounds the offset, and several at once bound it closer. Nothing is
assumed of the two ways of a round trip, which may take differently long.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Final

from recorder.shards import MAX_DRIFT_PPM, ClockReading

if TYPE_CHECKING:
    from collections.abc import Sequence

_RESOLUTION_NS: Final = 1_000
"""Stamps of the two clocks are rounded, and a reading is written in µs."""


@dataclass(frozen=True, slots=True)
class ClockExchange:
    """A node's answer to a request for its time.

    Attributes:
        sent_ns: When it was asked, on the coordinator's clock.
        node_ns: The answer: the node's clock.
        received_ns: When the answer was there, on the coordinator's clock.
    """

    sent_ns: int
    node_ns: int
    received_ns: int

    @property
    def round_trip_ns(self) -> int:
        """The round-trip time."""
        return self.received_ns - self.sent_ns

    @property
    def middle_ns(self) -> int:
        """Half way between question and answer, on the coordinator's clock."""
        return (self.sent_ns + self.received_ns) // 2


def reading_of(node: str, exchanges: Sequence[ClockExchange]) -> ClockReading:
    """The offset at the moment of the shortest exchange.

    Each exchange bounds it: from below by the question, from above by the answer, both wider by the drift
    that is possible in the time between.
    """
    shortest = min(exchanges, key=lambda exchange: exchange.round_trip_ns)
    at_ns = shortest.middle_ns
    low_ns = max(exchange.sent_ns - exchange.node_ns - _drift_ns(exchange, at_ns) for exchange in exchanges)
    high_ns = min(
        exchange.received_ns - exchange.node_ns + _drift_ns(exchange, at_ns) for exchange in exchanges
    )
    # Bounds that contradict each other are of clocks that drift apart faster: then the truth is about there.
    return ClockReading(
        node=node,
        at_ns=at_ns,
        offset_ns=(low_ns + high_ns) // 2,
        uncertainty_ns=abs(high_ns - low_ns) // 2 + _RESOLUTION_NS,
        round_trip_ns=shortest.round_trip_ns,
    )


def _drift_ns(exchange: ClockExchange, at_ns: int) -> int:
    """How far the clocks may have drifted apart between the node's stamp and a moment."""
    between_ns = abs(exchange.middle_ns - at_ns) + exchange.round_trip_ns / 2
    return ceil(between_ns * MAX_DRIFT_PPM / 1e6)
