"""A report as OpenMetrics text, for Prometheus, a Pushgateway and node_exporter's textfile collector.

OpenMetrics 1.0 (https://prometheus.io/docs/specs/om/open_metrics_spec/), of which only gauges and summaries
are used: so the text is also valid in Prometheus' own format 0.0.4, which a Pushgateway takes.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from loadgen.plugins.exports.render.flat_figures import figures, summaries
from rulesets.definitions import PERCENTILES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reporter.report import Report, Summary

_PREFIX: Final = "loadgen_"
_MILLISECONDS: Final = "_ms"
_INVALID: Final = re.compile(r"[^a-zA-Z0-9_]")
_PER_SECOND: Final = 1e-3


def render(report: Report) -> str:
    """The figures of a report: times in seconds, every sample with the labels `model` and `run`."""
    labels = {"model": str(report.run.model or ""), "run": report.run.session_id}
    lines = [
        *_family("run_info", "Identity of the run.", "gauge"),
        f"{_PREFIX}run_info{_labels({**labels, **_about(report)})} 1",
    ]
    for name, unit, summary in summaries(report):
        lines += _summary(name, unit, summary, labels)
    for figure in figures(report):
        if figure.statistic is None:
            name = _name(figure.name)
            lines += _family(name, f"{figure.name} of report.json.", "gauge")
            lines.append(f"{_PREFIX}{name}{_labels(labels)} {_number(figure.value)}")
    return "\n".join([*lines, "# EOF"]) + "\n"


def _about(report: Report) -> dict[str, str]:
    return {
        "url": report.run.url or "",
        "load": str(report.run.load.get("kind") or ""),
        "ended": report.run.ended,
        "version": str(report.run.versions.get("llm-loadgen") or ""),
        "started_at": report.run.started_at,
    }


def _summary(name: str, unit: str, summary: Summary, labels: Mapping[str, str]) -> Iterator[str]:
    factor, own = 1.0, _name(name)
    if name.endswith(_MILLISECONDS):
        factor, own, unit = _PER_SECOND, _name(name.removesuffix(_MILLISECONDS)) + "_seconds", "seconds"
    yield from _family(own, f"{name} of report.json.", "summary")
    if unit == "seconds":
        yield f"# UNIT {_PREFIX}{own} seconds"
    shares = {**PERCENTILES, **{key: _share(key) for key in summary.percentiles}}
    for key, share in sorted(shares.items(), key=lambda item: item[1]):
        value = summary.percentiles.get(key, getattr(summary, key, None))
        if value is not None:
            quantile = {**labels, "quantile": repr(float(share))}
            yield f"{_PREFIX}{own}{_labels(quantile)} {_number(value * factor)}"
    yield f"{_PREFIX}{own}_count{_labels(labels)} {summary.count}"
    yield f"{_PREFIX}{own}_sum{_labels(labels)} {_number(summary.mean * summary.count * factor)}"


def _share(key: str) -> Fraction:
    """The fraction that a percentile's name says: `p75`, `p999`."""
    digits = key.removeprefix("p")
    return Fraction(int(digits), 10 ** len(digits))


def _family(name: str, help_text: str, kind: str) -> Iterator[str]:
    yield f"# TYPE {_PREFIX}{name} {kind}"
    yield f"# HELP {_PREFIX}{name} {help_text}"


def _name(name: str) -> str:
    return _INVALID.sub("_", name)


def _labels(labels: Mapping[str, str]) -> str:
    pairs = (f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return "{" + ",".join(pairs) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _number(value: float) -> str:
    return repr(float(value)) if math.isfinite(value) else "NaN"
