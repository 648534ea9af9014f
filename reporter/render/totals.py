"""The totals of a run, in words: requests, throughput, tokens and steady state."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from reporter.imported import figures_of
from reporter.number_text import NOTHING, decimals, figure, fixed, percent, seconds, whole
from reporter.render.console_page import sentence, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.text import Text

    from reporter.report import Report, SteadyState
    from reporter.values.cache_hits import CacheHits

_ENDED: Final = {
    "running": "STILL RUNNING",
    "cut_off": "CUT OFF",
    "interrupted": "INTERRUPTED",
    "worker_lost": "WORKER LOST",
    "error_budget": "ERROR BUDGET SPENT",
    "overloaded": "OVERLOADED",
    "gate_lost": "GATE LOST",
    "warmup_failed": "WARM-UP FAILED",
}
"""How a run ended, where that was not in order."""

_RATES: Final = {
    "req/s": "qps",
    "output tok/s": "output_tps",
    "at the peak": "peak_tps",
    "total tok/s": "total_tps",
    "tok/s per user": "user_tps",
}

_SOURCES: Final = {
    "server_usage": "counted by the server",
    "client_tokenizer": "counted by a local tokenizer",
    "chunks": "one chunk taken for one token",
    "mixed": "counted partly by the server, partly here",
}


def ended(report: Report) -> str:
    """How a run ended that did not end in order; empty where its validity says so."""
    words = _ENDED.get(report.run.ended, "")
    return "" if words == report.validity.label else words


def requests(report: Report) -> Text:
    """How many requests completed, failed and were cancelled."""
    if own := figures_of(report.run.imported):
        ends = ("completed", "failed", "cancelled")
        return sentence(*(f"{whole(own[end])} {end}" for end in ends if own.get(end) is not None))
    counts = report.counts
    failed = f"{whole(counts.failed)} failed"
    return sentence(
        f"{whole(counts.completed)} of {whole(counts.issued)} completed",
        text(f"{failed} ({percent(counts.failed, counts.issued)})", "red") if counts.failed else failed,
        f"{whole(counts.retries)} retries" if counts.retries else "",
        f"{whole(counts.cancelled)} cancelled" if counts.cancelled else "",
        f"{whole(counts.in_flight)} still in flight" if counts.in_flight else "",
        f"{whole(counts.abandoned)} asked again" if counts.abandoned else "",
        f"{whole(counts.scheduled - counts.issued)} never issued" if counts.scheduled > counts.issued else "",
    )


def throughput(report: Report) -> Text:
    """The rates: on average, at the peak, and per user."""
    rates: Mapping[str, float | None] = figures_of(report.run.imported) or {
        **asdict(report.throughput),
        **_further(report),
    }
    units = {name: rates.get(rate) for name, rate in _RATES.items()}
    rate_texts = [f"{figure(rate, 4)} {unit}" for unit, rate in units.items() if rate is not None]
    return sentence(*rate_texts or [NOTHING])


def _further(report: Report) -> dict[str, float | None]:
    tpot = report.tpot_ms
    return {"peak_tps": _peak_tps(report), "user_tps": 1e3 / tpot.p50 if tpot and tpot.p50 else None}


def _peak_tps(report: Report) -> float | None:
    """The output tok/s of the busiest moment of the window; None where the window has a single moment."""
    rates = [
        moment.output_tps
        for moment in report.over_time
        if moment.output_tps and 0 <= moment.start_s < (report.window.duration_s or 0.0)
    ]
    return max(rates) if len(rates) > 1 and report.throughput.output_tps is not None else None


def concurrency(report: Report) -> Text | None:
    """The requests in flight: the mean by Little's law, and the most; None where neither is known."""
    qps, latency, peak = report.throughput.qps, report.latency_ms, report.client.in_flight_max
    mean = f"{figure(qps * latency.mean / 1e3)} in flight on average" if qps and latency else ""
    return sentence(mean, f"{whole(peak)} at most" if peak else "") if mean or peak else None


def tokens(report: Report) -> Text:
    """The totals of tokens, and the source of the counts; empty where nothing was counted here."""
    if figures_of(report.run.imported):
        return text("")
    totals = report.tokens
    kinds = {
        "output": totals.output,
        "of it reasoning": totals.reasoning,
        "input": totals.input,
        "of it cached": totals.cached,
    }
    parts = {"of it reasoning", "of it cached"}
    count_texts = [f"{whole(n)} {kind}" for kind, n in kinds.items() if n or (n == 0 and kind not in parts)]
    per_chunk = ""
    if totals.output and totals.chunks and totals.source != "chunks":
        per_chunk = f"{figure(totals.output / totals.chunks)} per chunk"
    return sentence(*count_texts or [NOTHING], per_chunk, _SOURCES.get(totals.source or "", ""))


def cache_hits(hits: CacheHits) -> Text:
    """The share of cached prompt tokens, by responses and server, with the target."""
    from reporter.cache_hits import in_percent

    by_server = f"by the server{', warm-up included' * hits.counts_warmup}"
    shares = {"by usage": hits.measured, by_server: hits.by_server}
    return sentence(
        f"target {in_percent(hits.target)}",
        *(f"{in_percent(share)} {source}" for source, share in shares.items() if share is not None),
    )


def steady_state(steady: SteadyState) -> Text:
    """The span of the steady state, with latency and rate."""
    figures = {"latency": (steady.latency_ms, "ms"), "": (steady.qps, "req/s")}
    figure_texts = [
        f"{name} {fixed(interval.mean, places)} \u00b1 {fixed(interval.margin, places)} {unit}".lstrip()
        for name, (interval, unit) in figures.items()
        if interval is not None
        for places in [decimals(interval.mean, 4)]
    ]
    return sentence(f"from {seconds(steady.start_s)} to {seconds(steady.end_s)}", *figure_texts)
