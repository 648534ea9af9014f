"""Large requests to a server that reads slowly, compared with what the server has recorded."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.driver.system.child_process import start_child
from loadgen.mock_endpoint.scenarios.catalog import SCENARIOS
from loadgen.plugins.selftest.row_result import TOLERANCE_MS, Miss, RowResult, Times, closest
from loadgen.plugins.selftest.run_rows import run_rows
from loadgen.plugins.selftest.selftest_row import ConformanceRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

UPLOADS: Final = replace(
    SCENARIOS["plain"],
    name="uploads",
    about="a server that reads requests of 2 MB at 20 MB/s, and answers 20 ms after their last bytes",
    protocols=("chat",),
)
RATE: Final = 20_000_000
_BYTES: Final = 2_000_000
_REQUESTS: Final = 4
_NS_PER_MS: Final = 1e6
_HAS_UPLOADS: Final = ("native", "python")

_ASKED: Final = """
    SELECT
        sample_uuid, coalesce(error, status) AS seen, ttft_ms, last_token_ms, output_tokens, request_bytes,
        upload_ms, upload_high_ms, ttft_after_upload_ms, ttft_after_upload_high_ms
    FROM samples ORDER BY issued_ns
"""


def try_uploads(transport: str, folder: Path) -> RowResult:
    """Send large requests over a transport, and compare the log with the server's record.

    Args:
        transport: The transport.
        folder: A new folder for the prompts and the log.

    Raises:
        OSError: The server did not start.
        WriterError, LogError: The log could not be written, or read.
    """
    folder.mkdir(parents=True)
    prompts = folder / "prompts.jsonl"
    prompts.write_bytes(orjson.dumps({"prompt": "word " * (_BYTES // 5)}))
    with slow_server(RATE) as (url, records):
        asked = run_rows(
            folder / "run",
            _ASKED,
            url=[url],
            model="slow",
            prompts=str(prompts),
            requests=_REQUESTS,
            concurrency=1,
            transport=transport,
            probe=False,
        )
        served = {record["id"]: record for record in records(_REQUESTS)}
    return RowResult(
        ConformanceRow(UPLOADS, "chat", transport),
        Times(ttft=median(map(true_ttft_ms, served.values()))),
        Times(
            ttft=median(row["ttft_after_upload_ms"] or row["ttft_ms"] or 0.0 for row in asked)
            if asked
            else None,
            last=median(row["last_token_ms"] or 0.0 for row in asked) if asked else None,
        ),
        Counter(row["seen"] for row in asked),
        tuple(sorted({row["output_tokens"] for row in asked if row["output_tokens"] is not None})),
        tuple(_misses(asked, served, has_uploads=transport in _HAS_UPLOADS)),
    )


@contextmanager
def slow_server(rate: float, certificate: Path | None = None) -> Iterator[tuple[str, Any]]:
    """Run `slow_server` in a process; give its URL, and a function that reads a number of its records."""
    with start_child(
        "loadgen.plugins.selftest.slow_server",
        str(rate),
        *([] if certificate is None else [str(certificate)]),
        environment=os.environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as server:
        assert server.stdin is not None  # noqa: S101 (asked for)
        assert server.stdout is not None  # noqa: S101 (asked for)
        lines = server.stdout
        try:
            yield (
                lines.readline().decode().strip(),
                lambda count: [orjson.loads(lines.readline()) for _ in range(count)],
            )
        finally:
            server.stdin.close()


def true_ttft_ms(record: Mapping[str, Any]) -> float:
    """The server's time from the last byte of a request to the answer."""
    milliseconds: float = (record["answered_ns"] - record["read_ns"]) / _NS_PER_MS
    return milliseconds


def _misses(
    asked: Sequence[Mapping[str, Any]], served: Mapping[str, Mapping[str, Any]], *, has_uploads: bool
) -> Iterator[Miss]:
    """Each way in which the log differs from the server's record."""
    if {row["sample_uuid"] for row in asked} != served.keys() or len(asked) != _REQUESTS:
        yield Miss(f"{len(asked)} requests in the log, {len(served)} at the server, not {_REQUESTS}")
        return
    if not has_uploads:
        return
    errors = []
    for row in asked:
        record = served[row["sample_uuid"]]
        if row["ttft_after_upload_ms"] is None or not row["request_bytes"] > record["bytes"]:
            yield Miss("no upload in the log")
            return
        true_ms = true_ttft_ms(record)
        if row["ttft_after_upload_high_ms"] < true_ms:
            yield Miss("TTFT after upload is above its upper bound")
        errors.append(row["ttft_after_upload_ms"] - true_ms)
    if abs(closest(errors)) > TOLERANCE_MS:
        yield Miss(f"TTFT after upload off by {closest(errors):.1f} ms", only_time=True)
