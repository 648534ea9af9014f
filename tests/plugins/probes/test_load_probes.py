"""Probes during a load: the server's record, the figures of probes, and the figures without probes."""

from __future__ import annotations

from collections import Counter
from statistics import median
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


def test_probes_are_out_of_the_load_and_have_figures_by_url(tmp_path: Path) -> None:
    """Each server saw probes and the load; the report, rules and SQL keep both apart."""
    models = ("big", "small")
    with (
        start_mock(models=models, ttft="30ms", itl="1ms", tokens="20") as mock,
        start_mock(models=models, ttft="90ms", itl="1ms", tokens="20") as slow,
    ):
        run = perf(
            url=[mock.url, slow.url],
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
        seen = dict(
            run.sql(
                "SELECT endpoint, count(*) FROM samples WHERE status = 'completed' GROUP BY endpoint"
            ).fetchall()
        )
        truth = {each.url: each.truth(requests=seen[each.url]) for each in (mock, slow)}
    of_model = Counter(answered.model for each in truth.values() for answered in each)
    assert of_model == {"small": figures["completed"], "big": report.counts.issued + 3}
    assert report.output_tokens is not None
    assert (report.output_tokens.min, report.output_tokens.max) == (20, 20)
    assert report.counts.warmup == 3
    assert report.ttft_ms is not None
    assert report.ttft_ms.count == report.counts.completed

    rows = run.sql(
        "SELECT endpoint, sample_uuid, ttft_ms, output_tokens FROM samples WHERE phase = 'probe'"
    ).fetchall()
    table = {row[0]: row[1:] for row in report.sections["probes"].tables[1].rows}
    for url, least_ms in ((mock.url, 30), (slow.url, 90)):
        sent = {each.request_id for each in truth[url] if each.model == "small"}
        probes = [row for row in rows if row[0] == url]
        # 20/s for 1.2 s, the first at once.
        assert 20 <= len(sent) <= 25
        assert {row[1] for row in probes} == sent
        assert {row[3] for row in probes} == {2}
        assert min(row[2] for row in probes) >= least_ms
        assert table[url][:3] == [len(probes), len(probes), pytest.approx(median(row[2] for row in probes))]
    assert report.verdict is not None
    assert [row.status for row in report.verdict.rows] == ["PASS", "FAIL"]
    assert "prompts_repeated" not in {finding.code for finding in report.findings}
    assert "Probes" in report_markdown.render(report)
