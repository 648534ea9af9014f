"""From an opened log to a Report. docs/metrics.md defines every figure; `reporter/sql/` computes it."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from reporter.accuracy.computing import asks_again
from reporter.breakdown import breakdown
from reporter.distribution import summaries, weighted_summary
from reporter.evidence import Evidence, Violation
from reporter.findings import findings, validity
from reporter.log import all_figures, figures, timelines
from reporter.over_time import over_time
from reporter.own_delay import ALL_MS, SERVER_MS, late_reads_ms, own_delay
from reporter.rate_window import own_window, redefine, uncounted
from reporter.report import Counts, Finding, Report, Throughput, Tokens, Window
from reporter.session import client_health, recorder_health, run_facts
from reporter.steadiness import steadiness
from reporter.undefined import undefined
from reporter.window import issuing_s

if TYPE_CHECKING:
    from collections.abc import Mapping

    from duckdb import DuckDBPyConnection

    from rulesets.definitions import Definitions, PercentileMethod

COLUMNS: Final = (
    "ttft_ms",
    "ttfo_ms",
    "ttfv_ms",
    "ttfb_ms",
    "latency_ms",
    "latency_from_schedule_ms",
    "ttft_from_schedule_ms",
    "ttfo_from_schedule_ms",
    "ttfv_from_schedule_ms",
    "ttfb_from_schedule_ms",
    "last_token_ms",
    "last_token_from_schedule_ms",
    "held_ms",
    "issue_lag_ms",
    "send_lag_ms",
    "connect_ms",
    "tls_ms",
    "dns_ms",
    "own_ms",
    "input_tokens",
    "output_tokens",
)
"""The metrics that are a column of `samples`, summarised over the measured requests that completed."""


class TPOTReportingMode(StrEnum):
    """What the distribution of TPOT is a distribution over."""

    REQUEST_WEIGHTED = "request_weighted"
    """Over requests: each has one TPOT."""
    TOKEN_WEIGHTED = "token_weighted"  # noqa: S105 (not a password)
    """Over tokens: each request's TPOT counts once for every token after its first."""


def compute(
    connection: DuckDBPyConnection,
    *,
    tpot_mode: TPOTReportingMode = TPOTReportingMode.REQUEST_WEIGHTED,
    definitions: Definitions,
    tokenizer: str | None = None,
) -> Report:
    """Compute the report of a log from `open_log` whose views compute by these definitions."""
    percentile_method = definitions.percentile_method
    run, counts, window = run_facts(connection), _counts(connection), own_window(connection)
    summaries = _summaries(connection, tpot_mode, percentile_method)
    tokens = _tokens(token_totals := figures(connection, "tokens"))
    recorder, client = recorder_health(connection), client_health(connection)
    late_ms = late_reads_ms(run["timestamp_source"], client)
    own = own_delay(summaries.pop("all_ms"), summaries.pop("server_ms"), late_ms)
    moments = over_time(connection, percentile_method)
    steady = steadiness(run["ended"], len(run["sittings"]), window, moments)
    window = redefine(connection, definitions.throughput_window, steady, run["load"].get("kind"))
    found = findings(
        Evidence(
            ended=run["ended"],
            load=run["load"],
            counts=counts,
            latency_ms=summaries["latency_ms"],
            own=own,
            held_ms=summaries["held_ms"],
            token_sources={name: token_totals[name] for name in (*_SOURCES, "unknown")},
            input_unknown=token_totals["input_unknown"],
            recorder=recorder,
            client=client,
            usable_cpus=run["usable_cpus"],
            prompts=None if run["salt"] or asks_again(connection) else (run["dataset"] or {}).get("rows"),
            asked=_asked(connection),
            steady_state=steady,
            steady_required=bool(run["steady"]) or window.kind == "steady_state",
            messages=_messages(connection),
            sittings=len(run["sittings"]),
            violations=_violations(connection),
            logged=_logged(connection),
            asked_for_stream=run["stream"],
            definitions=definitions,
            tokenizer=tokenizer,
            **undefined(connection, definitions),
            **figures(connection, "issuing"),
            **figures(connection, "shapes"),
        ),
    )
    return Report(
        run={
            **run,
            "percentile_method": percentile_method,
            "tpot_mode": tpot_mode.value,
            "definitions": definitions.to_dict(),
        },
        validity=validity(found),
        counts=counts,
        window=replace(window, issuing_s=issuing_s(timelines(connection))),
        throughput=_throughput(connection, run["load"], window, counts, tokens),
        tokens=tokens,
        recorder=recorder,
        client=client,
        findings=found,
        own_ttft_share=own.p99.share if own else None,
        steady_state=steady,
        breakdown=breakdown(connection, run["load"], counts, window, percentile_method),
        over_time=moments,
        **summaries,
    )


