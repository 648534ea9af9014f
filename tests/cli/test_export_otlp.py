"""OTLP: a collector stand-in gets the spans that the log and the server know, and the report's figures."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.plugins.exports.command import export
from loadgen.sessions.errors import SetupError, UsageError
from loadgen.sessions.settings.export import ExportSettings
from reporter.log.query import query
from tests.cli.stand_ins import STREAM, ReceivedRequest, Reply, StandIn, stand_in
from tests.conftest import clean_environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.preloaded import Preloaded

pytest.importorskip("opentelemetry.sdk", reason="the extra `otel`")


@pytest.fixture
def collector() -> Iterator[StandIn]:
    """Takes everything."""
    with stand_in(lambda _: (200, "application/x-protobuf", b"")) as server:
        yield server


@pytest.fixture(scope="module")
def endpoint() -> Iterator[StandIn]:
    """A model server that is busy for the first request."""

    def answer(_: ReceivedRequest) -> Reply:
        busy = len(server.requests) == 1
        return (503, "text/plain", b"busy") if busy else (200, "text/event-stream", STREAM)

    with stand_in(answer) as server:
        yield server


@pytest.fixture(scope="module")
def traced_run(preloaded: Preloaded, endpoint: StandIn, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with a trace context, one of whose requests was retried; not to be changed."""
    folder = tmp_path_factory.mktemp("traced")
    done = preloaded.run(
        *("perf", "--url", endpoint.url, "--model", "m", "-n", 8, "-c", 2, "-q", "--no-probe"),
        *("--trace-context", "--retry", 2, "--on-invalid", "warn", "--out", "run"),
        cwd=folder,
        env=clean_environment(),
    )
    assert done.returncode == 0, done.stderr
    return folder / "run"


