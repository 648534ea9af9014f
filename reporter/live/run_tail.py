"""The figures of a run in progress, from the log, and for several machines also from the nodes' logs.

The logs of nodes are read where they grow, in a folder that all share; those on the nodes themselves come
home when the run is over, and until then are not in the figures.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from recorder.errors import BeingWrittenError, NotALogError
from recorder.event import EventType
from recorder.store import log_path
from reporter.json_values import members, number, text, whole
from reporter.live.current_figures import WINDOW_S, LiveFigures, Percentiles
from reporter.live.ended_requests import EndedRequests
from reporter.live.tail import LogTail
from reporter.live.target_tallies import SoFar, TargetTallies, tallies_of
from reporter.log.settings import head
from reporter.log.shard_files import ShardFiles
from reporter.percentiles import position
from rulesets.definitions import PERCENTILES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class RunTail:
    """A reader of a run's figures, from the logs of the last segment."""

    def __init__(self, run: Path) -> None:
        self._log = log_path(run)
        self._own = LogTail(self._log)
        self._nodes: dict[str, LogTail] | None = None
        self._tallies: TargetTallies | None = None

    def read(self) -> LiveFigures:
        """Read the new events.

        Raises:
            LogError: A log is damaged, or of a version that cannot be read; or the run's own is missing.
        """
        if self._tallies is None:
            self._tallies = tallies_of(head(self._log).settings)
            self._own.ended = EndedRequests(self._tallies)
        self._own.read()
        if self._nodes is None:
            self._nodes = self._tails_of_nodes(self._tallies)
        awaited = []
        for node, tail in self._nodes.items():
            try:
                tail.read()
            except (NotALogError, BeingWrittenError):
                awaited.append(node)
        totals = [tail.so_far for tail in (self._own, *self._nodes.values())]
        so_far = SoFar(
            max(of.seconds for of in totals), *map(sum, zip(*(of[1:] for of in totals), strict=True))
        )
        return replace(self._figures(self._nodes, awaited), targets=self._tallies.shown(so_far))

    def _tails_of_nodes(self, tallies: TargetTallies) -> dict[str, LogTail]:
        files = ShardFiles.named_by([head(self._log).environment], self._log)
        if files is None:
            return {}
        tails = {
            node: LogTail(files.log(node), is_elsewhere=files.is_elsewhere(node))
            for node in sorted(files.nodes)
        }
        for tail in tails.values():
            tail.ended = EndedRequests(tallies)
        return tails

    def _figures(self, nodes: dict[str, LogTail], awaited: Sequence[str]) -> LiveFigures:
        own, tails = self._own, [self._own, *nodes.values()]
        counts = sum((tail.counts for tail in tails), Counter[int]())
        rates = [rates for tail in tails if (rates := tail.rates) is not None]
        recent = [times for tail in tails for times in tail.recent]
        scored, total = own.scores
        return LiveFigures(
            phase=text(own.phase.get("phase")) or "setup",
            elapsed_s=max(0.0, (own.now_ns - own.phase_ns) / 1e9) if own.phase_ns else 0.0,
            planned_s=number(own.phase.get("duration_s")),
            planned_requests=whole(own.phase.get("requests")),
            issued=counts[EventType.LOADGEN_ISSUE_CALLED],
            completed=counts[EventType.COMPLETE],
            errors=sum((tail.errors for tail in tails), Counter[str]()),
            cancelled=counts[EventType.CANCELLED],
            in_flight=sum(tail.in_flight for tail in tails),
            rate=sum(each.ended for each in rates) if rates else None,
            issued_rate=sum(each.issued for each in rates) if rates else None,
            wanted_rate=number(members(own.settings.get("load")).get("rate")),
            output_tps=sum(each.tokens for each in rates) if rates else None,
            ttft=_percentiles([times.ttft_ms for times in recent if times.ttft_ms is not None]),
            tpot=_percentiles([times.tpot_ms for times in recent if times.tpot_ms is not None]),
            window_s=min(WINDOW_S, max((each.span_s for each in rates), default=0.0)),
            client=[reading for tail in tails for reading in tail.client.values()],
            nodes=len(nodes),
            awaited=tuple(awaited),
            scored=scored,
            mean_score=total / scored if scored else None,
        )


def _percentiles(values: Sequence[float]) -> Percentiles | None:
    """By the method `nearest_rank`, which needs no interpolation."""
    if not values:
        return None
    ordered = sorted(values)
    places = (position("nearest_rank", len(ordered), PERCENTILES[name]) for name in ("p50", "p90", "p99"))
    return Percentiles(*(ordered[place.below] for place in places))