Source = Literal["server_usage", "client_tokenizer", "chunks"]
_SOURCES: Final[tuple[Source, ...]] = get_args(Source)


def _counts(connection: DuckDBPyConnection) -> Counts:
    by_error = connection.execute(
        "SELECT error, count(*) AS n FROM requests WHERE measured AND status = 'failed' "
        "GROUP BY error ORDER BY n DESC, error",
    ).fetchall()
    return Counts(by_error=dict(by_error), **figures(connection, "counts"))


def _summaries(
    connection: DuckDBPyConnection,
    tpot_mode: TPOTReportingMode,
    method: PercentileMethod,
) -> dict[str, Any]:
    """The summaries of the measured requests that completed, by the Report's fields, and own delays."""
    completed = "FROM samples WHERE measured AND status = 'completed'"
    with_own = f"SELECT *, {ALL_MS} AS all_ms, {SERVER_MS} AS server_ms {completed}"
    found: dict[str, Any] = summaries(
        connection, with_own, (*COLUMNS, "tpot_ms", "all_ms", "server_ms"), method
    )
    if tpot_mode is TPOTReportingMode.TOKEN_WEIGHTED:
        by_token = f"SELECT tpot_ms AS value, tpot_tokens AS weight {completed}"
        found["tpot_ms"] = weighted_summary(connection, by_token, method)
    return {**found, "itl_ms": weighted_summary(connection, "FROM gap_counts", method)}


def _throughput(
    connection: DuckDBPyConnection, load: Mapping[str, Any], window: Window, counts: Counts, tokens: Tokens
) -> Throughput:
    """Rates over the window; None for those of tokens where requests completed, but nobody counted tokens."""
    if not window.duration_s:
        return Throughput(None, None, None)
    arrived = figures(connection, "arrivals")
    completions = arrived["completions"] - uncounted(window, load, arrived["sittings"])
    output_tps = arrived["output_tokens"] / window.duration_s
    input_tps = arrived["input_tokens"] / window.duration_s
    counted = not counts.completed or tokens.output is not None
    counted_all = counted and (not counts.completed or tokens.input is not None)
    return Throughput(
        completions / window.duration_s,
        output_tps if counted else None,
        output_tps + input_tps if counted_all else None,
    )


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


def _violations(connection: DuckDBPyConnection) -> tuple[Violation, ...]:
    broken = connection.execute(
        "SELECT violation, count(*), min(sample_uuid) FROM violations GROUP BY violation ORDER BY violation",
    ).fetchall()
    return tuple(Violation(*row) for row in broken)


def _asked(connection: DuckDBPyConnection) -> int:
    """How many requests asked a prompt of the dataset."""
    ((asked,),) = connection.execute("SELECT count(*) FROM requests WHERE coalesce(turn, 0) = 0").fetchall()
    return int(asked)


def _messages(connection: DuckDBPyConnection) -> dict[str, str]:
    """For each name of a failure, what was said about the first of them."""
    said = connection.execute(
        "SELECT error, arg_min(error_message, ended_ns) FROM requests WHERE measured AND status = 'failed' "
        "GROUP BY error",
    ).fetchall()
    return {error: message or "" for error, message in said}


def _logged(connection: DuckDBPyConnection) -> tuple[Finding, ...]:
    """The load generator's own findings."""
    return tuple(Finding(**row) for row in all_figures(connection, "logged"))
