"""Probes during a load: the server's record, the figures of probes, and the figures without probes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from loadgen import perf
from loadgen.mock_endpoint.process import start_mock
from loadgen.plugins.probes.probe_kind import ProbeKind
from loadgen.sessions.settings.option import OptionValueError
from reporter.render import report_markdown

if TYPE_CHECKING:
    from pathlib import Path


def test_a_kind_is_read() -> None:
    """All members but the rate have defaults; another form is refused with the form."""
    assert ProbeKind.read("2:input=8,output=4,model=org/m") == ProbeKind(2, 8, 4, "org/m")
    assert ProbeKind.read("0.5") == ProbeKind(0.5, 64, 16, "")
    for text in ("", "0", "-1", "1001", "nan", "2:input=0", "2:inputs=3", "2:input=x", "every"):
        with pytest.raises(OptionValueError, match="write PROBES_PER_SECOND"):
            ProbeKind.read(text)


def test_probes_are_out_of_the_load_and_have_figures_of_their_own(tmp_path: Path) -> None:
    """The server saw probes and the load; the report, rules and SQL keep both apart."""
    with start_mock(models=("big", "small"), ttft="30ms", itl="1ms", tokens="20") as mock:
        run = perf(
            url=mock.url,
            model="big",
            concurrency=3,
            duration="1.2s",
            warmup="3",
            probes="20:input=10,output=2,model=small",
            out=tmp_path / "run",
            on_invalid="warn",
            require=["probe_ttft_p95<60s", "probe_latency_p50<1ms"],
        )
        report = run.report()
        figures = report.sections["probes"].figures
        truth = mock.truth(requests=int(figures["probes"] or 0) + report.counts.issued + 3)
    of_model = Counter(each.model for each in truth)
    assert of_model == {"small": figures["completed"], "big": report.counts.issued + 3}
    # 20/s for 1.2 s, the first at once.
    assert 20 <= of_model["small"] <= 25
    assert report.output_tokens is not None
    assert (report.output_tokens.min, report.output_tokens.max) == (20, 20)
    assert report.counts.warmup == 3
    assert report.ttft_ms is not None
    assert report.ttft_ms.count == report.counts.completed

    sent = {each.request_id: each for each in truth if each.model == "small"}
    rows = run.sql(
        "SELECT sample_uuid, ttft_ms, output_tokens, input_tokens FROM samples WHERE phase = 'probe'"
    ).fetchall()
    assert {uuid for uuid, *_ in rows} == sent.keys()
    assert {tokens for _, _, tokens, _ in rows} == {2}
    assert figures["ttft_p50_ms"] == pytest.approx(sorted(row[1] for row in rows)[len(rows) // 2], rel=0.5)
    assert min(row[1] for row in rows) >= 30
    assert report.verdict is not None
    assert [row.status for row in report.verdict.rows] == ["PASS", "FAIL"]
    assert "prompts_repeated" not in {finding.code for finding in report.findings}
    assert "Probes" in report_markdown.render(report)
