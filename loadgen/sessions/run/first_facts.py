"""The facts in a log before the first phase: findings on settings, and the questions of benchmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadgen.driver.client.dialing import ignored_proxy
from loadgen.sessions.loop_recorder import put_all
from recorder.event import Event, EventType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from loadgen.driver.stop import Stop
    from loadgen.driver.system.clock import Clock
    from loadgen.sessions.run.preparation import Prepared
    from recorder.writer import EventRecorder
    from workloads.dataset import Dataset


async def put_first_facts(prepared: Prepared, recorder: EventRecorder, clock: Clock, stop: Stop) -> None:
    """Record the facts known before the first phase."""
    if not prepared.targets[0].verify:
        recorder.put(
            _finding(
                clock.now_ns(),
                "tls_not_verified",
                "the server's TLS certificate was not verified (--insecure)",
                "trust the certificate's authority (SSL_CERT_FILE) and leave --insecure out",
                "warning",
            )
        )
    if prepared.perf.client.transport != "aiohttp" and (remark := ignored_proxy(prepared.targets[0])):
        recorder.put(
            _finding(
                clock.now_ns(),
                "proxy_ignored",
                f"Requests went directly to {prepared.targets[0].host}: {remark}.",
                f"Put {prepared.targets[0].host} into no_proxy, or give --transport aiohttp.",
            )
        )
    if prepared.left is None:  # a resumed log has them
        for finding in dataset_findings(prepared.dataset, clock.now_ns()):
            recorder.put(finding)
    if prepared.dataset.tasks:
        from loadgen.sessions.run.benchmark_questions import question_events

        questions = question_events(prepared.dataset, prepared.logged_questions, clock.now_ns())
        await put_all(recorder, questions, stop)


def dataset_findings(dataset: Dataset, at_ns: int) -> Iterator[Event]:
    """The findings on questions that differ from the request."""
    lengths, trace = dataset.facts.get("lengths") or {}, dataset.facts.get("trace") or {}
    if lengths.get("by") == "words":
        yield _finding(
            at_ns,
            "lengths_approximate",
            f"Lengths of prompts are approximate: a word was taken for {lengths['tokens_per_word']} tokens.",
            "Give the model's tokenizer with --tokenizer, and they are exact.",
        )
    if trace.get("unit"):
        yield _read_as(dataset.name, trace, at_ns)
    for reason, rows in (dataset.facts.get("left_out") or {}).items():
        yield _left_out(dataset, reason, rows, at_ns)


def _read_as(name: str, trace: Mapping[str, Any], at_ns: int) -> Event:
    from workloads.traces.form import DATES, FORMATS, UNIT_NAMES

    unit = trace["unit"]
    times = "times as dates" if unit == DATES else f"times in {UNIT_NAMES[unit]}"
    blocks = f", blocks of {trace['block_tokens']} tokens" if trace["block_tokens"] else ""
    count, span_s = trace["requests"], trace["span_s"]
    return _finding(
        at_ns,
        "trace_read_as",
        f"The trace {name} was read as {FORMATS[trace['format']]}, {times}{blocks}: {count:,} requests in "
        f"{span_s:,.6g} s.",
        "If that is wrong, give --trace-format FORMAT,unit=s|ms|us|ns,block=TOKENS.",
    )


def _left_out(dataset: Dataset, reason: str, rows: Mapping[str, Any], at_ns: int) -> Event:
    count, first = rows["rows"], rows["first"]
    of_trace = dataset.offsets_ns is not None
    return _finding(
        at_ns,
        "trace_rows_left_out" if of_trace else "prompts_left_out",
        f"{count:,} {'row' if count == 1 else 'rows'} of {dataset.name} left out: {reason} (first: {first}).",
        "Look at these rows; in BurstGPT they are requests that failed."
        if of_trace
        else "Mend these rows, or refuse such files with --strict-prompts.",
        "info" if of_trace else "warning",
    )


def _finding(at_ns: int, code: str, message: str, remedy: str, severity: str = "info") -> Event:
    data = {"code": code, "severity": severity, "message": message, "remedy": remedy}
    return Event(EventType.FINDING, at_ns, data=data)
