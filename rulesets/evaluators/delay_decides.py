"""Whether client overhead decides a target: the range of the figure without the overhead, and the bound."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rulesets.errors import Unanswerable
from rulesets.evaluators import figure as figures
from rulesets.evaluators.client_delay import AFFECTED, AffectedFigure, asked_figures, figures_of, is_in_doubt
from rulesets.quantity import COMPARE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rulesets.evidence import Evidence
    from rulesets.ruleset import Ruleset
    from rulesets.target import Target


def leaves_open(target: Target, ruleset: Ruleset, run: Evidence) -> bool:
    """Whether client overhead that may be too large in a figure can decide a target."""
    return is_in_doubt(target, ruleset, run.report) and (
        ruleset.locked or can_decide(target, values_of(target, run), run.report)
    )


def deciding_figures(rules: Ruleset | None, run: Evidence) -> tuple[AffectedFigure, ...] | None:
    """The figures of the targets that client overhead can decide; None as for `asked_figures`."""
    if rules is None or asked_figures(rules) is None:
        return None
    targets = [target for target in rules.targets if can_decide(target, values_of(target, run), run.report)]
    return tuple(dict.fromkeys(figure for target in targets for figure in figures_of(target)))


def values_of(target: Target, run: Evidence) -> list[float | None]:
    """The figure of a target, as stamped and at both ends of the interval; empty if unknown.

    A share of good requests also at conditions that are moved by the longest delay, either way: the figures
    that the conditions bound may be that far off. With each figure also its confidence limit, where that
    moves with the values.
    """
    longest_ms = run.report.get("own_longest_ms")
    targets = [target]
    if target.quantity.kind == "good" and longest_ms is not None:
        targets += [_moved(target, -longest_ms), _moved(target, longest_ms)]
    try:
        observed = [figures.observe(each, end) for each in targets for end in (run, *run.ends)]
        values = [figure.value for figure in observed]
        if _has_moving_limit(target) and target.confidence:
            values += [figure.limit(target.confidence).value for figure in observed]
    except Unanswerable:
        return []
    return values


def _has_moving_limit(target: Target) -> bool:
    """Whether a target has a confidence limit that moves with the values."""
    return target.confidence is not None and target.confidence.method in {"effective", "order_stat", "wilson"}


def _moved(target: Target, by_ms: float) -> Target:
    """The target with other bounds of those conditions that client overhead can change."""
    conditions = (
        replace(condition, value=condition.bound + by_ms, unit="ms")
        if condition.metric in AFFECTED
        else condition
        for condition in target.conditions
    )
    return replace(target, conditions=tuple(conditions))


def can_decide(target: Target, values: Sequence[float | None], report: Mapping[str, Any]) -> bool:
    """Whether client overhead can decide if a target is met.

    Without the overhead a latency would be shorter by at most the client's part of it. A first-come server
    would have completed no response later if no request had been late, so that a latency from the schedule
    is at most the stamped one and the longest delay of a request. A rate of a closed loop would be at most
    1 / (1 - share) times as high; the same factor is kept as a distance below it. The delay can decide a
    target unless it is met, or missed, over that range. Of a part of the requests the share is not known,
    and a latency is less by the longest delay at most; so is its confidence limit by order statistics.
    For a change, another confidence limit, or a rate of a part of the requests no range is defined.
    """
    figure = next(figures_of(target), None)
    finite = [value for value in values if value is not None and math.isfinite(value)]
    no_range = (
        target.delta
        or (target.confidence and not _has_moving_limit(target))
        or (target.where and figure and figure.metric == "rate")
    )
    if figure is None or no_range or not finite or len(finite) < len(values):
        return True
    effect = (report.get("own_effect") or {}).get(figure.key, {}).get(figure.stat) or {}
    share = effect.get("share_high")
    share = effect.get("share") if share is None else share
    longest_ms = report.get("own_longest_ms")
    if share is None or share >= 1:
        return True
    if target.quantity.kind == "good":
        if longest_ms is None or target.stat != "fraction":
            return True
        ends = (min(finite), max(finite))
    elif target.where or target.confidence:
        if longest_ms is None:
            return True
        ends = (min(finite) - longest_ms, max(finite) + longest_ms)
    elif figure.metric == "rate":
        ends = (min(finite) * (1 - share), max(finite) / (1 - share))
    elif longest_ms is not None:
        ends = (min(finite) - share * max(effect["of_ms"], *finite), max(finite) + longest_ms)
    else:
        return True
    return len({COMPARE[target.op](value, target.bound) for value in ends}) != 1
