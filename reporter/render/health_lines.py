"""The health of client and recorder: one line, or all readings if attention is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from reporter.number_text import figure, percent, reading, size, whole
from reporter.render.console_page import block, sentence, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import RenderableType
    from rich.text import TextType

    from reporter.client_health import RecorderHealth
    from reporter.report import Report

_NOT_SHOWN: Final = frozenset(
    {
        *("readings", "per_worker", "backlog_events_max", "commits", "high_water", "high_water_bytes"),
        *("cpu_share_sum", "parent_cpu_share_mean", "cpu_wait_share_mean", "cpu_wait_share_max"),
    },
)
"""Readings that are left out, or said in other words."""
_ONLY_IF_ANY: Final = frozenset({"held_up_ms", "waiting", "waiting_bytes"})
"""Readings that are left out where they are 0."""
_ABOUT_THE_CLIENT: Final = frozenset({"cpu_contended", "writer_behind", "recorder_slow", "rate_not_reached"})
"""Findings about the client whose names do not begin with `client_`."""


def needs_a_look(report: Report) -> bool:
    """Whether a finding on the client or the recorder needs the reader's attention."""
    has_finding = any(
        finding.severity != "info"
        and any(
            code.startswith("client_") or code in _ABOUT_THE_CLIENT
            for code in (finding.code, *finding.effects)
        )
        for finding in report.findings
    )
    return has_finding or bool(report.recorder.lost) or bool(report.client.held_up_ms)


def in_short(report: Report) -> Iterator[RenderableType]:
    """One line: the client overhead."""
    parts = [*_overhead(report)]
    if report.issue_lag_ms:
        parts.append(f"dispatch delay p99 {figure(report.issue_lag_ms.p99)} ms")
    if report.recorder.lost is not None:
        parts.append(f"{whole(report.recorder.lost)} events lost")
    if parts:
        yield block("Client health", sentence(Text("OK", "green"), sentence(*parts), separator="   "))


def in_full(report: Report) -> Iterator[RenderableType]:
    """Every reading of the client and of the recorder."""
    for label, parts in in_words(report).items():
        yield block(label, sentence(*parts))


def in_words(report: Report) -> dict[str, list[TextType]]:
    """Every available reading in words, by process."""
    parts: dict[str, list[TextType]] = {
        "Client": [*_overhead(report), *_readings(report.client.to_dict())],
        "Recorder": [*_readings(report.recorder.to_dict()), *_peak_queue(report.recorder)],
    }
    return {label: readings for label, readings in parts.items() if readings}


def _overhead(report: Report) -> Sequence[str]:
    if report.own_ttft_share is None:
        return []
    of = "TTFT" if report.ttft_ms else "latency"
    return [f"client overhead {percent(report.own_ttft_share, 1)} of {of} p99"]


def _readings(readings: Mapping[str, Any]) -> Iterator[str]:
    for name, value in readings.items():
        if name not in _NOT_SHOWN and value is not None and (value or name not in _ONLY_IF_ANY):
            yield reading(name, value)


def _peak_queue(recorder: RecorderHealth) -> Iterator[Text]:
    events, size_bytes = recorder.high_water, recorder.high_water_bytes
    if events is not None:
        yield text(f"peak queue {whole(events)} events" + (f" / {size(size_bytes)}" if size_bytes else ""))
