"""Tokens that the server counts and no chunk shows: TPOT and ITL are those of the tokens all the same."""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.mock_endpoint.process import start_mock
from tests.remembered_logs import query
from tests.truths import truth_of

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from loadgen.mock_endpoint.truth import Truth

pytestmark = pytest.mark.usefixtures("remembered_logs")

CALL = {"name": "search", "arguments": '{"text": "one two three four five six seven eight nine ten"}'}
STREAMS = """
SELECT
    sample_uuid, first_token_ns, last_token_ns, coalesce(finish_ns, last_token_ns), chunks,
    output_tokens, tpot_ms
FROM samples
"""


class Measured:
    """Thirty requests, as reported, and as the server knows them.

    Attributes:
        report: The report.
        streams: The rows of `STREAMS`.
        truths: The server's record of each request.
    """

    def __init__(self, report: Any, streams: list[Any], truths: dict[str, Truth]) -> None:
        self.report = report
        self.streams = streams
        self.truths = truths

    def rows(self) -> dict[str, Any]:
        """The table of server and client, by quantity."""
        return {row["quantity"]: row for row in self.report["server_side"]["compared"]}


@pytest.fixture
def measure(
    loadgen: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> Callable[..., Measured]:
    """Send thirty requests to a server with these options."""

    def measure(**options: Any) -> Measured:
        with start_mock(ttft="5ms", itl="4ms", **options) as mock:
            run = loadgen(
                *("perf", "--url", mock.url, "--model", "m", "-n", 30, "-c", 3, "-q", "--out", "run"),
                *("--server-metrics", "--on-invalid", "warn", "--json"),
            )
            assert run.returncode == 0, run.stderr
            streams = query(tmp_path / "run", STREAMS).rows
            truths = truth_of(mock, [uuid for uuid, *_ in streams])
        return Measured(orjson.loads(run.stdout), streams, truths)

    return measure


def require_table_of_truth(measured: Measured) -> None:
    """TPOT and ITL of the server are those of its tokens, shown or not; the client's those of the report."""
    times = [sorted(truth.chunk_ns + truth.silent_ns) for truth in measured.truths.values()]
    rows = measured.rows()
    tpot_ms = fmean((each[-1] - each[0]) / (len(each) - 1) for each in times) / 1e6
    itl_ms = fmean(after - before for each in times for before, after in pairwise(each)) / 1e6
    assert rows["TPOT mean (ms)"]["server"] == pytest.approx(tpot_ms, rel=1e-5)
    assert rows["ITL mean (ms)"]["server"] == pytest.approx(itl_ms, rel=1e-5)
    assert rows["TPOT mean (ms)"]["client"] == pytest.approx(measured.report["tpot_ms"]["mean"], rel=1e-5)
    assert rows["ITL mean (ms)"]["client"] == pytest.approx(
        measured.report["itl_ms"]["mean"], abs=0.001
    )  # gaps are kept in whole microseconds
    assert rows["output tokens"]["agrees"]
    assert len(measured.streams) == 30


def test_an_end_of_sequence_token(measure: Callable[..., Measured]) -> None:
    """The time between the stamps is of the chunks, which are one token fewer than the server counts."""
    measured = measure(tokens="uniform:2..6", count_eos=True)
    require_table_of_truth(measured)
    for uuid, first_ns, last_ns, _, chunks, tokens, tpot_ms in measured.streams:
        truth = measured.truths[uuid]
        assert (chunks, tokens) == (len(truth.chunk_ns), truth.tokens) == (tokens - 1, tokens)
        assert first_ns >= truth.chunk_ns[0]
        assert last_ns >= truth.chunk_ns[-1]
        assert tpot_ms == pytest.approx((last_ns - first_ns) / (len(truth.chunk_ns) - 1) / 1e6)
    assert measured.rows()["TPOT mean (ms)"]["agrees"] is not None
    assert measured.rows()["ITL mean (ms)"]["agrees"] is not None


def test_tool_calls_that_a_parser_holds_back(measure: Callable[..., Measured], tmp_path: Path) -> None:
    """All tokens after the first are between the first chunk and the one with the call."""
    script = tmp_path / "replies.jsonl"
    script.write_bytes(orjson.dumps({"reply": "I look it up.", "tool_calls": [CALL]}))
    measured = measure(replies=script, hold_calls=True)
    require_table_of_truth(measured)
    for uuid, first_ns, _, finish_ns, chunks, tokens, tpot_ms in measured.streams:
        truth = measured.truths[uuid]
        assert (chunks, tokens) == (len(truth.chunk_ns), truth.tokens) == (5, 16)
        assert finish_ns >= truth.chunk_ns[-1]
        assert tpot_ms == pytest.approx((finish_ns - first_ns) / (truth.tokens - 1) / 1e6)
    assert measured.rows()["TPOT mean (ms)"]["agrees"] is not None
    # The gaps of the client are four of fifteen.
    assert measured.rows()["ITL mean (ms)"]["agrees"] is None
    assert "tokens_held_back" in [finding["code"] for finding in measured.report["findings"]]
