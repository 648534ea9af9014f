"""The findings on the rows of a dataset's file: how a trace was read, and rows that were left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from workloads.dataset import Dataset


def row_findings(dataset: Dataset) -> Iterator[dict[str, str]]:
    """The members of each finding: `code`, `message`, `remedy`, and a `severity` that is not `info`."""
    trace = dataset.facts.get("trace") or {}
    if trace.get("unit"):
        yield _read_as(dataset.name, trace)
    for reason, rows in (dataset.facts.get("left_out") or {}).items():
        yield _left_out(dataset, reason, rows)


def _read_as(name: str, trace: Mapping[str, Any]) -> dict[str, str]:
    from workloads.traces.form import DATES, FORMATS, UNIT_NAMES

    unit = trace["unit"]
    times = "times as dates" if unit == DATES else f"times in {UNIT_NAMES[unit]}"
    blocks = f", blocks of {trace['block_tokens']} tokens" if trace["block_tokens"] else ""
    count, span_s = trace["requests"], trace["span_s"]
    return {
        "code": "trace_read_as",
        "message": f"The trace {name} was read as {FORMATS[trace['format']]}, {times}{blocks}: {count:,} "
        f"requests in {span_s:,.6g} s.",
        "remedy": "If that is wrong, give --trace-format FORMAT,unit=s|ms|us|ns,block=TOKENS.",
    }


def _left_out(dataset: Dataset, reason: str, rows: Mapping[str, Any]) -> dict[str, str]:
    count, first = rows["rows"], rows["first"]
    noun = "row" if count == 1 else "rows"
    of_trace = dataset.offsets_ns is not None
    return {
        "code": "trace_rows_left_out" if of_trace else "prompts_left_out",
        "message": f"{count:,} {noun} of {dataset.name} left out: {reason} (first: {first}).",
        "remedy": "Look at these rows; in BurstGPT they are requests that failed."
        if of_trace
        else "Mend these rows, or refuse such files with --strict-prompts.",
        "severity": "info" if of_trace else "warning",
    }
