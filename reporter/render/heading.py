"""What was run, in the two or three lines that a report opens with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from reporter.render.figures import given, seconds, whole
from reporter.render.page import sentence, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reporter.report import Report


def heading(report: Report) -> list[Text]:
    """The model and where it is served; the load and how long it lasted; the requests."""
    model, url = _setting(report, "model"), _setting(report, "url")
    title = Text(" at ", overflow="fold").join(
        [text(model or "unnamed model", "bold"), *([text(url)] if url else [])]
    )
    lines = [title, sentence(*_load(report)), sentence(*_requests(report))]
    return [line for line in lines if line]


def _load(report: Report) -> Iterator[str]:
    load = _setting(report, "load") or {}
    match load.get("kind"):
        case "closed":
            yield f"closed loop with {whole(load.get('concurrency'))} in flight"
        case "constant":
            yield f"open loop at a constant {given(load.get('rate'))} requests/s"
        case "poisson":
            yield f"open loop, Poisson arrivals at {given(load.get('rate'))} requests/s"
        case "offline":
            yield "offline, all requests at once"
        case other if other:
            yield str(other)
    if report.window.duration_s is not None:
        kind = "cut off after" if report.window.kind == "cut_off" else "measured for"
        warmup = f", {whole(report.counts.warmup)} warm-up requests aside" if report.counts.warmup else ""
        yield f"{kind} {seconds(report.window.duration_s)}{warmup}"


def _requests(report: Report) -> Iterator[str]:
    if protocol := _setting(report, "protocol"):
        yield f"{protocol} {'not streamed' if _setting(report, 'stream') is False else 'streamed'}"
    if dataset := _setting(report, "dataset"):
        prompts = "synthetic prompts" if dataset.get("synthetic") else f"prompts of {dataset.get('name')}"
        yield f"{whole(dataset.get('rows'))} {prompts}"
    if limit := _setting(report, "max_tokens"):
        yield f"at most {whole(limit)} output tokens each"


def _setting(report: Report, name: str) -> Any:
    return report.run.get(name, (report.run.get("settings") or {}).get(name))
