"""A search over agents finds the capacity that a mock is known to have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.mock_endpoint.process import start_mock
from tests.plugins.agentic.weka_files import conversation, request, written

if TYPE_CHECKING:
    from pathlib import Path

SPEED = {"itl": "10ms", "slowdown": "7.4ms", "tokens": "uniform:10..14"}
"""n agents have 1000 / (10 + 7.4 (n - 1)) tok/s: 21.3 of 6, and 18.4 of 7."""

FEW = ("--skip", "validity.min_sessions", "--skip", "validity.min_sessions_per_concurrency")
"""Trials of a second complete no session."""

PLACES = {"itl": "20ms", "slots": 6, "tokens": "uniform:10..14"}
"""The seventh agent waits a sixth of an answer, 40 ms, in the mean."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("capacity", "rules"),
    [
        (SPEED, ("--ruleset", "agentperf-like", "--scenario", "*/tier-20", *FEW)),
        (PLACES, ("--require", "tps_per_user:p(75)>=20", "--require", "ttft:p(95)<=25ms")),
    ],
)
def test_a_search_finds_the_known_number_of_agents(
    loadgen: Any, tmp_path: Path, capacity: dict[str, Any], rules: tuple[str, ...]
) -> None:
    """By the tier's speed, by the tier's TTFT: six agents that replay sessions meet it, and seven do not."""
    turns = [request(number, range(number + 2), took=1, out=14) for number in range(5)]
    trace = written(tmp_path / "trace.jsonl", *(conversation(*turns, name=f"{n}") for n in range(150)))
    replay = ("--trace", trace, "--trace-speed", 1000, "--salt")
    with start_mock(ttft="1ms", **capacity) as server:
        common = ("--url", server.url, "--model", "mock", "-c", "5..8", "--point-duration", "1s", "-q")
        common = (*common, "--gpus", 2)
        done = loadgen(
            "search", *common, *replay, *rules, "--on-invalid", "warn", "--json", "--out", "search"
        )
    result = orjson.loads(done.stdout)
    assert (result["concurrency"], result["between"]) == (6, [6, 7]), result["message"]
    assert result["per_gpu"] == 3
    assert "6 users, 3 per GPU" in result["message"]
