"""Vectors and scores, compared with the mock's truth; and a server with a fault in each response."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.mock_endpoint.process import start_mock
from loadgen.mock_endpoint.scenarios.catalog import SCENARIOS
from loadgen.plugins.selftest.row_result import Miss, RowResult, Times
from loadgen.plugins.selftest.run_rows import run_rows
from loadgen.plugins.selftest.selftest_row import ConformanceRow
from loadgen.plugins.vectors.mock_results import relevance, vector

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

VECTORS: Final = replace(
    SCENARIOS["plain"],
    name="vectors",
    about="embeddings in base64, and scores; a score that is not a number in each response",
    protocols=("json",),
)
_REQUESTS: Final = 6
_ASKED: Final = """
    SELECT
        coalesce(samples.error, samples.status) AS seen,
        ttft_ms,
        inputs::VARCHAR AS inputs,
        query,
        results::VARCHAR AS results
    FROM samples JOIN prompts USING (prompt_id) LEFT JOIN outputs USING (sample_uuid)
    ORDER BY issued_ns
"""


def try_vectors(transport: str, folder: Path) -> RowResult:
    """Ask for vectors and scores over a transport, and compare the log with the mock's truth.

    Args:
        transport: The transport.
        folder: A new folder for the logs.

    Raises:
        MockSetupError: The server did not start.
        WriterError, LogError: The log could not be written, or read.
    """
    folder.mkdir(parents=True)
    with start_mock(ttft="1ms") as mock:
        made = {"encoding": "base64", "dimensions": 8, "save_vectors": True}
        embedded = _asked(mock.url, transport, folder / "embeddings", protocol="embeddings", **made)
        scored = _asked(mock.url, transport, folder / "score", protocol="score")
    with start_mock(ttft="1ms", result_fault="nan") as mock:
        spoilt = _asked(mock.url, transport, folder / "spoilt", protocol="score")
    return RowResult(
        ConformanceRow(VECTORS, "json", transport),
        Times(),
        Times(),
        Counter(row["seen"] for row in (*embedded, *scored, *spoilt)),
        (),
        tuple(map(Miss, _misses(embedded, scored, spoilt))),
    )


def _asked(url: str, transport: str, folder: Path, **options: Any) -> list[dict[str, Any]]:
    """The requests of a run, with their inputs and results."""
    common = {"model": "mock", "requests": _REQUESTS, "concurrency": 2, "batch": "uniform:1..4"}
    return run_rows(
        folder, _ASKED, ("outputs", "prompts"), url=[url], transport=transport, **common, **options
    )


def _misses(
    embedded: Sequence[Mapping[str, Any]],
    scored: Sequence[Mapping[str, Any]],
    spoilt: Sequence[Mapping[str, Any]],
) -> Iterator[str]:
    """Each way in which the logs differ from the mock's truth."""
    for name, rows, wanted in (
        ("vectors", embedded, "completed"),
        ("scores", scored, "completed"),
        ("spoilt scores", spoilt, "wrong_results"),
    ):
        if [row["seen"] for row in rows] != [wanted] * _REQUESTS:
            yield f"{name}: not {_REQUESTS} requests that are {wanted}"
        if any(row["ttft_ms"] is not None for row in rows):
            yield f"{name}: a TTFT of a response without tokens"
    for row in (*embedded, *scored):
        if orjson.loads(row["results"] or "null") != _truth(row["query"], orjson.loads(row["inputs"])):
            yield f"results of {row['inputs']} are not those of the server"


def _truth(query: str | None, inputs: Sequence[str]) -> list[Any]:
    if query is None:
        return [list(vector(text, 8)) for text in inputs]
    return [relevance(query, text) for text in inputs]
