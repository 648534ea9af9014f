"""Overload, found once a run is over: an open loop whose queue grew for as long as requests were issued.

A span of one planned rate (a stage, or the run) is cut into ten blocks of equal length, after its first tenth
and the first completion. It is overloaded when all of this holds:

- More requests were issued than ended, by 5 % of the issued ones (25 % where the rate changes throughout) and
  by 2.5 standard errors, which the differences between the blocks give: a stationary queue returns.
- Response times rise from block to block (Mann-Kendall, p < 0.01), by half at least from the first three
  blocks to the last three: while a run fills up, more are in flight and none takes longer.

Of 500 simulated M/M/1, M/D/1, M/G/1 and 16-server queues of 100 to 1,000 requests each, at most 1 in 250 is
found at 85 % of the capacity or less; of 300 requests at 150 %, 89 to 100 %. Of conversations, whose rate is
one of beginnings, the first turns count. Requests that waited for --max-concurrency are `held_back` instead.
"""

from __future__ import annotations

import math
from statistics import fmean, variance
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from reporter.load_stages import stage_spans, stages_of
from reporter.windows.run_spans import SpanRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reporter.log.database import OpenLog

BLOCKS: Final = 10
FILLING: Final = 0.1
"""The part of a span that is left out at its start."""

GROWTH: Final = 0.05
GROWTH_OF_CHANGING: Final = 0.25
"""The share of the issued requests that must not have ended; where the rate itself changes all the time."""

DEVIATIONS: Final = 2.5
CHANCE: Final = 0.01
SLOWDOWN: Final = 1.5
_ENDS: Final = 3
"""Blocks at the start, and at the end, whose response times are compared."""

_SQL: Final = """
WITH firsts AS NOT MATERIALIZED (
    SELECT issued_ns, ended_ns, status
    FROM requests
    WHERE measured AND coalesce(turn, 0) = 0 AND issued_ns IS NOT NULL
), span AS (
    SELECT
        greatest($start_ns + $filling * ($end_ns - $start_ns), min(ended_ns))::BIGINT AS a,
        ($end_ns - a) / $blocks AS width_ns,
        max(ended_ns) AS last_ns
    FROM firsts
), issues AS (
    SELECT
        floor((issued_ns - a) / width_ns) AS block,
        count(*) AS issued,
        sum(coalesce(ended_ns, last_ns) - issued_ns)::DOUBLE / 1e9 / issued AS response_s
    FROM firsts, span
    WHERE width_ns > 0
    GROUP BY block
), ends AS (
    SELECT
        floor((ended_ns - a) / width_ns) AS block,
        count(*) AS ended,
        count(*) FILTER (status = 'completed') AS completed
    FROM firsts, span
    WHERE width_ns > 0 AND ended_ns IS NOT NULL
    GROUP BY block
)
SELECT
    $blocks * width_ns / 1e9,
    (coalesce((SELECT sum(issued) FROM issues WHERE block < 0), 0)
        - coalesce((SELECT sum(ended) FROM ends WHERE block < 0), 0))::BIGINT,
    (SELECT list([coalesce(issued, 0), coalesce(ended, 0), coalesce(completed, 0), response_s] ORDER BY k)
        FROM range($blocks) AS blocks(k)
        LEFT JOIN issues ON issues.block = k
        LEFT JOIN ends ON ends.block = k)
FROM span
"""


@dataclass(frozen=True, slots=True)
class LoadBlock:
    """A tenth of a span: requests issued and ended in it, and the mean response time of the issued ones."""

    issued: int
    ended: int
    completed: int
    response_s: float | None


@dataclass(frozen=True, slots=True)
class RateSpan:
    """A span of one planned rate.

    Attributes:
        stage: The label of the stage; empty for a run without stages.
        seconds: The length of its blocks together.
        in_flight: Requests in flight at the start of the first block.
    """

    stage: str
    seconds: float
    in_flight: int
    blocks: Sequence[LoadBlock]

    @property
    def issued(self) -> int:
        """The requests issued in its blocks."""
        return sum(block.issued for block in self.blocks)

    @property
    def rate(self) -> float:
        """The issued req/s."""
        return self.issued / self.seconds

    @property
    def growth(self) -> int:
        """Requests issued and not ended."""
        return self.issued - sum(block.ended for block in self.blocks)

    @property
    def completed_rate(self) -> float:
        """The completed req/s."""
        return sum(block.completed for block in self.blocks) / self.seconds


@dataclass(frozen=True, slots=True)
class Overload:
    """The spans in which the queue grew, and the fastest slower one in which it did not, if any."""

    spans: Sequence[RateSpan]
    held: RateSpan | None = None


def overload_of(log: OpenLog, load: Mapping[str, Any]) -> Overload | None:
    """Find overload in a log of an open loop; None where there is none."""
    spans = list(_spans(log, load))
    share = GROWTH_OF_CHANGING if len(spans) == 1 and not load.get("rate") else GROWTH
    overloaded = [span for span in spans if grows(span.blocks, share)]
    if not overloaded:
        return None
    slower = [span for span in spans if span not in overloaded and span.rate < overloaded[0].rate]
    return Overload(overloaded, max(slower, key=lambda span: span.rate, default=None))


def grows(blocks: Sequence[LoadBlock], share: float = GROWTH) -> bool:
    """Decide whether the queue grew from block to block, by more than chance and by enough to matter."""
    response_s = [block.response_s for block in blocks if block.response_s is not None]
    if len(response_s) < BLOCKS:
        return False
    growth = [block.issued - block.ended for block in blocks]
    issued = sum(block.issued for block in blocks)
    # One request more or less does not count: a block may end just before it completes.
    error = math.sqrt(len(growth) * variance(growth) + 1)
    if sum(growth) < max(share * issued, DEVIATIONS * error):
        return False
    from rulesets.statistics.mann_kendall import trend

    rise = trend(response_s)
    slower = fmean(response_s[-_ENDS:]) >= SLOWDOWN * fmean(response_s[:_ENDS])
    return slower and rise is not None and rise.s > 0 and rise.p < CHANCE


def _spans(log: OpenLog, load: Mapping[str, Any]) -> Iterator[RateSpan]:
    """The stages with their blocks, or the whole time of issuing."""
    issuing = log.timelines[0].issuing
    if issuing is None:
        return
    start_ns, end_ns = issuing
    whole_run = ("", SpanRow(start_ns, start_ns, end_ns - start_ns))
    for stage, row in list(stage_spans(log, stages_of(load))) or [whole_run]:
        edges = {"start_ns": row.start_ns, "end_ns": row.start_ns + row.width_ns}
        parameters = {**edges, "filling": FILLING, "blocks": BLOCKS}
        rows = log.execute(_SQL, parameters).fetchall()
        for lasted_s, in_flight, blocks in rows:
            if lasted_s is not None and lasted_s > 0:
                counts = [(*map(int, block[:3]), block[3]) for block in blocks]
                yield RateSpan(stage, lasted_s, in_flight, [LoadBlock(*block) for block in counts])
