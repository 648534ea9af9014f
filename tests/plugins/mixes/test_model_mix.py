"""Requests to several models: shares, figures by model, and what the server was asked."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from loadgen import perf
from loadgen.mock_endpoint.process import start_mock
from loadgen.plugins.mixes.model_mix import ModelMix
from loadgen.sessions.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


def test_weights_are_read_and_hold() -> None:
    """Names may have colons; weights of Zipf fall with the rank; prompts draw by weight."""
    assert ModelMix.read("llama3:8b=7,b=3") == ModelMix(("llama3:8b", "b"), (7, 3))
    assert ModelMix.read("zipf:1:a,b,c").weights == pytest.approx((1, 1 / 2, 1 / 3))
    mix = ModelMix.read("a=3,b=1")
    asked = Counter(mix.model(5, prompt) for prompt in range(2000))
    assert abs(asked["a"] / 2000 - 0.75) < 0.05
    assert mix.model(5, 7) == mix.model(5, 7)


@pytest.mark.parametrize("text", ["a", "a=0", "a=1,a=2", "=1", "zipf:x:a,b", "zipf:1:", "a=nan"])
def test_another_form_is_refused_with_the_form(text: str) -> None:
    """The message says what to type."""
    with pytest.raises(UsageError, match="write NAME=WEIGHT"):
        ModelMix.read(text)


def test_a_run_asks_each_model_and_reports_by_model(tmp_path: Path) -> None:
    """The server's record of each request has the model that the log has as a tag; so have the parts."""
    with start_mock(models=("base", "lora"), ttft="2ms", itl="0", tokens="4", truth=tmp_path / "t") as mock:
        run = perf(
            url=mock.url,
            models="base=2,lora=1",
            concurrency=4,
            requests=30,
            out=tmp_path / "run",
            on_invalid="warn",
            require=["ttft{model:lora}:p(50)<60s", "failed{model:base}==0"],
        )
        truth = {each.request_id: each.model for each in mock.truth(requests=30)}
    tagged = run.sql("SELECT sample_uuid, tags ->> 'model' FROM samples").fetchall()
    assert dict(tagged) == truth
    counts = Counter(truth.values())
    report = run.report()
    assert {part.value: part.issued for part in report.breakdown["model"]} == counts
    assert len(counts) == 2
    assert report.verdict is not None
    assert [row.status for row in report.verdict.rows] == ["PASS", "PASS"]
