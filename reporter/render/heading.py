"""What was run, in the few lines that a report opens with."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from rich.text import Text

from reporter.render.figures import counted, seconds, whole
from reporter.render.load import load_in_words
from reporter.render.page import sentence, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reporter.report import Report


_LASTED: Final = {"cut_off": "cut off after", "running": "so far"}
"""How long a run has lasted that did not end in order."""


def heading(report: Report) -> list[Text]:
    """The model and where it is served; the load and how long it lasted; the requests; the measurement."""
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
    yield from load_in_words(report.run.load)
    if report.window.duration_s is not None:
        kind = _LASTED.get(report.window.kind, "measured for")
        yield f"{kind} {seconds(report.window.duration_s)}"
    if len(segments := report.run.sittings) > 1:
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
        kind = f"synthetic {kind}" if dataset.get("synthetic") else kind
        source = "" if dataset.get("synthetic") else f" of {dataset.get('name')}"
        yield f"{counted(dataset.get('rows'), kind)}{source}{_lengths(report)}"
    if run.max_tokens is not None:
        yield f"at most {whole(run.max_tokens)} output tokens each"


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
