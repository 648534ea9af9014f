"""vLLM's result file of runs that went wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.plugins.exports.vllm_json import TABLES, render
from reporter.reporter import MetricsReporter

if TYPE_CHECKING:
    from collections.abc import Callable


def rendered(run: Any) -> Any:
    """The file of a run, parsed."""
    with MetricsReporter(run.write()) as reporter:
        report = reporter.create_report()
        reporter.log.load(TABLES)
        return orjson.loads(b"".join(render(reporter.log, report, texts=True)))


def test_a_failed_request_keeps_its_place(a_run: Callable[..., Any]) -> None:
    """With no tokens and its error, as vLLM has it; other figures are of the rest."""
    run = a_run().answers(50, 60, at=0, usage=(7, 2), texts={"output": "ok"})
    result = rendered(run.fails("reset", at=5, failed=30).stops(100).ends())
    assert (result["completed"], result["failed"], result["num_prompts"]) == (1, 1, 2)
    assert result["ttfts"] == [0.05, 0.0]
    assert result["itls"] == [[0.01], []]
    assert result["output_lens"] == [2, 0]
    assert result["errors"] == ["", "reset!"]
    assert result["generated_texts"] == ["ok", ""]
    assert result["max_concurrent_requests"] == 1


@pytest.mark.slow
def test_nothing_completed(a_run: Callable[..., Any]) -> None:
    """No statistic, no division by nothing."""
    result = rendered(a_run().fails("reset").stops(100).ends())
    assert result["completed"] == 0
    assert "mean_ttft_ms" not in result
    assert result["output_throughput"] in {0, None}
    assert rendered(a_run().ends())["ttfts"] == []