def spans_of(collector: StandIn) -> list[Any]:
    """What the collector was sent to /v1/traces."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    messages = [
        ExportTraceServiceRequest.FromString(content(request))
        for request in collector.requests
        if request.path == "/v1/traces"
    ]
    return [
        span
        for message in messages
        for resource in message.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def content(request: ReceivedRequest) -> bytes:
    """The body of a message."""
    return (
        gzip.decompress(request.body) if request.headers.get("content-encoding") == "gzip" else request.body
    )


def attributes(span: Any) -> dict[str, Any]:
    """The attributes of a span by name."""
    return {
        pair.key: getattr(pair.value, str(pair.value.WhichOneof("value")), None) for pair in span.attributes
    }


@pytest.mark.slow
def test_the_servers_spans_join_those_of_the_client(
    traced_run: Path, endpoint: StandIn, collector: StandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    """Trace and span ids of the collector, of the log and of the headers that the server got are the same."""
    export(ExportSettings(run=traced_run, otlp=collector.url, json=True))
    assert orjson.loads(capsys.readouterr().out)["rows"] == 8
    received = {
        tuple(request.headers["traceparent"].split("-")[1:3])
        for request in endpoint.requests
        if request.method == "POST"
    }
    attempts = [span for span in spans_of(collector) if span.name == "POST"]
    assert {(span.trace_id.hex(), span.span_id.hex()) for span in attempts} == received
    assert len(received) == len(attempts) == 9
    roots = {span.span_id: span for span in spans_of(collector) if span.name == "chat m"}
    assert {span.parent_span_id for span in attempts} == roots.keys()
    logged = query(traced_run, "SELECT trace_id, span_id FROM samples").rows
    assert {span.trace_id.hex() for span in roots.values()} == {trace for trace, _ in logged}
    assert set(logged) < received
    (failed,) = (span for span in attempts if attributes(span).get("error.type"))
    assert attributes(failed)["http.response.status_code"] == 503
    (again,) = (span for span in attempts if "http.request.resend_count" in attributes(span))
    assert again.trace_id == failed.trace_id
    assert failed.start_time_unix_nano <= failed.end_time_unix_nano <= again.start_time_unix_nano


def test_a_span_tells_what_the_view_samples_has(traced_run: Path, collector: StandIn) -> None:
    """By the names of the semantic conventions; the second export has the same spans."""
    export(ExportSettings(run=traced_run, otlp=collector.url))
    rows = query(
        traced_run,
        "SELECT sample_uuid, output_tokens, ttft_ms, ended_ns - issued_ns, "
        "first_token_ns + started_wall_ns - started_at_ns FROM samples, session",
    ).rows
    spans = {
        attributes(span)["loadgen.sample_uuid"]: span for span in spans_of(collector) if span.name == "chat m"
    }
    for uuid, tokens, ttft_ms, lasted_ns, first_token_ns in rows:
        span, values = spans[uuid], attributes(spans[uuid])
        assert values["gen_ai.usage.output_tokens"] == tokens == 3
        assert values["gen_ai.response.time_to_first_chunk"] == pytest.approx(ttft_ms / 1e3)
        assert (values["gen_ai.operation.name"], values["gen_ai.request.model"]) == ("chat", "m")
        assert span.end_time_unix_nano - span.start_time_unix_nano == lasted_ns
        assert [event.time_unix_nano for event in span.events if event.name == "first_token"] == [
            first_token_ns
        ]
    before = sorted((span.trace_id, span.span_id) for span in spans_of(collector))
    collector.requests.clear()
    export(ExportSettings(run=traced_run, otlp=f"{collector.url}/"))
    assert sorted((span.trace_id, span.span_id) for span in spans_of(collector)) == before


def test_the_metrics_are_the_figures_of_the_report(traced_run: Path, collector: StandIn) -> None:
    """Histograms of the conventions, and a gauge for each figure."""
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

    export(ExportSettings(run=traced_run, otlp=collector.url))
    (request,) = (request for request in collector.requests if request.path == "/v1/metrics")
    (resource,) = ExportMetricsServiceRequest.FromString(content(request)).resource_metrics
    metrics = {metric.name: metric for metric in resource.scope_metrics[0].metrics}
    report = orjson.loads((traced_run / "report.json").read_bytes())
    first = metrics["gen_ai.client.operation.time_to_first_chunk"].histogram.data_points[0]
    assert first.count == sum(first.bucket_counts) == report["counts"]["completed"] == 8
    assert first.max * 1e3 == pytest.approx(report["ttft_ms"]["max"], abs=1e-6)
    assert metrics["gen_ai.client.token.usage"].histogram.data_points[1].sum == 24
    gauges = {
        point.attributes[0].value.string_value: point.as_double
        for point in metrics["loadgen.ttft_ms"].gauge.data_points
    }
    for name in ("p50", "p99", "mean"):
        assert gauges[name] == pytest.approx(report["ttft_ms"][name], abs=1e-6)
    who = {pair.key: pair.value.string_value for pair in resource.resource.attributes}
    assert who["loadgen.run.id"] == report["run"]["session_id"]


def test_what_is_refused(made_run: Path, monkeypatch: pytest.MonkeyPatch, collector: StandIn) -> None:
    """A URL with a secret, an invalid URL, a collector that takes nothing; no error has the secret."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer sk-hidden")
    with pytest.raises(UsageError, match="leave user, password and query out") as refused:
        export(ExportSettings(run=made_run, otlp="http://me:sk-hidden@127.0.0.1"))
    assert "sk-hidden" not in str(refused.value)
    with pytest.raises(UsageError, match="not a URL"):
        export(ExportSettings(run=made_run, otlp="localhost:4318"))
    collector.answer = lambda _: (401, "text/plain", b"who are you")
    with pytest.raises(SetupError, match=r"did not take the run.*401") as failed:
        export(ExportSettings(run=made_run, otlp=collector.url))
    assert "sk-hidden" not in str(failed.value)
    assert collector.requests[0].headers["authorization"] == "Bearer sk-hidden"
