"""KServe over gRPC, compared with the mock's record: streams, single responses, and faults."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.mock_endpoint.process import start_mock
from loadgen.mock_endpoint.scenarios.catalog import SCENARIOS
from loadgen.plugins.selftest.row_result import TOLERANCE_MS, Miss, RowResult, Times, closest
from loadgen.plugins.selftest.run_rows import run_rows
from loadgen.plugins.selftest.selftest_row import ConformanceRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from loadgen.mock_endpoint.truth import Truth

GRPC: Final = replace(
    SCENARIOS["plain"],
    name="grpc",
    about="texts over gRPC, streamed and whole; a status, a cancelled stream and a slow first message",
    protocols=("sse",),
)
_REPLIES: Final[Sequence[Mapping[str, Any]]] = (
    {"prompt": "down", "status": 503, "error": "no worker"},
    {"prompt": "cut", "reply": "one two three", "finish_reason": "abort"},
    {"prompt": "slow", "reply": "one two three", "ttft": "150ms"},
    {"prompt": "plain", "reply": "one two three"},
)
_SEEN: Final = {"down": "http_503", "cut": "truncated", "slow": "completed", "plain": "completed"}
_NS_PER_MS: Final = 1e6
_ASKED: Final = """
    SELECT
        sample_uuid, prompt_id, coalesce(samples.error, samples.status) AS seen, output, chunks,
        samples.first_token_ns, samples.sent_ns
    FROM samples LEFT JOIN outputs USING (sample_uuid)
    ORDER BY prompt_id
"""


def try_grpc(transport: str, folder: Path) -> RowResult:
    """Ask for streams and single responses, and compare the log with the mock's record.

    Args:
        transport: The transport.
        folder: A new folder for the logs.

    Raises:
        MockSetupError: The server did not start.
        WriterError, LogError: The log could not be written, or read.
    """
    folder.mkdir(parents=True)
    replies, prompts = folder / "replies.jsonl", folder / "prompts.jsonl"
    replies.write_bytes(b"\n".join(map(orjson.dumps, _REPLIES)))
    prompts.write_bytes(b"\n".join(orjson.dumps({"prompt": each["prompt"]}) for each in _REPLIES))
    with start_mock(ttft="20ms", itl="5ms", replies=replies) as mock:
        url = mock.url.replace("http://", "grpc://").removesuffix("/v1")
        common: dict[str, Any] = {"url": [url], "model": "mock", "prompts": str(prompts), "probe": False}
        common |= {"requests": len(_REPLIES), "concurrency": 1, "transport": transport}
        streamed, whole = (
            run_rows(folder / name, _ASKED, ("outputs",), protocol=name, **common)
            for name in ("triton-grpc", "kserve-grpc")
        )
        truth = {each.request_id or "": each for each in mock.truth(2 * len(_REPLIES))}
    good = [row for row in streamed if row["seen"] == "completed" and row["first_token_ns"]]
    true = [(each.chunk_ns[0] - each.received_ns) / _NS_PER_MS for each in map(truth.get, _ids(good)) if each]
    seen = [(row["first_token_ns"] - row["sent_ns"]) / _NS_PER_MS for row in good]
    return RowResult(
        ConformanceRow(GRPC, "sse", transport),
        Times(ttft=median(true) if true else None),
        Times(ttft=median(seen) if seen else None),
        Counter(row["seen"] for row in (*streamed, *whole)),
        (),
        tuple(_misses(streamed, whole, good, truth)),
    )


def _ids(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return [row["sample_uuid"] for row in rows]


def _misses(
    streamed: Sequence[Mapping[str, Any]],
    whole: Sequence[Mapping[str, Any]],
    good: Sequence[Mapping[str, Any]],
    truth: Mapping[str, Truth],
) -> Iterator[Miss]:
    """Each way in which the logs differ from the mock's record."""
    for name, rows in (("streams", streamed), ("single responses", whole)):
        if [row["seen"] for row in rows] != [*_SEEN.values()]:
            yield Miss(f"{name}: not {', '.join(_SEEN.values())}")
            return
        if any(row["output"] != "one two three" for row in rows if row["seen"] == "completed"):
            yield Miss(f"{name}: another text than the server's")
    if any(row["first_token_ns"] is not None for row in whole):
        yield Miss("a first token of a single response")
    errors = [
        (row["first_token_ns"] - truth[row["sample_uuid"]].chunk_ns[0]) / _NS_PER_MS
        for row in good
        if row["chunks"] == len(truth[row["sample_uuid"]].chunk_ns)
    ]
    if len(errors) < len(good) or min(errors) < 0:
        yield Miss("a message lost, or seen before the server sent it")
    elif abs(closest(errors)) > TOLERANCE_MS:
        yield Miss(f"first token off by {closest(errors):.1f} ms", only_time=True)
