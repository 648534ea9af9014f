"""What a reader of the log should know of its questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recorder.event import Event, EventType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workloads.dataset import Dataset


def dataset_findings(dataset: Dataset, at_ns: int) -> Iterator[Event]:
    """Say what questions are not quite as they were asked for.

    Args:
        dataset: The questions.
        at_ns: The time, CLOCK_MONOTONIC.
    """
    lengths, trace = dataset.facts.get("lengths") or {}, dataset.facts.get("trace") or {}
    if lengths.get("by") == "words":
        yield _finding(
            at_ns,
            "lengths_approximate",
            f"Lengths of prompts are approximate: a word was taken for {lengths['tokens_per_word']} tokens.",
            "Give the model's tokenizer with --tokenizer, and they are exact.",
        )
    if left_out := trace.get("left_out"):
        yield _finding(
            at_ns,
            "trace_rows_left_out",
            f"Of the trace {dataset.name}, {left_out} requests without input or output tokens were left out.",
            "In BurstGPT these are requests that failed; in other traces, look at them.",
        )


def _finding(at_ns: int, code: str, message: str, remedy: str) -> Event:
    data = {"code": code, "severity": "info", "message": message, "remedy": remedy}
    return Event(EventType.FINDING, at_ns, data=data)
