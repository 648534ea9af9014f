"""`loadgen export --otlp`: a run as spans and metrics, to a collector of OpenTelemetry by OTLP over HTTP.

The exporters are OpenTelemetry's own: they compress, retry what is transient (six times, within ten seconds a
batch) and take the variables OTEL_EXPORTER_OTLP_HEADERS, _CERTIFICATE, _TIMEOUT and OTEL_RESOURCE_ATTRIBUTES.
"""

from __future__ import annotations

import logging
from collections import deque
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.exports.exported import Exported
from loadgen.sessions.errors import SetupError
from loadgen.sessions.extra_packages import importing
from loadgen.sessions.files.target_url import base_url

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from loadgen.plugins.exports.flat_figures import ReportedFigure
    from loadgen.plugins.exports.histograms import BucketHistogram
    from loadgen.plugins.exports.spans import Span
    from loadgen.sessions.settings.export import ExportSettings

_OPTION: Final = "--otlp"
_BATCH: Final = 512
"""Spans a message: as many as the batch processor of the SDK sends."""
_SCHEMA: Final = "https://opentelemetry.io/schemas/1.37.0"
_SCOPE: Final = "llm-loadgen"


def send(settings: ExportSettings, url: str) -> Exported:
    """Send the spans and the metrics of a run.

    Args:
        settings: The options.
        url: The collector, to whose path `/v1/traces` and `/v1/metrics` are added.

    Raises:
        UsageError: The URL cannot be used, or the extra is not installed.
        SetupError: The collector did not take a message.
        LogError: The run cannot be read.
    """
    from loadgen.plugins.exports.exported import opened, report_of, requests_of
    from loadgen.plugins.exports.flat_figures import figures
    from loadgen.plugins.exports.histograms import histograms
    from loadgen.plugins.exports.spans import spans

    base = base_url(_OPTION, url, "headers with secrets go into OTEL_EXPORTER_OTLP_HEADERS")
    with importing(_OPTION, "otel"):
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    report = report_of(settings)
    resource = _resource(report.run.session_id, str(report.run.versions.get("llm-loadgen")))
    sent = 0
    with _logged_errors(base) as require_taken, opened(settings) as log:
        exporter = OTLPSpanExporter(endpoint=f"{base}/v1/traces")
        pending = spans(log)
        while batch := list(islice(pending, _BATCH)):
            require_taken(exporter.export([_span(span, resource) for span in batch]))
            sent += len(batch)
        exporter.shutdown()
        period = _period(log)
        metrics = OTLPMetricExporter(endpoint=f"{base}/v1/metrics")
        require_taken(metrics.export(_metrics(list(histograms(log)), figures(report), period, resource)))
        metrics.shutdown()
    return Exported("url", base, requests_of(report), {"spans": sent})


def _resource(run: str, version: str) -> Any:
    """The resource of the spans: OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence."""
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource

    own = {
        "service.name": _SCOPE,
        "service.version": version,
        "service.instance.id": run,
        "loadgen.run.id": run,
    }
    return Resource.create(own).merge(OTELResourceDetector().detect())


def _span(span: Span, resource: Any) -> Any:
    from opentelemetry.sdk.trace import Event, ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

    def context(span_id: str) -> SpanContext:
        flags = TraceFlags(TraceFlags.SAMPLED)
        return SpanContext(int(span.trace_id, 16), int(span_id, 16), is_remote=False, trace_flags=flags)

    return ReadableSpan(
        span.name,
        context=context(span.span_id),
        parent=None if span.parent_id is None else context(span.parent_id),
        resource=resource,
        attributes=span.attributes,
        events=[Event(name, timestamp=at_ns) for name, at_ns in span.events],
        kind=SpanKind.CLIENT if span.kind == "client" else SpanKind.INTERNAL,
        status=Status(StatusCode.UNSET) if span.error is None else Status(StatusCode.ERROR, span.error),
        start_time=span.start_ns,
        end_time=span.end_ns,
        instrumentation_scope=InstrumentationScope(_SCOPE, schema_url=_SCHEMA),
    )


def _period(log: Any) -> tuple[int, int]:
    """When the measurement began and ended, ns since 1970."""
    shift = "started_wall_ns - started_at_ns"
    query = f"SELECT start_ns, end_ns, {shift}, started_at_ns FROM measured_window, session"  # noqa: S608 (our own names)
    ((start_ns, end_ns, shift_ns, begun_ns),) = log.execute(query).fetchall()
    start_ns = begun_ns if start_ns is None else start_ns
    return start_ns + shift_ns, (start_ns if end_ns is None else end_ns) + shift_ns


def _metrics(
    distributions: Sequence[BucketHistogram],
    figures: Sequence[ReportedFigure],
    period: tuple[int, int],
    resource: Any,
) -> Any:
    from opentelemetry.sdk.metrics import export as sdk
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope

    points: dict[tuple[str, str], list[Any]] = {}
    for distribution in distributions:
        point = sdk.HistogramDataPoint(
            distribution.attributes,
            *period,
            distribution.count,
            distribution.total,
            distribution.counts,
            distribution.bounds,
            distribution.low,
            distribution.high,
        )
        points.setdefault((distribution.name, distribution.unit), []).append(point)
    gauges: dict[tuple[str, str], list[Any]] = {}
    for figure in figures:
        attributes = {} if figure.statistic is None else {"statistic": figure.statistic}
        gauge = sdk.NumberDataPoint(attributes, *period, figure.value)
        gauges.setdefault((f"loadgen.{figure.name}", figure.unit), []).append(gauge)
    cumulative = sdk.AggregationTemporality.CUMULATIVE
    metrics = [
        *(
            sdk.Metric(name, "", unit, sdk.Histogram(data, cumulative))
            for (name, unit), data in points.items()
        ),
        *(sdk.Metric(name, "", unit, sdk.Gauge(data)) for (name, unit), data in gauges.items()),
    ]
    scope = sdk.ScopeMetrics(InstrumentationScope(_SCOPE, schema_url=_SCHEMA), metrics, _SCHEMA)
    return sdk.MetricsData([sdk.ResourceMetrics(resource, [scope], "")])


class _Collected(logging.Handler):
    """The last log messages of the exporters, which otherwise only report a failure."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: deque[str] = deque(maxlen=2)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one."""
        if record.levelno >= logging.WARNING:
            self.messages.append(record.getMessage())


@contextmanager
def _logged_errors(base: str) -> Iterator[Any]:
    """Silence the exporters' log, and yield a function that demands success."""
    logger, handler = logging.getLogger("opentelemetry"), _Collected()
    before = logger.propagate
    logger.addHandler(handler)
    logger.propagate = False

    def require_taken(result: Any) -> None:
        if result.name != "SUCCESS":
            raise SetupError(
                f"{_OPTION} {base}: the collector did not take the run: {' '.join(handler.messages)}"
            )

    try:
        yield require_taken
    finally:
        logger.removeHandler(handler)
        logger.propagate = before
