"""From an opened log to a Report. docs/metrics.md defines every figure; `reporter/sql/` computes it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from lazy_dataclasses import dataclass, replace
from reporter.distribution import BY_TOKEN, GAPS, meanwhile, summaries, weighted_summary
from reporter.findings.acceptance import accepted
from reporter.findings.check_inputs import CheckInputs, Violation, failure_limit
from reporter.findings.client_overhead import (
    DELAYS,
    ENDS,
    late_reads_ms,
    longest_delay_ms,
    overhead_of,
    with_delays,
)
from reporter.findings.cold_start import cold_start, first_turns
from reporter.findings.findings import findings, validity
from reporter.findings.load_findings import steadiness
from reporter.findings.overhead_effect import effects
from reporter.findings.token_checks import token_checks, went_away
from reporter.findings.undefined import undefined
from reporter.imported import has_starts, is_measured
from reporter.late_read_bounds import bounds
from reporter.log.database import all_figures, figures
from reporter.log.run_head import client_health, recorder_health, run_facts
from reporter.log.subjects import asks_again, asks_benchmarks, distinguished, is_of_nodes, shard
from reporter.log.window import issuing_s
from reporter.report import Finding, Report, RequestCounts, ThroughputFigures, Tokens
from reporter.run_facts import is_open_loop
from reporter.windows.rate_window import is_first_uncounted, over_defined_window, rates
from reporter.windows.run_spans import over_time
from rulesets.definitions import PERCENTILES
from rulesets.evaluators.client_delay import asks_times
from rulesets.request_metrics import REQUEST_METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from fractions import Fraction

    from reporter.client_health import ClientHealth
    from reporter.findings.client_overhead import ClientOverhead
    from reporter.findings.overload import Overload
    from reporter.log.database import OpenLog
    from reporter.nodes import Nodes
    from reporter.report import Moment, PartReport, SteadyState
    from reporter.report_options import ReportOptions
    from reporter.run_facts import PlannedEnd, RunFacts
    from rulesets.definitions import Definitions, PercentileMethod
    from rulesets.evaluators.client_delay import AffectedFigure
    from rulesets.ruleset import Ruleset


@dataclass(frozen=True, slots=True)
class DisplayedReport(Report):
    """A `Report` with the console as a method."""

    def display(
        self,
        fn: Callable[[str], Any] = print,
        summary_only: bool = False,  # noqa: FBT001, FBT002 (the published interface)
    ) -> None:
        """Show the report as plain text.

        Args:
            fn: What takes the text.
            summary_only: Show only what a reader looks at first.
        """
        from reporter.render.console import render

        fn(render(self, summary_only=summary_only))


COLUMNS: Final = tuple(metric.column for metric in REQUEST_METRICS if metric.per == "request")
"""The metrics that are a column of `samples`, summarized over the measured requests that completed."""


def compute(log: OpenLog, options: ReportOptions) -> tuple[DisplayedReport, OpenLog, CheckInputs]:
    """Compute the report of a log by its definitions; without rules, the TTFT decides its validity.

    Returns:
        The report, the log over the window of the report's rates, and what its findings are of.

    Raises:
        LogError: The log is damaged.
        NoRoomError: Memory and temporary disk space are too small for what is computed.
    """
    definitions, method = log.definitions, log.definitions.percentile_method
    percentiles = PERCENTILES if options.percentiles is None else options.percentiles
    weighted = options.is_token_weighted
    summarize = partial(_summaries, method=method, chosen=percentiles, weighted=weighted)
    with meanwhile(log, summarize) as summarized:
        run, (counts, messages) = run_facts(log, options.on_invalid), _counts(log)
        health: dict[str, Any] = {"recorder": recorder_health(log), "client": client_health(log)}
        moments, steady = _over_time(log, run, method)
        tokens = _tokens(totals := figures(log, "tokens"))
        log = over_defined_window(log, definitions.throughput_window, steady, run.load.get("kind"))
        with meanwhile(log, partial(_logged, run=run, counts=counts)) as logged:
            throughput, overload = _throughput(log, run.load, counts, tokens), _overload(log, run)
            first = _first_turns(log, run, counts.warmup)
            breakdown, checked = _breakdown(log, run.load, counts, method), logged()
        summaries = summarized()
    in_doubt = bounds(log, method, summaries, percentiles, weighted=weighted)
    own = _own(log, summaries, method, (run.timestamp_source, health["client"]), doubt=bool(in_doubt))
    inputs = CheckInputs(
        ended=run.ended,
        load=run.load if run.imported is None else {},  # Its schedule is not known.
        counts=counts,
        latency_ms=summaries["latency_ms"],
        own=own,
        deciding=None,
        bounds=in_doubt,
        reported=summaries,
        held_ms=summaries["held_ms"],
        token_sources={name: totals[name] for name in (*_SOURCES, "unknown")},
        input_unknown=totals["input_unknown"],
        **health,
        steady_state=steady,
        steady_required=bool(run.steady) or log.window.kind == "steady_state",
        definitions=definitions,
        tokenizer=getattr(options.tokenizer, "name_or_path", None),
        qps=throughput.qps,
        cold=cold_start(log, first, method, summaries["ttft_ms"].min) if first else None,
        messages=messages,
        overload=None if summaries["held_ms"] else overload,
        **checked,
    )
    all_findings = findings(inputs)
    report = DisplayedReport(
        run=_computed_by(run, definitions, options),
        validity=accepted(validity(all_findings), all_findings, run.on_invalid),
        counts=counts,
        window=replace(log.window, issuing_s=issuing_s(log.timelines)),
        throughput=throughput,
        tokens=replace(tokens, chunks=inputs.chunks),
        **health,
        findings=all_findings,
        bounds=in_doubt,
        **_own_figures(own, run.load.get("kind")),
        steady_state=steady,
        nodes=checked["nodes"],
        breakdown=breakdown,
        over_time=moments,
        **summaries,
    )
    return report, log, inputs


def decided_by(
    report: DisplayedReport,
    inputs: CheckInputs,
    asked: tuple[AffectedFigure, ...] | None,
    rules: Ruleset | None,
) -> DisplayedReport:
    """The report with the validity that rules ask for."""
    limit = failure_limit(rules, report.run.max_error_rate)
    times = inputs.asks_times or asks_times(rules)
    if inputs.has_questions and not times:
        asked = None  # Scores have no figure that a delay is in: whether latencies are valid is for the TTFT.
    all_findings = findings(replace(inputs, deciding=asked, failure_limit=limit, asks_times=times))
    return replace(
        report,
        run=replace(report.run, own_delay_decides=None if asked is None else list(map(str, asked))),
        validity=accepted(validity(all_findings), all_findings, report.run.on_invalid),
        findings=all_findings,
    )


def _over_time(
    log: OpenLog, run: RunFacts, method: PercentileMethod
) -> tuple[list[Moment], SteadyState | None]:
    """The moments of the run and its steady state; neither where the starts of requests are unknown."""
    if not has_starts(run.imported):
        return [], None
    moments = over_time(log, method)
    return moments, steadiness(run.ended, len(run.segments), log.window, moments)


def _first_turns(log: OpenLog, run: RunFacts, warmup: int) -> list[tuple[Any, ...]]:
    return first_turns(log, run.load.get("kind"), warmup) if has_starts(run.imported) else []


def _computed_by(run: RunFacts, definitions: Definitions, options: ReportOptions) -> RunFacts:
    """The facts of a run with how its figures were computed."""
    return replace(
        run,
        tpot_mode=options.tpot_reporting_mode.value,
        percentile_method=definitions.percentile_method,
        definitions=definitions.to_dict(),
        percentiles=None if options.percentiles is None else list(options.percentiles),
    )


_RESPONSES: Final = ("issuing", "shapes", "refused", "unencoded", "reuse")
Source = Literal["server_usage", "client_tokenizer", "chunks"]
_SOURCES: Final[tuple[Source, ...]] = get_args(Source)


def _counts(log: OpenLog) -> tuple[RequestCounts, dict[str, str]]:
    """The number of requests by outcome, and a message of each failure."""
    counts = figures(log, "counts")
    failures = all_figures(log, "failures") if counts["failed"] else []
    by_error = {failure["error"]: failure["requests"] for failure in failures}
    messages = {failure["error"]: failure["error_message"] or "" for failure in failures}
    return RequestCounts(by_error=by_error, **counts), messages


def _summaries(
    log: OpenLog, *, method: PercentileMethod, chosen: Mapping[str, Fraction], weighted: bool
) -> dict[str, Any]:
    """The summaries of the measured requests that completed, by the Report's fields, and own delays.

    Also the longest client overhead: what is asked here is asked at the same time as other figures.
    """
    columns = (*COLUMNS, *DELAYS)
    by_metric: dict[str, Any] = summaries(log, with_delays(DELAYS), columns, method, chosen)
    if weighted:
        by_metric["tpot_ms"] = weighted_summary(log, BY_TOKEN.format(column="tpot_ms"), method, chosen)
    itl = weighted_summary(log, GAPS, method, chosen)
    return {**by_metric, "itl_ms": itl, "longest_ms": longest_delay_ms(log)}


def _own(
    log: OpenLog,
    by_metric: dict[str, Any],
    method: PercentileMethod,
    stamped: tuple[str | None, ClientHealth],
    *,
    doubt: bool,
) -> ClientOverhead | None:
    """Client overhead, from summaries that are removed from the given ones.

    `stamped` is the source of arrival stamps, and the health of the client's processes.
    """
    ends = summaries(log, with_delays(ENDS), tuple(ENDS), method) if doubt else None
    late_ms, longest_ms = late_reads_ms(*stamped), by_metric.pop("longest_ms")
    own = overhead_of({name: by_metric.pop(name) for name in DELAYS}, ends, late_ms)
    return own and replace(own, longest_ms=None if longest_ms is None else longest_ms + late_ms)


def _own_figures(own: ClientOverhead | None, load: str | None) -> dict[str, Any]:
    """The client overhead, by the fields of the report."""
    return {
        "own_ttft_share": own.p99.share if own else None,
        "own_ttft_share_low": own.ends[0].p99.share if own and own.ends else None,
        "own_ttft_share_high": own.ends[1].p99.share if own and own.ends else None,
        "own_longest_ms": own.longest_ms if own else None,
        "own_effect": effects(own, load),
    }


def _throughput(
    log: OpenLog, load: Mapping[str, Any], counts: RequestCounts, tokens: Tokens
) -> ThroughputFigures:
    """Rates over the window; None for those of tokens where completed requests have no token counts."""
    window = log.window
    if not window.duration_s:
        return ThroughputFigures(None, None, None)
    query = rates(first_uncounted=is_first_uncounted(window, load))
    qps, output_tps, total_tps, _ = log.execute(query).fetchall()[0]
    counted = not counts.completed or tokens.output is not None
    counted_all = counted and (not counts.completed or tokens.input is not None)
    return ThroughputFigures(qps, output_tps if counted else None, total_tps if counted_all else None)


def _tokens(totals: Mapping[str, Any]) -> Tokens:
    sources = [source for source in _SOURCES if totals[source]]
    return Tokens(
        input=totals["input"],
        output=totals["output"],
        reasoning=totals["reasoning"],
        cached=totals["cached"],
        usage_output=totals["usage_output"],
        recounted_output=totals["recounted_output"],
        source="mixed" if len(sources) > 1 else next(iter(sources), None),
    )


def _responses(log: OpenLog) -> dict[str, Any]:
    """How requests were issued, and what was unusual about their responses."""
    return {name: value for part in _RESPONSES for name, value in figures(log, part).items()}


def _violations(log: OpenLog) -> tuple[Violation, ...]:
    broken = log.execute(
        "SELECT violation, count(*), min(sample_uuid) FROM violations GROUP BY violation ORDER BY violation",
    ).fetchall()
    return tuple(Violation(*row) for row in broken)


def _prompts(log: OpenLog, run: RunFacts) -> dict[str, Any]:
    """How many prompts the dataset has, where each is asked once, and how many requests asked one of them."""
    ((asked, turns),) = log.execute(
        "SELECT count(*) FILTER (coalesce(turn, 0) = 0), count(*) FILTER (turn > 0) FROM requests "
        "WHERE phase IS DISTINCT FROM 'probe'"
    ).fetchall()
    once = not (run.salt or asks_again(log))
    prompts = (run.dataset or {}).get("rows") if once else None
    return {"prompts": prompts, "asked": int(asked), "turns": int(turns)}


def _is_resumable(planned: PlannedEnd) -> bool:
    """Whether a number ends a run; assumed where the log has no plan."""
    counted = planned.requests is not None or planned.conversations is not None
    return counted or planned.duration_s is None


def _logged(log: OpenLog, run: RunFacts, counts: RequestCounts) -> dict[str, Any]:
    """Checks of responses and of the log, and the facts that the load generator knew."""
    return {
        "imported": not is_measured(run.imported),
        "figures_only": bool((run.imported or {}).get("figures")),
        "has_questions": asks_benchmarks(log),
        "asks_times": run.on_invalid == "warn",
        "segments": len(run.segments),
        "asked_for_stream": run.stream,
        "window_s": log.window.duration_s,
        "timeouts_s": run.timeouts_s,
        "usable_cpus": run.usable_cpus,
        "complete_until": run.complete_until,
        "resumable": _is_resumable(run.planned),
        "went_away": went_away(log, counts) if has_starts(run.imported) else None,
        "failure_limit": failure_limit(None, run.max_error_rate),
        "violations": _violations(log),
        "nodes": _nodes(log),
        "shard": shard(log),
        "logged": tuple(Finding(**row) for row in all_figures(log, "logged")),
        "token_checks": token_checks(log),
        **_prompts(log, run),
        **undefined(log, log.definitions),
        **_responses(log),
    }


def _breakdown(
    log: OpenLog, load: Mapping[str, Any], counts: RequestCounts, method: PercentileMethod
) -> dict[str, list[PartReport]]:
    """The figures of parts of the requests, whose code only a run with several parts loads."""
    has_stages = bool(load.get("stages") or load.get("profile"))
    names = [*(["phase"] if counts.warmup else []), *distinguished(log)]
    if not (has_stages or names):
        return {}
    from reporter.breakdown import breakdown
    from reporter.load_stages import by_stage

    return breakdown(log, names, by_stage(log, load) if has_stages else None, method)


def _overload(log: OpenLog, run: RunFacts) -> Overload | None:
    """The overload of an open loop, whose code only an open loop loads."""
    if not is_open_loop(run.load) or len(log.timelines) != 1 or not has_starts(run.imported):
        return None
    from reporter.findings.overload import overload_of

    return overload_of(log, run.load)


def _nodes(log: OpenLog) -> Nodes | None:
    """The nodes of a run of several machines, which alone loads their code."""
    if not is_of_nodes(log):
        return None
    from reporter.node_figures import nodes

    return nodes(log, log.definitions.percentile_method)
