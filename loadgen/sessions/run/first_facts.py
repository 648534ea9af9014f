"""What a log has before its first phase: findings on the settings, and the questions of benchmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.sessions.run.benchmark_questions import question_events
from loadgen.sessions.run.recording import put_all
from recorder.event import Event, EventType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadgen.driver.stop import Stop
    from loadgen.driver.system.clock import Clock
    from loadgen.sessions.run.preparation import Prepared
    from recorder.writer import EventRecorder
    from workloads.dataset import Dataset


async def put_first_facts(prepared: Prepared, recorder: EventRecorder, clock: Clock, stop: Stop) -> None:
    """Record what is known before the first phase."""
    if not prepared.targets[0].verify:
        recorder.put(_insecure_finding(clock.now_ns()))
    if prepared.left is None:  # a resumed log has them
        for finding in dataset_findings(prepared.dataset, clock.now_ns()):
            recorder.put(finding)
    questions = question_events(prepared.dataset, prepared.logged_questions, clock.now_ns())
    await put_all(recorder, questions, stop)


def _insecure_finding(at_ns: int) -> Event:
    return Event(
        EventType.FINDING,
        at_ns,
        data={
            "code": "tls_not_verified",
            "severity": "warning",
            "message": "the server's TLS certificate was not verified (--insecure)",
            "remedy": "trust the certificate's authority (SSL_CERT_FILE) and leave --insecure out",
        },
    )


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
