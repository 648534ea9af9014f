"""`--trace-context`: the ids in the view `samples`, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.remembered_logs import query

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess


@pytest.mark.slow
def test_the_ids_are_in_the_log(
    loadgen: Callable[..., subprocess.CompletedProcess[str]], mock: MockProcess, tmp_path: Path
) -> None:
    """A trace per request, whose columns are NULL in a run without them."""
    endpoint = ("--url", mock.url, "--model", "small-model", "--api-key", "sk-right-key", "-q")
    for options, name in ((["--trace-context"], "traced"), ([], "plain")):
        done = loadgen("perf", *endpoint, "-n", 6, "-c", 2, *options, "--on-invalid", "warn", "--out", name)
        assert done.returncode == 0, done.stderr
    counts = "SELECT count(DISTINCT trace_id), count(DISTINCT span_id), min(len(trace_id)) FROM samples"
    assert query(tmp_path / "traced", counts).rows == [(6, 6, 32)]
    assert query(tmp_path / "plain", counts).rows == [(0, 0, None)]


def test_a_header_of_the_users_own_is_refused_with_it(
    loadgen: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    """A request has one parent."""
    done = loadgen(
        *("perf", "--url", "http://127.0.0.1:1", "--model", "m", "-n", 1, "--trace-context"),
        *("--header", "Traceparent: 00-x"),
    )
    assert done.returncode == 2
    assert "every request gets a new traceparent" in done.stderr
