"""The figures that client overhead can change, and the targets that those figures can decide.

Without rules the TTFT decides whether the overhead is too large. If a run is evaluated by rules, only the
figures of targets whose outcome the overhead can change decide: a late p99 does not invalidate a rule about
the median, nor one whose bound is far away.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rulesets.errors import Unanswerable
from rulesets.evaluators import figure as figures
from rulesets.metric_table import TABLE
from rulesets.quantity import COMPARE, SCORES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rulesets.evidence import Evidence
    from rulesets.ruleset import Ruleset
    from rulesets.target import Target

IN_DOUBT: Final = "client_delay_in_doubt"
"""The code of the finding that stamps are too uncertain to show whether client overhead is too large."""

LATENCIES_INVALID: Final = "latencies_invalid"
"""The code of the finding that a scored run has in place of errors of a late client."""


class AffectedFigure(NamedTuple):
    """A figure that client overhead can change.

    Attributes:
        metric: `ttft`, `latency`, or `rate` for throughput.
        stat: `mean`, `p50`, `p90`, `p95`, `p99`, `p999` or `max`; of a rate `mean`.
    """

    metric: str
    stat: str

    def __str__(self) -> str:
        """The figure as named in a sentence."""
        return {"ttft": "TTFT", "latency": "latency"}.get(self.metric, "throughput") + (
            "" if self.metric == "rate" else f" {'p99.9' if self.stat == 'p999' else self.stat}"
        )

    @property
    def key(self) -> str:
        """The key of the figure in `own_effect` of a report."""
        return "qps" if self.metric == "rate" else f"{self.metric}_ms"


_METRICS: Final = {metric.name: metric.overhead for metric in TABLE if metric.overhead is not None}
"""The metrics of targets that begin before a request is sent, or count requests by time. Times between
tokens, lengths, counts and scores contain no client overhead."""

_RANKS: Final = ((50.0, "p50"), (90.0, "p90"), (95.0, "p95"), (99.0, "p99"), (99.9, "p999"))


def asked_figures(rules: Ruleset | None) -> tuple[AffectedFigure, ...] | None:
    """The figures that rules bound; None where the TTFT decides, as without rules.

    It decides under a locked ruleset too, whose runs must be valid as a whole, and where rules over several
    runs, or rules without a target, need figures that are not named here.
    """
    if rules is None or rules.locked or rules.sweep is not None or not rules.targets:
        return None
    return tuple(dict.fromkeys(figure for target in rules.targets for figure in figures_of(target)))


_TIMELESS: Final = frozenset({"accuracy", "count", "error", "length"})
"""The kinds of figures that do not depend on when a client sent and read."""


def asks_times(rules: Ruleset | None) -> bool:
    """Whether rules bound latencies or rates, or demand a run that is valid as a whole."""
    if rules is None:
        return False
    whole = rules.locked or rules.sweep or rules.baseline or rules.power or rules.steady_state.required
    return bool(whole) or any(target.quantity.kind not in _TIMELESS for target in rules.targets)


def figures_of(target: Target) -> Iterator[AffectedFigure]:
    """The figures that a target depends on and that client overhead can change."""
    # How many requests meet a condition depends on the whole distribution, represented by its tail.
    for condition in target.conditions:
        if condition.metric in _METRICS:
            yield AffectedFigure(_METRICS[condition.metric], "p99")
    metric = _METRICS.get(target.metric)
    if metric is not None:
        yield AffectedFigure(metric, "mean" if metric == "rate" else _stat(target.stat))


def _stat(stat: str) -> str:
    """The statistic with a known overhead: for a percentile the next higher one."""
    if not stat.startswith("p"):
        return "p50" if stat == "min" else stat
    percent = float(stat[1:])
    return next((name for rank, name in _RANKS if percent <= rank), "max")


def is_in_doubt(target: Target, ruleset: Ruleset, report: Mapping[str, Any]) -> bool:
    """Whether a target depends on a figure that may contain too much client overhead; scores never do."""
    run = report.get("run") or {}
    if target.metric.startswith(SCORES):
        return False
    if run.get("on_invalid") == "warn" and not ruleset.locked:
        return False
    if asked_figures(ruleset) is None:
        # A locked ruleset requires the run to be valid as a whole.
        return any(
            IN_DOUBT in (finding.get("code"), *finding.get("effects", ()))
            for finding in report.get("findings") or ()
        )
    effects = report.get("own_effect") or {}
    return any(
        effects.get(figure.key, {}).get(figure.stat, {}).get("in_doubt") is True
        for figure in figures_of(target)
    )


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
    """The figure of a target, as stamped and at both ends of its interval; empty if unknown.

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
        if condition.metric in _METRICS
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
