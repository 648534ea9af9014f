"""The figure that a target bounds, one function per kind of metric, and the confidence limit."""

from __future__ import annotations

import math
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from rulesets.evaluators import facts
from rulesets.metric_table import BY_NAME
from rulesets.quantity import SCORES, spell
from rulesets.section_metrics import SECTION_FIGURES
from rulesets.session_metrics import SESSION_ERROR, SESSION_RATES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rulesets.demands import Confidence
    from rulesets.evaluators.limit import ConfidenceLimit
    from rulesets.evidence import Evidence, MetricValues, Where
    from rulesets.quantity import Kind
    from rulesets.target import Target

    FindLimit = Callable[[Confidence], ConfidenceLimit]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a run, in the unit of figures.

    Attributes:
        value: None where there are no samples.
        n: The number of samples: gaps between tokens for `itl`, requests for all others.
    """

    value: float | None
    n: int
    words: str = ""
    limit: FindLimit = lambda _: _limits().NO_LIMIT


def observe(target: Target, run: Evidence) -> Figure:
    """Find the figure that a target bounds.

    Raises:
        Unanswerable: The evidence does not have the figure.
    """
    figure = _OBSERVE[target.quantity.kind](target, run)
    if figure.value is not None and math.isnan(figure.value):
        return Figure(None, figure.n, figure.words)
    return figure


def _distribution(target: Target, run: Evidence) -> Figure:
    """A latency or a length."""
    sample = run.sample(target.metric, target.where)
    origin = run.definitions.latency_origin if target.quantity.kind == "latency" else None
    return _of_sample(target, sample, run.definitions.percentile_method, _from(target.metric, origin))


def _interactivity(target: Target, run: Evidence) -> Figure:
    """The tok/s of one user: 1000 / TPOT in ms, for the statistic named for TPOT."""
    sample = run.sample("tpot", target.where)
    slow = _of_sample(target, sample, run.definitions.percentile_method, "")

    def find_limit(confidence: Confidence) -> ConfidenceLimit:
        at_most = slow.limit(confidence)
        limit: ConfidenceLimit = _limits().ConfidenceLimit(
            _a_second(at_most.value),
            f"{at_most.words.replace('upper', 'lower', 1)}, from the upper one of TPOT",
            lambda op, bound: at_most.needed("<" if op == ">" else "<=", 1000 / bound if bound else math.inf),
        )
        return limit

    return Figure(_a_second(slow.value), slow.n, f"1000 / TPOT: {slow.words}", find_limit)


def _a_second(ms: float | None) -> float | None:
    if ms is None:
        return None
    return 1000 / ms if ms else math.inf


def _of_sample(target: Target, sample: MetricValues, method: str, origin: str) -> Figure:
    n, p = sample.count, target.percentile
    upper = target.op in {"<", "<="} or target.quantity.kind == "interactivity"
    if p is not None:
        return Figure(
            sample.percentile(p) if n else None,
            n,
            f"{target.stat} ({_METHODS.get(method, method)}){origin}",
            lambda confidence: _limits().of_percentile(sample, p, confidence, upper=upper),
        )
    if target.stat == "mean":
        mean = sample.mean() if n else None
        return Figure(
            mean,
            n,
            f"mean{origin}",
            lambda confidence: _limits().of_blocks(
                mean or 0.0, n, sample.block_means(), confidence, upper=upper
            ),
        )
    rank = 0 if target.stat == "min" else n - 1
    return Figure(sample.at(rank) if n else None, n, f"{target.stat}{origin}")


def _throughput(target: Target, run: Evidence) -> Figure:
    each = target.metric == "tps_per_gpu"
    rate = run.rate("total_tps" if each else target.metric, target.where)
    gpus = facts.number(facts.run(run.report).get("gpus")) if each else 1
    n = rate.n
    if not n or rate.value is None or not gpus:
        return Figure(None, n)
    value, blocks = rate.value / gpus, [block / gpus for block in rate.blocks]
    return Figure(
        value,
        n,
        _WORDS.get(target.metric) or f"rate over the window: {run.definitions.throughput_window}",
        lambda confidence: _limits().of_blocks(value, n, blocks, confidence, upper=False),
    )


_WORDS: Final = {
    **dict.fromkeys(SESSION_RATES, "over sessions"),
    **{name: f"of {count.replace('_', ' ')}" for name, (_, _, count) in SECTION_FIGURES.items()},
}


def _error(target: Target, run: Evidence) -> Figure:
    """Failed requests, or sessions, among those that ended; what is in flight does not count."""
    counts = failures(target.metric, target.where, run)
    rate, ended = error_rate(counts)
    failed, what = counts["failed"], "sessions" if target.metric == SESSION_ERROR else "requests"
    return Figure(
        rate,
        ended,
        f"{failed:,} of {ended:,} failed",
        lambda confidence: _limits().of_share(
            failed, ended, confidence.level, upper=True, what=f"independent {what}"
        ),
    )


def failures(metric: str, where: Where, run: Evidence) -> Mapping[str, int]:
    """The counts that a share of failures is of: those of requests, or of sessions."""
    if metric != SESSION_ERROR:
        return run.counts(where)
    from rulesets.session_evidence import counts, require_all

    require_all(metric, where)
    return counts(run.report)


def error_rate(counts: Mapping[str, int]) -> tuple[float | None, int]:
    """Failed among those that ended, and how many did."""
    ended = counts["completed"] + counts["failed"] + counts["cancelled"]
    return (counts["failed"] / ended if ended else None), ended


def _good(target: Target, run: Evidence) -> Figure:
    seen = run.good(target.conditions, target.where)
    words = f"{seen.good:,} of {seen.ended:,} good"
    if target.stat == "count":
        return Figure(seen.good if seen.ended else None, seen.ended, words)
    if target.stat == "rate":
        span = seen.duration_s
        done = seen.good if seen.in_window is None else seen.in_window
        return Figure(done / span if span and seen.ended else None, seen.ended, words)
    return Figure(
        seen.good / seen.ended if seen.ended else None,
        seen.ended,
        words,
        lambda confidence: _limits().of_share(seen.good, seen.ended, confidence.level, upper=False),
    )


def _count(target: Target, run: Evidence) -> Figure:
    """A count. Of a run that issued nothing not even `failed==0` is known."""
    counts = run.counts(target.where)
    issued = counts["issued"]
    return Figure(counts[target.metric] if issued else None, issued, "count")


def _accuracy(target: Target, run: Evidence) -> Figure:
    score = run.accuracy(target.metric.removeprefix(SCORES))
    if score is None or score.value is None:
        return Figure(None, 0 if score is None else score.n)
    value, upper = score.value, target.op in {"<", "<="}
    words = "score" if score.standard_error is None else f"score, standard error {score.standard_error:.3g}"
    return Figure(
        value,
        score.n,
        words,
        lambda confidence: _limits().of_score(score, value, confidence, target.bound, upper=upper),
    )


def _limits() -> Any:
    """The formulas of limits, loaded for a target that asks for a confidence."""
    return import_module("rulesets.evaluators.limit")


def _from(metric: str, origin: str | None) -> str:
    """The chosen origin of a latency, in words."""
    if origin is None or BY_NAME[metric].origin in {None, "scheduled"}:
        return ""
    return f", from the {origin} time"


_METHODS: Final = {
    "linear": "linear interpolation",
    "lower": "lower rank",
    "loadgen_floor": "LoadGen's rank",
    "nearest_rank": "nearest rank",
}
"""Percentile methods in words."""

_OBSERVE: Final[Mapping[Kind, Callable[[Target, Evidence], Figure]]] = {
    "latency": _distribution,
    "length": _distribution,
    "speed": _distribution,
    "interactivity": _interactivity,
    "throughput": _throughput,
    "share": _throughput,
    "error": _error,
    "good": _good,
    "count": _count,
    "accuracy": _accuracy,
}


def name_of(target: Target) -> str:
    """The figure in a sentence: `ttft:p(99)`."""
    return f"{target.metric}:{spell(target.stat)}"
