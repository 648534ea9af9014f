"""The evidence of a verdict, from the log: see `rulesets.evidence.Evidence`."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast

from reporter.imported import own_figures
from reporter.late_read_bounds import ENDS, column
from reporter.log.run_head import logged_settings
from reporter.log.sql_files import condition
from reporter.measured.values import BY_ISSUE, ONE_BY_ONE, SPANS, Values
from rulesets.metric_table import BY_NAME
from rulesets.section_metrics import SECTION_FIGURES
from rulesets.session_metrics import SESSION_RATES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.log.database import OpenLog
    from reporter.measured.log_sample import LogSample
    from reporter.report import Report
    from rulesets.condition import Condition
    from rulesets.evidence import Accuracy, Good, Rate, Where
    from rulesets.quantity import ValueEnd
    from rulesets.report_evidence import ReportEvidence

_PER_GPU: Final = "tps_per_gpu"

COUNTED: Final = ("issued", "completed", "failed", "cancelled")
_COUNTS: Final = """
    SELECT
        count(*),
        count(*) FILTER (status = 'completed'),
        count(*) FILTER (status = 'failed'),
        count(*) FILTER (status = 'cancelled')
    FROM samples
    WHERE measured AND {where}"""

_GOOD: Final = """
    SELECT
        span,
        count(*) FILTER ({good}),
        count(*) FILTER ({good} AND in_window),
        count(*) FILTER (status IN ('completed', 'failed', 'cancelled'))
    FROM (SELECT *, {span} AS span FROM samples WHERE measured AND {where})
    GROUP BY span"""


class LogEvidence:
    """A run as seen by rules. Results are cached.

    Args:
        log: An opened log that a report was computed from, by its definitions and over its window.
        report: That report.
        end: With it, each value is the least or the most that it can be (`reporter.late_read_bounds`).

    Attributes:
        scores: Accuracies by their names that were given; they override those of the run itself.
        power: The power that the system draws, which no log has, as `run.power` of the report says it.
    """

    def __init__(self, log: OpenLog, report: Report, *, end: ValueEnd | None = None) -> None:
        self.definitions = log.definitions
        self.scores: Mapping[str, Accuracy] = {}
        self.power: dict[str, Any] | None = None
        self.log = log
        self._report = report
        self._end = end
        counted = log.definitions.failed_requests == "count_as_violation"
        self._values = Values(
            log, log.definitions.percentile_method, self._violations if counted else None, end
        )
        self._counts: dict[Where, Mapping[str, int]] = {}
        self._samples: dict[tuple[str, Where], LogSample] = {}
        self._rates: dict[Where, Mapping[str, Rate]] = {}

    @cached_property
    def report(self) -> Mapping[str, Any]:
        """The report as plain values, keyed as report.json is; the run with its options."""
        run = self._report.run
        plain = replace(self._report, run=replace(run, power=self.power)).to_dict()
        settings = logged_settings(self.log)
        options = {name: settings.get(name) for name in ("options", "changed_options")}
        return {**plain, "run": {**plain["run"], **options}}

    @cached_property
    def _own(self) -> ReportEvidence | None:
        """Another program's figures, of an imported run without records of requests."""
        if not own_figures(self.report):
            return None
        from rulesets.report_evidence import ReportEvidence

        return ReportEvidence(self.report)

    @cached_property
    def ends(self) -> tuple[LogEvidence, ...]:
        """The run with all values at the minimum and at the maximum; none if all values are exact."""
        if not self._report.bounds:
            return ()
        return tuple(LogEvidence(self.log, self._report, end=end) for end in ENDS)

    def sample(self, metric: str, where: Where) -> LogSample:
        """The values of a latency or a length."""
        if self._own is not None:
            # It has the same interface, and raises Unanswerable where it has no values.
            return cast("LogSample", self._own.sample(metric, where))
        if BY_NAME[metric].per == "session":
            from rulesets.session_evidence import require_all

            require_all(metric, where)
            self.log.load(("sessions",))
        if (metric, where) not in self._samples:
            self._samples[metric, where] = self._values.of(metric, where)
        return self._samples[metric, where]

    def rate(self, metric: str, where: Where) -> Rate:
        """A throughput; per GPU only if the run has the number of GPUs."""
        if metric == _PER_GPU:
            return _shared(self.rate("total_tps", where), self._report.run.gpus)
        if self._own is not None:
            return self._own.rate(metric, where)
        if metric in SESSION_RATES:
            from reporter.measured.session_rates import session_rate
            from rulesets.session_evidence import require_all

            require_all(metric, where)
            return session_rate(self.log, self._report, metric)
        if metric in SECTION_FIGURES:
            from rulesets.session_evidence import section_figure

            return section_figure(self.report, metric, where)
        if where not in self._rates:
            from reporter.measured.rates import rates

            self._rates[where] = rates(self.log, self._report, where)
        return self._rates[where][metric]

    def counts(self, where: Where) -> Mapping[str, int]:
        """Requests by outcome: issued, completed, failed, cancelled."""
        if self._own is not None:
            return self._own.counts(where)
        if where not in self._counts:
            row = self.log.execute(_COUNTS.format(where=condition(where))).fetchall()[0]
            self._counts[where] = dict(zip(COUNTED, row, strict=True))
        return self._counts[where]

    def good(self, conditions: Sequence[Condition], where: Where) -> Good:
        """How many met every condition at once; a request that lacks one of the figures did not."""
        if self._own is not None:
            return self._own.good(conditions, where)
        from reporter.measured.timeline import FINEST, group_size, grouped, issued_in
        from rulesets.evidence import Good

        amounts_by_span = self._good(conditions, where, issued_in(self.log))
        finest = [amounts_by_span.get(number, (0, 0, 0)) for number in range(FINEST)]
        total, in_window, ended = map(sum, zip(*finest, strict=True))
        size = group_size([ended for _, _, ended in finest])
        blocks = (tuple(map(sum, zip(*block, strict=True))) for block in grouped(finest, size or FINEST))
        return Good(
            *(total, ended, self._report.window.duration_s, in_window),
            blocks=tuple((good, ended) for good, _, ended in blocks) if size else (),
        )

    def good_in_order(self, conditions: Sequence[Condition], where: Where) -> Sequence[tuple[int, float]]:
        """The counts of ended and of good requests, in the order of `MetricValues.in_order`."""
        counts = self.counts(where)
        if sum(counts[name] for name in ("completed", "failed", "cancelled")) <= ONE_BY_ONE:
            rows = sorted(self._good(conditions, where, BY_ISSUE).items())
            return [(ended, float(good)) for _, (good, _, ended) in rows]
        from reporter.measured.timeline import issued_in

        amounts_by_span = self._good(conditions, where, issued_in(self.log, SPANS))
        spans = (amounts_by_span.get(number, (0, 0, 0)) for number in range(SPANS))
        return [(ended, float(good)) for good, _, ended in spans]

    def _good(self, conditions: Sequence[Condition], where: Where, span: str) -> Mapping[int, Sequence[int]]:
        """For each span that requests were issued in: how many were good, also in the window, and ended."""
        good = good_sql(conditions, self._end)
        rows = self.log.execute(_GOOD.format(span=span, good=good, where=condition(where))).fetchall()
        return {number: amounts for number, *amounts in rows}

    def _violations(self, where: Where) -> int:
        counts = self.counts(where)
        return counts["failed"] + counts["cancelled"]

    def accuracy(self, name: str) -> Accuracy | None:
        """A score by name; None where the run lacks the score.

        Raises:
            Unanswerable: The name may mean several.
        """
        if name in self.scores:
            return self.scores[name]
        from rulesets.scores import score

        return score(self.report["accuracy"], name)

    def by_question(self, name: str) -> Mapping[str, float] | None:
        """A score of this run by question; None if the score is not a mean over questions."""
        from reporter.accuracy.question_scores import by_question

        return by_question(self.log, self._report.accuracy, name)


def good_sql(conditions: Sequence[Condition], end: ValueEnd | None = None) -> str:
    """SQL for whether a request met every condition; one that lacks one of the figures did not."""
    met = (f"coalesce({column(limit.metric, end)} {limit.op} {limit.bound!r}, false)" for limit in conditions)
    return " AND ".join(("status = 'completed'", *met))


def _shared(rate: Rate, among: int | None) -> Rate:
    from rulesets.evidence import Rate

    if rate.value is None or not among:
        return Rate(None, rate.n)
    blocks, series = (tuple(part / among for part in parts) for parts in (rate.blocks, rate.series))
    return Rate(rate.value / among, rate.n, blocks, series)
