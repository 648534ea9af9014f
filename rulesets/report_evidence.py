"""A report as evidence: summaries without samples, which answer only some questions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, fields
from rulesets.definitions import PERCENTILES, Definitions
from rulesets.errors import Unanswerable
from rulesets.evidence import Good, Rate
from rulesets.metric_table import BY_NAME
from rulesets.quantity import COMPARE
from rulesets.scores import score
from rulesets.section_metrics import SECTION_FIGURES
from rulesets.session_evidence import require_all, section_figure, session_rate, summary
from rulesets.session_metrics import SESSION_RATES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction
    from typing import NoReturn

    from rulesets.evidence import Accuracy, Where
    from rulesets.quantity import Op
    from rulesets.target import Condition

_PERCENTILES: Final = {share: name for name, share in PERCENTILES.items()}
_COUNTS: Final = ("issued", "completed", "failed", "cancelled")
_REMEDY: Final = "evaluate the run's folder, which has its log"


@dataclass(frozen=True, slots=True)
class ReportEvidence:
    """The evidence that a report alone is.

    Attributes:
        report: The report as plain values, keyed as report.json is.
    """

    report: Mapping[str, Any]

    @property
    def definitions(self) -> Definitions:
        """The definitions of the report; the defaults if absent."""
        run = _part(self.report, "run")
        stored = _part(run, "definitions")
        settings = {field.name: stored[field.name] for field in fields(Definitions) if field.name in stored}
        if isinstance(settings.get("token_categories"), list):
            settings["token_categories"] = tuple(settings["token_categories"])
        method = run.get("percentile_method")
        return Definitions(**({"percentile_method": method} if method else {}) | settings)

    @property
    def ends(self) -> tuple[ReportEvidence, ...]:
        """The report with summaries at both ends of the intervals; empty where all are exact."""
        if not _part(self.report, "bounds"):
            return ()
        breakdown = _part(self.report, "breakdown")
        return tuple(
            ReportEvidence(
                {
                    **_at(self.report, end),
                    "breakdown": {tag: [_at(row, end) for row in rows] for tag, rows in breakdown.items()},
                }
            )
            for end in ("low", "high")
        )

    def sample(self, metric: str, where: Where) -> Summarized:
        """The summary of a latency or a length."""
        column = BY_NAME[metric].column
        if BY_NAME[metric].per == "session":
            require_all(metric, where)
            return Summarized(metric, summary(self.report, column))
        return Summarized(metric, _part(self._of(where), column) or _part(self._imported(where), column))

    def rate(self, metric: str, where: Where) -> Rate:
        """A throughput, without the blocks that a limit would take."""
        if metric in SESSION_RATES:
            require_all(metric, where)
            return session_rate(self.report, metric)
        if metric in SECTION_FIGURES:
            return section_figure(self.report, metric, where)
        part = self._of(where)
        rates = _part(part, "throughput") if part is self.report else part
        value = rates.get(metric)
        value = self._imported(where).get(metric) if value is None else value
        return Rate(_finite(value), self.counts(where)["completed"])

    def counts(self, where: Where) -> Mapping[str, int]:
        """Requests by outcome."""
        part = self._of(where)
        counts = self._imported(where) or (_part(part, "counts") if part is self.report else part)
        return {name: counts.get(name) or 0 for name in _COUNTS}

    def good(self, conditions: Sequence[Condition], where: Where) -> Good:
        """A report does not know which requests met several conditions at once.

        Raises:
            Unanswerable: Always, but of a run in which nothing ended.
        """
        del conditions
        counts = self.counts(where)
        ended = counts["completed"] + counts["failed"] + counts["cancelled"]
        if ended:
            raise Unanswerable("the report does not say which requests met all conditions at once", _REMEDY)
        return Good(0, 0, None)

    def accuracy(self, name: str) -> Accuracy | None:
        """A score by name.

        Raises:
            Unanswerable: The name may mean several.
        """
        return score(self.report.get("accuracy") or (), name)

    def _imported(self, where: Where) -> Mapping[str, Any]:
        """The figures of another program, where the report has no requests and the figures are of all."""
        return {} if where else _part(_part(_part(self.report, "run"), "imported"), "figures")

    def _of(self, where: Where) -> Mapping[str, Any]:
        """The report, or the report's row for the requests of one tag."""
        if not where:
            return self.report
        if len(where) == 1:
            ((tag, value),) = where
            rows = _part(self.report, "breakdown").get(tag) or ()
            for row in rows:
                if row.get("values") == 1 and row.get("value") == value:
                    result: Mapping[str, Any] = row
                    return result
            if rows and all(row.get("values") == 1 for row in rows):
                return {}
        tags = ", ".join(f"{tag}:{value}" for tag, value in where)
        raise Unanswerable(f"the report has no figures of the requests with {tags}", _REMEDY)


@dataclass(frozen=True, slots=True)
class Summarized:
    """A distribution of which only a summary is left.

    Attributes:
        summary: The summary; empty where there were no samples.
    """

    metric: str
    summary: Mapping[str, Any]

    @property
    def count(self) -> int:
        """How many values there were."""
        return self.summary.get("count") or 0

    def mean(self) -> float | None:
        """The mean; None without values."""
        return _finite(self.summary.get("mean"))

    def percentile(self, p: Fraction) -> float | None:
        """A percentile that the report holds.

        Raises:
            Unanswerable: It does not hold this one.
        """
        if not self.count:
            return None
        # Another program's summaries need not have all.
        if _PERCENTILES.get(p) not in self.summary:
            self._cannot(f"p({float(100 * p):g})")
        return _finite(self.summary[_PERCENTILES[p]])

    def at(self, rank: int) -> float:
        """The smallest or the largest value.

        Raises:
            Unanswerable: Another one is asked for.
        """
        if rank not in {0, self.count - 1}:
            self._cannot("the values between the smallest and the largest")
        return float(self.summary["max" if rank else "min"])

    def unmet(self, op: Op, bound: float) -> int:
        """How many do not meet a bound, where all or none do.

        Raises:
            Unanswerable: Some of them meet it.
        """
        met = {COMPARE[op](self.summary[end], bound) for end in ("min", "max")} if self.count else {True}
        if len(met) > 1:
            self._cannot("how many meet a bound")
        return 0 if True in met else self.count

    def block_means(self) -> tuple[float, ...]:
        """The means of spans of time, of which a report keeps none.

        Raises:
            Unanswerable: Always.
        """
        self._cannot("the means of spans of time")

    def in_order(self, edge: float | None = None) -> Sequence[tuple[int, float]]:
        """The values in the order of issue, of which a report keeps none.

        Raises:
            Unanswerable: Always.
        """
        del edge
        self._cannot("the order of the values")

    def _cannot(self, what: str) -> NoReturn:
        raise Unanswerable(f"the report does not hold {what} of {self.metric}", _REMEDY)


def _at(part: Mapping[str, Any], end: str) -> Mapping[str, Any]:
    """A report, or a row, with the summaries at one end of the interval."""
    bounds = _part(part, "bounds")
    return {**part, "bounds": {}, **{name: _part(bounds, name)[end] for name in bounds}}


def _part(whole: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    section = whole.get(key)
    return section if isinstance(section, Mapping) else {}


def _finite(value: float | None) -> float | None:
    return value if isinstance(value, int | float) and math.isfinite(value) else None
