"""Speculative decoding, the server's own times and clients that leave, compared with the server's record."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from loadgen.mock_endpoint.process import start_mock
from loadgen.mock_endpoint.scenarios.catalog import SCENARIOS
from loadgen.plugins.selftest.row_result import Miss, RowResult, Times
from loadgen.plugins.selftest.run_rows import run_rows
from loadgen.plugins.selftest.selftest_row import ConformanceRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from loadgen.mock_endpoint.truth import Truth

STATED: Final = replace(
    SCENARIOS["plain"],
    name="stated",
    about="speculative decoding and times that responses state; clients that leave after six chunks",
    protocols=("chat",),
)
_REQUESTS: Final = 24
_CHUNKS: Final = 6
_NS_PER_MS: Final = 1e6

_ASKED: Final = """
    SELECT
        asked.sample_uuid, asked.status AS seen, asked.ttft_ms, last_token_ms, asked.output_tokens, chunks,
        steps, accepted, histogram, queue_ms, times.ttft_ms AS server_ttft_ms
    FROM samples AS asked
    LEFT JOIN speculation AS drafts ON drafts.sample_uuid = asked.sample_uuid AND drafts.counts
    LEFT JOIN server_times AS times ON times.sample_uuid = asked.sample_uuid AND times.source = 'metrics'
    ORDER BY issued_ns
"""


def try_stated(transport: str, folder: Path) -> RowResult:
    """Ask over a transport, leave some requests, and compare the log with the server's record.

    Args:
        transport: The transport.
        folder: A new folder for the log and the server's truth.

    Raises:
        MockSetupError: The server did not start.
        WriterError, LogError: The log could not be written, or read.
    """
    folder.mkdir(parents=True)
    with start_mock(
        ttft="5ms",
        itl="2ms",
        tokens="60",
        slots=3,
        speculate="4:3,1,0,2",
        statements=("vllm",),
        truth=folder / "truth.jsonl",
    ) as mock:
        asked = run_rows(
            folder / "run",
            _ASKED,
            ("speculation", "server_times"),
            url=[mock.url],
            model="mock",
            requests=_REQUESTS,
            concurrency=4,
            abandon=f"30%:after=tokens:{_CHUNKS}",
            transport=transport,
        )
        truth = {each.request_id: each for each in mock.truth(requests=_REQUESTS)}
    completed = [row for row in asked if row["seen"] == "completed"]
    served = [truth[row["sample_uuid"]] for row in completed]
    return RowResult(
        ConformanceRow(STATED, "chat", transport),
        Times(
            ttft=median((each.chunk_ns[0] - each.received_ns) / _NS_PER_MS for each in served),
            last=median((each.chunk_ns[-1] - each.received_ns) / _NS_PER_MS for each in served),
        ),
        Times(
            ttft=median(row["ttft_ms"] for row in completed),
            last=median(row["last_token_ms"] for row in completed),
        ),
        Counter(row["seen"] for row in asked),
        tuple(sorted({row["output_tokens"] for row in completed})),
        tuple(_misses(asked, truth)),
    )


def _misses(asked: Sequence[Mapping[str, Any]], truth: Mapping[str | None, Truth]) -> Iterator[Miss]:
    """Each way in which the log differs from the server's record.

    On a busy machine a response may have ended before its client reads the chunk after which it leaves.
    """
    if len(asked) != _REQUESTS or not {row["sample_uuid"] for row in asked} <= truth.keys():
        yield Miss(f"{len(asked)} requests, not each of {_REQUESTS} once")
        return
    left = {row["sample_uuid"]: row["chunks"] for row in asked if row["seen"] == "left"}
    aborted = {uuid for uuid, each in truth.items() if each.outcome == "aborted"}
    if left.keys() != aborted or not left:
        yield Miss(
            f"{len(left)} clients left, and {len(aborted)} requests ended without their client",
            only_time=aborted <= left.keys(),
        )
    if early := sum(chunks < _CHUNKS for chunks in left.values()):
        yield Miss(f"{early} clients left before {_CHUNKS} chunks")
    for row in asked:
        if row["seen"] != "left":
            yield from map(Miss, _of_request(row, truth[row["sample_uuid"]]))


def _of_request(row: Mapping[str, Any], served: Truth) -> Iterator[str]:
    drafts = served.stated["drafts"]
    drafted = (row["steps"], row["accepted"], row["histogram"])
    if drafted != (drafts["steps"], drafts["accepted"], drafts["histogram"]):
        yield f"drafts {drafted}, not {drafts}"
    queued_ms = served.stated["queue_ns"] / _NS_PER_MS
    if row["queue_ms"] is None or abs(row["queue_ms"] - queued_ms) > 1 / _NS_PER_MS:
        yield f"a wait of {row['queue_ms']} ms, not {queued_ms} ms"
    elif row["server_ttft_ms"] > row["ttft_ms"] + 1:
        yield f"a TTFT of {row['server_ttft_ms']} ms by the server, above the client's {row['ttft_ms']} ms"
