"""The effect of client overhead on each figure, and whether it is too large in those that decide."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reporter.client_health import OWN_TTFT_LIMIT, OwnEffect
from reporter.number_text import percent
from rulesets.evaluators.client_delay import AffectedFigure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from reporter.findings.client_overhead import ClientOverhead, OwnPart

FEWEST: Final = 100
"""Of fewer requests, the p99 rests on a single one: then the median has to be affected as well."""

SHOWN: Final[Mapping[str, tuple[str, ...]]] = {"ttft": ("p50", "p95", "p99"), "latency": ("p50", "p99")}
"""The figures whose own part a finding states; `report.json` has that of all of them."""

NEGLIGIBLE: Final = 0.01
"""The share up to which a figure is called not affected."""


def part_of(own: ClientOverhead, figure: AffectedFigure, load: str | None) -> OwnPart | None:
    """The client overhead in a figure; None where it has none.

    A stream of a closed loop asks its next question as much later as the client was late: of its time, the
    mean from the schedule to the completion, so much is missing from the rate. In an open loop the schedule
    sets the rate.
    """
    if figure.metric == "rate":
        return own.parts.get("latency", {}).get("mean") if load == "closed" else None
    return own.parts.get(figure.metric, {}).get(figure.stat)


def too_late(own: ClientOverhead, asked: tuple[AffectedFigure, ...] | None, load: str | None) -> bool:
    """Whether client overhead is too large in the figures that decide."""
    limit, few = OWN_TTFT_LIMIT, own.count < FEWEST
    if asked is None:
        tail = not few and own.p99.ms > limit.tail_ms
        return own.p99.exceeds(limit) and (tail or own.p50.exceeds(limit))
    return any(affected(own, asked, load))


def may_be_too_late(own: ClientOverhead, asked: tuple[AffectedFigure, ...] | None, load: str | None) -> bool:
    """Whether the stamps are too uncertain to tell if it is too much of the figures that decide."""
    return too_late(own.greatest, asked, load) and not too_late(own.least, asked, load)


def affected(
    own: ClientOverhead, asked: Iterable[AffectedFigure], load: str | None
) -> Iterator[AffectedFigure]:
    """The figures of the rules with too much client overhead."""
    for figure in asked:
        part = part_of(own, figure, load)
        rests_on_one = own.count < FEWEST and figure.stat not in {"mean", "p50"}
        if part is None or not part.exceeds(OWN_TTFT_LIMIT):
            continue
        if not rests_on_one or own.parts[figure.metric]["p50"].exceeds(OWN_TTFT_LIMIT):
            yield figure


def effects(own: ClientOverhead | None, load: str | None) -> dict[str, dict[str, OwnEffect]]:
    """The client's own part of what a report shows, by metric and statistic; empty where it is not known."""
    if own is None:
        return {}
    figures = [AffectedFigure(metric, stat) for metric, stats in own.parts.items() for stat in stats]
    effects_by_metric: dict[str, dict[str, OwnEffect]] = {}
    for figure in (*figures, AffectedFigure("rate", "mean")):
        if effect := _effect(own, figure, load):
            effects_by_metric.setdefault(figure.key, {})[figure.stat] = effect
    return effects_by_metric


def _effect(own: ClientOverhead, figure: AffectedFigure, load: str | None) -> OwnEffect | None:
    """To a nanosecond: the last bits of a mean depend on the order in which it was added up."""
    part, low, high = (part_of(overhead, figure, load) for overhead in (own, own.least, own.greatest))
    if part is None or low is None or high is None:
        return None
    effect = OwnEffect(round(part.ms, 6), round(part.of_ms, 6), round(part.share, 9))
    if own.ends is None:
        return effect
    return replace(
        effect,
        share_low=round(low.share, 9),
        share_high=round(high.share, 9),
        in_doubt=may_be_too_late(own, (figure,), load),
    )


def in_words(own: ClientOverhead, load: str | None) -> Iterator[str]:
    """The figures that are affected, and those that are not, a sentence each."""
    parts = [(figure, part) for figure in _shown() if (part := part_of(own, figure, load))]
    if affected := [_clause(figure, part) for figure, part in parts if part.share > NEGLIGIBLE]:
        yield f"Affected: {', '.join(affected)}."
    if free := [f"{figure} ({part.ms:.2f} ms)" for figure, part in parts if part.share <= NEGLIGIBLE]:
        yield f"Not affected: {', '.join(free)}."


def _clause(figure: AffectedFigure, part: OwnPart) -> str:
    share = percent(part.share, 1)
    if figure.metric == "rate":
        return f"{figure} ({share})"
    return f"{figure} incl. queueing ({share}, {part.ms:.1f} of {part.of_ms:.1f} ms)"


def _shown() -> Iterator[AffectedFigure]:
    for metric, stats in SHOWN.items():
        yield from (AffectedFigure(metric, stat) for stat in stats)
    yield AffectedFigure("rate", "mean")
