"""The self-test: a server, the client on all of the server's scenarios, and the evaluation."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import partial
from http.client import HTTPConnection
from statistics import median
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import orjson

from loadgen.driver.client.protocols import codec_of
from loadgen.mock_endpoint.process import start_mock
from loadgen.plugins.selftest.measured import read
from loadgen.plugins.selftest.row_requests import ask
from loadgen.plugins.selftest.row_result import closest, evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess
    from loadgen.plugins.selftest.row_requests import MakeCodec
    from loadgen.plugins.selftest.row_result import RowResult
    from loadgen.plugins.selftest.selftest_row import ConformanceRow

AT_ONCE: Final = 24
"""How many rows are tried concurrently."""

CALM: Final = (2, 1, 1, 1)
"""How many rows are tried concurrently in each repetition of those whose times were off."""

_TABLE_TIMEOUT_S: Final = 10.0


def try_all(
    rows: Sequence[ConformanceRow],
    folder: Path,
    *,
    done: Callable[[ConformanceRow], None] = lambda _: None,
    make_codec: MakeCodec = codec_of,
    at_once: int = AT_ONCE,
) -> list[RowResult]:
    """Try rows; repeat rows that differ only in times, up to four times, with less concurrency.

    In a repetition the request that is closest to the truth counts.

    Args:
        rows: What to try.
        folder: Where the logs go.
        done: Called when a row has been tried.
        make_codec: Makes the codec of a protocol.
        at_once: How many rows are tried at a time.

    Raises:
        MockSetupError: The server did not start.
        WriterError, LogError: A log could not be written, or read.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with start_mock(scenario="plain", truth=folder / "truth.jsonl") as mock:
        asking = partial(ask, bases=bases(mock), done=done, make_codec=make_codec)
        results = {
            result.row: result
            for result in _attempt(rows, mock, folder / "1", partial(asking, at_once=at_once))
        }
        for number, calm in enumerate(CALM, start=2):
            if late := [result.row for result in results.values() if result.late]:
                again = _attempt(late, mock, folder / str(number), partial(asking, at_once=calm), closest)
                results |= {result.row: replace(result, tries=number) for result in again}
    return list(results.values())


def _attempt(
    rows: Sequence[ConformanceRow],
    mock: MockProcess,
    folder: Path,
    asking: Callable[..., None],
    typical: Callable[[Sequence[float]], float] = median,
) -> list[RowResult]:
    folder.mkdir()
    asking(rows, folder)
    asked = read(folder)
    truth = {request.request_id: request for request in mock.truth()}
    return [evaluate(row, asked.get(number, ()), truth, typical) for number, row in enumerate(rows)]


def bases(mock: MockProcess) -> Mapping[str, str]:
    """The server's base URL of each scenario, without a path."""
    parts = urlsplit(mock.url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=_TABLE_TIMEOUT_S)
    with closing(connection):
        connection.request("GET", "/")
        table: list[dict[str, Any]] = orjson.loads(connection.getresponse().read())
    return {row["name"]: row["url"].removesuffix(f"/{row['name']}/v1") for row in table}
