"""Parquet, vLLM's result file, OpenMetrics and a push, as their readers read them."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import orjson
import pytest

from loadgen.plugins.exports.command import export
from loadgen.sessions.errors import SetupError, UsageError
from loadgen.sessions.files.target_url import AUTHORIZATION
from loadgen.sessions.settings.export import ExportSettings
from reporter.log.query import query
from tests.cli.stand_ins import StandIn, stand_in

if TYPE_CHECKING:
    from collections.abc import Iterator


READ_BY_VLLM = (
    *("model_id", "completed", "max_concurrency", "request_throughput", "total_token_throughput"),
    *("output_throughput", "mean_ttft_ms", "median_ttft_ms", "p99_ttft_ms", "std_ttft_ms"),
    *("mean_tpot_ms", "median_tpot_ms", "p99_tpot_ms", "std_tpot_ms"),
    *("mean_itl_ms", "median_itl_ms", "p99_itl_ms"),
)
"""What vLLM's tables have of a result file, apart from the server's command line:
vllm-project/vllm@05da17cd:.buildkite/performance-benchmarks/scripts/convert-results-json-to-markdown.py."""


@pytest.fixture
def report(made_run: Path) -> Any:
    """The run's report.json."""
    return orjson.loads((made_run / "report.json").read_bytes())


@pytest.fixture
def gateway() -> Iterator[StandIn]:
    """A Pushgateway that takes everything."""
    with stand_in(lambda _: (200, "text/plain", b"")) as server:
        yield server


@pytest.mark.slow
def test_parquet_has_the_tables_of_the_log(made_run: Path, tmp_path: Path) -> None:
    """The samples as `--samples` writes them; every event and every chunk; all files, or none."""
    folder = tmp_path / "new" / "tables"
    export(ExportSettings(run=made_run, parquet=folder))
    export(ExportSettings(run=made_run, samples=tmp_path / "samples.parquet"))
    same = f"(FROM '{tmp_path}/samples.parquet' EXCEPT ALL FROM '{folder}/samples.parquet')"
    assert duckdb.sql(same).fetchall() == []
    for name in ("events", "chunks"):
        written = duckdb.sql(f"FROM '{folder}/{name}.parquet'").fetchall()
        assert len(written) == len(query(made_run, f"FROM {name}").rows)
    times = "SELECT sample_uuid, min(at_ns), max(at_ns) FROM {} GROUP BY 1 ORDER BY 1"
    written = duckdb.sql(times.format(f"'{folder}/chunks.parquet'")).fetchall()
    assert written == query(made_run, times.format("chunks")).rows
    assert sorted(path.name for path in folder.iterdir()) == [
        "chunks.parquet",
        "events.parquet",
        "samples.parquet",
    ]
    with pytest.raises(UsageError, match=r"has samples\.parquet; choose another folder"):
        export(ExportSettings(run=made_run, parquet=folder))
    export(ExportSettings(run=made_run, parquet=folder, force=True, texts=False))
    columns = [name for name, *_ in duckdb.sql(f"DESCRIBE FROM '{folder}/samples.parquet'").fetchall()]
    assert "output" not in columns
    with pytest.raises(UsageError, match="is a file; name a folder"):
        export(ExportSettings(run=made_run, parquet=tmp_path / "samples.parquet"))


