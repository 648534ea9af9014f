"""The figures that client overhead can change, and the targets on such figures.

Without rules the TTFT decides whether the overhead is too large. If a run is evaluated by rules, only the
figures of targets whose outcome the overhead can change decide: a late p99 does not invalidate a rule about
the median, nor one whose bound is far away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rulesets.metric_table import TABLE
from rulesets.quantity import SCORES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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


AFFECTED: Final = {metric.name: metric.overhead for metric in TABLE if metric.overhead is not None}
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
        if condition.metric in AFFECTED:
            yield AffectedFigure(AFFECTED[condition.metric], "p99")
    metric = AFFECTED.get(target.metric)
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
