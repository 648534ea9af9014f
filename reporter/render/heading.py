"""The heading of a report: model, load, and totals in a few lines."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from reporter.number_text import as_written, counted, seconds, whole
from reporter.render.console_page import clean, sentence, text
from reporter.run_facts import is_open_loop

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reporter.report import Report


_LASTED: Final = {"cut_off": "cut off after", "running": "so far"}
"""How long a run has lasted that did not end in order."""


_ARRIVALS: Final = {
    "poisson": "Poisson arrivals",
    "constant": "equal distances",
    "uniform": "uniform distances",
}
"""The arrivals whose words are not `KIND arrivals`."""


def heading(report: Report) -> list[Text]:
    """The model and endpoint; the load and duration; the requests; the measurement."""
    measurement = sentence(*_measurement(report))
    measurement.stylize("dim")
    lines = [_title(report), sentence(*_load(report)), sentence(*_requests(report)), measurement]
    return [line for line in lines if line]


def _title(report: Report) -> Text:
    model, url = report.run.model, report.run.url
    named = text(model or "unnamed model", "bold")
    others = len(report.run.urls or ()) - 1
    where = text(f"{url} and {whole(others)} more" if others > 0 else url)
    return Text(" at ", overflow="fold").join([named, where]) if url else named


def _load(report: Report) -> Iterator[str]:
    yield from load_in_words(report.run.load, "sessions" if _has_trees(report.run.dataset) else "requests")
    if report.window.duration_s is not None:
        kind = _LASTED.get(report.window.kind, "measured for")
        yield f"{kind} {seconds(report.window.duration_s)}"
    if len(segments := report.run.segments) > 1:
        yield f"in {len(segments)} segments"
    if report.counts.warmup:
        yield f"after {counted(report.counts.warmup, 'warm-up request')}"


def _requests(report: Report) -> Iterator[str]:
    run = report.run
    if run.imported is not None:
        yield f"imported results of {run.imported.get('format')}{_lengths(report)}"
    if run.protocol:
        yield f"{'unstreamed' if run.stream is False else 'streamed'} {run.protocol}"
    if dataset := run.dataset:
        kind = "conversation" if dataset.get("conversations") is True else "prompt"
        kind = "session" if _has_trees(dataset) else kind
        kind = f"synthetic {kind}" if dataset.get("synthetic") else kind
        source = "" if dataset.get("synthetic") else f" of {dataset.get('name')}"
        yield f"{counted(dataset.get('rows'), kind)}{source}{_lengths(report)}"
    if run.max_tokens is not None:
        yield f"at most {whole(run.max_tokens)} output tokens each"


def _has_trees(dataset: Mapping[str, Any] | None) -> bool:
    """Whether the load is of session trees, whose concurrency and rate count sessions."""
    return "sessions" in ((dataset or {}).get("facts") or {})


def _lengths(report: Report) -> str:
    """The mean lengths that were measured, in tokens."""
    ends = {"tokens in": report.input_tokens, "out": report.output_tokens}
    lengths = [
        f"~{whole(round(tokens.mean))} {end}"
        for end, tokens in ends.items()
        if tokens is not None and math.isfinite(tokens.mean)
    ]
    return f": {', '.join(lengths)}" if lengths else ""


def _measurement(report: Report) -> Iterator[str]:
    run = report.run
    if started_at := run.started_at:
        since = "running since " if run.ended == "running" else ""
        yield f"{since}{started_at[:16].replace('T', ' ')} UTC"
    if version := run.versions.get("llm-loadgen"):
        yield f"llm-loadgen {version}"
    if source := run.timestamp_source:
        yield f"{source} timestamps"
    if method := run.percentile_method:
        yield f"{method} percentiles"


def load_in_words(load: Mapping[str, Any], unit: str = "requests") -> Iterator[str]:
    """How requests, or sessions, left, one phrase after the other; none where that is not known."""
    rate_unit = "req/s" if unit == "requests" else f"{unit}/s"
    match load.get("kind"):
        case "closed":
            users = "in flight" if unit == "requests" else f"{unit} open"
            number = clean(load["profile"]) if load.get("profile") else whole(load.get("concurrency"))
            yield f"closed loop with {number} {users}"
        case "constant" if load.get("rate") is not None:
            yield f"open loop at a constant {as_written(load['rate'])} {rate_unit}"
        case "trace":
            yield f"open loop, a trace replayed{_speed(load)}"
        case str(kind) if is_open_loop(load):
            name = _ARRIVALS.get(kind) or f"{clean(kind)} arrivals"
            yield f"open loop, {name}{_burstiness(load)} {_rate(load, rate_unit)}"
        case "offline":
            yield "offline, all requests at once"
        case other if other:
            yield clean(other)
    if load.get("max_concurrency") is not None:
        yield f"at most {whole(load['max_concurrency'])} in flight"
    if load.get("think") is not None:
        think = clean(load["think"])
        pace = think.removeprefix("every:")
        yield f"users pausing for {think}" if think == pace else f"each user asking every {pace}"


def _burstiness(load: Mapping[str, Any]) -> str:
    shape = load.get("burstiness")
    return "" if shape is None else f" of burstiness {as_written(shape)}"


def _rate(load: Mapping[str, Any], unit: str) -> str:
    """A rate, constant or varying."""
    if stages := load.get("stages"):
        return f"in {whole(len(stages))} stages"
    shown = as_written(load.get("rate")) if load.get("profile") is None else clean(load["profile"])
    return f"at {shown} {unit}"


def _speed(load: Mapping[str, Any]) -> str:
    speed = load.get("trace_speed")
    return "" if speed is None or speed == 1 else f" {as_written(speed)} times as fast"
