"""A report with values of other types is listed: without them, or as damaged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.plugins.viewing.run_table import row_of
from loadgen.sessions.run_list import DAMAGED, listed

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("change", "is_damaged"),
    [
        ({"throughput": {"qps": "x", "output_tps": []}}, False),
        ({"ttft_ms": {"p50": {}, "p99": "1"}}, False),
        ({"ttft_ms": 7}, False),
        ({"run": {"model": [], "started_at": 5, "load": "fast"}}, False),
        ({"counts": {"issued": 1.5, "failed": "none"}}, False),
        ({"accuracy": [{"headlines": {}}]}, True),
        ({"counts": []}, True),
    ],
)
def test_values_of_other_types_are_left_out(a_run: Path, change: dict[str, Any], *, is_damaged: bool) -> None:
    """Neither the list nor its page fails."""
    path = a_run / "report.json"
    path.write_bytes(orjson.dumps({**orjson.loads(path.read_bytes()), **change}))
    (run,) = listed(a_run.parent)
    assert (run.state == DAMAGED) == is_damaged
    assert row_of(run).folder == a_run.name