@pytest.mark.slow
def test_the_result_file_of_vllm(made_run: Path, tmp_path: Path, report: Any) -> None:
    """Its statistics follow from its lists as vLLM computes them, and are the report's."""
    file = tmp_path / "result.json"
    export(ExportSettings(run=made_run, vllm_json=file))
    result = orjson.loads(file.read_bytes())
    assert file.read_bytes().count(b"\n") == 1
    assert not [name for name in READ_BY_VLLM if result.get(name) is None]
    assert (result["backend"], result["model_id"], result["num_prompts"]) == (
        "openai-chat",
        "small-model",
        10,
    )
    assert (result["request_rate"], result["max_concurrency"]) == ("inf", 2)
    lists = ("input_lens", "output_lens", "ttfts", "itls", "latencies", "start_times", "errors")
    assert {len(result[name]) for name in lists} == {10}
    assert result["errors"] == [""] * 10
    assert sorted(result["start_times"]) == result["start_times"]
    ttfts_ms = [1e3 * ttft for ttft in result["ttfts"]]
    assert result["mean_ttft_ms"] == pytest.approx(statistics.fmean(ttfts_ms))
    assert result["median_ttft_ms"] == pytest.approx(statistics.median(ttfts_ms))
    assert result["std_ttft_ms"] == pytest.approx(statistics.pstdev(ttfts_ms))
    itls_ms = [1e3 * gap for gaps in result["itls"] for gap in gaps]
    assert result["mean_itl_ms"] == pytest.approx(statistics.fmean(itls_ms))
    assert result["p99_ttft_ms"] == pytest.approx(report["ttft_ms"]["p99"])
    assert result["p99_e2el_ms"] == result["p99_e2e_latency_ms"] == pytest.approx(report["latency_ms"]["p99"])
    assert result["total_output_tokens"] == sum(result["output_lens"]) == report["tokens"]["output"]
    assert result["output_throughput"] == pytest.approx(result["total_output_tokens"] / result["duration"])
    assert result["max_concurrent_requests"] == 2
    outputs = query(
        made_run, "SELECT output FROM outputs JOIN samples USING (sample_uuid) ORDER BY issued_ns"
    )
    assert result["generated_texts"] == [text for (text,) in outputs.rows]
    export(ExportSettings(run=made_run, vllm_json=file, texts=False, force=True))
    assert "generated_texts" not in orjson.loads(file.read_bytes())


def test_openmetrics_for_prometheus(
    made_run: Path, tmp_path: Path, report: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Prometheus' own parser of OpenMetrics takes it; `-` is standard output."""
    parser = pytest.importorskip("prometheus_client.openmetrics.parser", reason="the extra `dev`")
    export(ExportSettings(run=made_run, openmetrics=tmp_path / "run.prom"))
    capsys.readouterr()
    export(ExportSettings(run=made_run, openmetrics=Path("-")))
    text = (tmp_path / "run.prom").read_text()
    assert capsys.readouterr().out == text
    families = {family.name: family for family in parser.text_string_to_metric_families(text)}
    ttft = families["loadgen_ttft_seconds"]
    assert (ttft.type, ttft.unit) == ("summary", "seconds")
    quantiles = {sample.labels.get("quantile"): sample.value for sample in ttft.samples}
    assert quantiles["0.99"] * 1e3 == pytest.approx(report["ttft_ms"]["p99"])
    (qps,) = families["loadgen_qps"].samples
    assert qps.value == pytest.approx(report["throughput"]["qps"])
    assert qps.labels == {"model": "small-model", "run": report["run"]["session_id"]}
    assert families["loadgen_completed"].samples[0].value == 10


def test_a_push(made_run: Path, gateway: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """One group a job and model, replaced as a whole, in the format that the gateway reads."""
    parser = pytest.importorskip("prometheus_client.parser", reason="the extra `dev`")
    monkeypatch.setenv(AUTHORIZATION, "Bearer sk-hidden")
    export(ExportSettings(run=made_run, push_gateway=gateway.url, job="nightly/8b"))
    (request,) = gateway.requests
    assert request.method == "PUT"
    assert request.path == "/metrics/job@base64/bmlnaHRseS84Yg==/model/small-model"
    assert request.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert request.headers["authorization"] == "Bearer sk-hidden"
    names = {family.name for family in parser.text_string_to_metric_families(request.body.decode())}
    assert {"loadgen_ttft_seconds", "loadgen_qps", "loadgen_run_info"} <= names
    gateway.answer = lambda _: (400, "text/plain", b"pushed metrics are invalid")
    with pytest.raises(SetupError, match="answered 400 Bad Request: pushed metrics are invalid") as refused:
        export(ExportSettings(run=made_run, push_gateway=gateway.url))
    assert "sk-hidden" not in str(refused.value)
    with pytest.raises(SetupError, match="cannot be reached"):
        export(ExportSettings(run=made_run, push_gateway="http://127.0.0.1:1"))
    with pytest.raises(UsageError, match=AUTHORIZATION):
        export(ExportSettings(run=made_run, push_gateway="http://me:secret@127.0.0.1"))
    with pytest.raises(UsageError, match="--job applies only to --push-gateway URL"):
        export(ExportSettings(run=made_run, otlp=gateway.url, job="other"))
