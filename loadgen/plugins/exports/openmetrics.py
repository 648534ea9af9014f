"""`loadgen export --openmetrics` and `--push-gateway`: the figures of a run for Prometheus."""

from __future__ import annotations

import math
import os
import re
from base64 import urlsafe_b64encode
from fractions import Fraction
from http.client import HTTPException
from pathlib import Path
from shlex import quote as quote_word
from typing import TYPE_CHECKING, Final
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

from loadgen.driver.client.redaction import hide, secrets_of, without_a_part
from loadgen.plugins.exports.exported import Exported, report_of, requests_of, require_writable, writing
from loadgen.plugins.exports.flat_figures import figures, summaries
from loadgen.sessions.errors import SetupError
from loadgen.sessions.files.target_url import AUTHORIZATION, gateway_url
from rulesets.definitions import PERCENTILES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from loadgen.sessions.observer import Observer
    from loadgen.sessions.settings.export import ExportSettings
    from loadgen.sessions.settings.output import OutputSettings
    from reporter.report import Report, Summary

STDOUT: Final = Path("-")
_TIMEOUT_S: Final = 10.0
_LONGEST_ANSWER: Final = 200

_PREFIX: Final = "loadgen_"
_MILLISECONDS: Final = "_ms"
_INVALID: Final = re.compile(r"[^a-zA-Z0-9_]")
_PER_SECOND: Final = 1e-3


def write_metrics(settings: ExportSettings, file: Path) -> Exported:
    """Write the text; to standard output if the file is `-`."""
    if file == STDOUT:
        report = report_of(settings)
        return Exported("file", str(file), requests_of(report), text=render(report))
    require_writable("--openmetrics", file, force=settings.force)
    report = report_of(settings)
    with writing(file) as unfinished:
        unfinished.write(render(report).encode())
    return Exported("file", str(file), requests_of(report))


def push(settings: ExportSettings, url: str) -> Exported:
    """Replace the group of this job and model in a Pushgateway."""
    base = gateway_url(url)
    report = report_of(settings)
    return Exported("url", _push(report, base, settings.job), requests_of(report))


def push_at_end(report: Report, folder: Path, output: OutputSettings, observer: Observer) -> None:
    """Push the figures of a run that has ended, where `--push-gateway` names a gateway.

    A gateway that does not take them is not an error of the run: the log has everything.
    """
    if output.push_gateway is None:
        return
    gateway = gateway_url(output.push_gateway)
    try:
        group = _push(report, gateway, output.push_job)
    except SetupError as error:
        again = f"loadgen export {folder} --push-gateway {gateway} --job {quote_word(output.push_job)}"
        observer.note(f"note: {error}; push again with: {again}")
    else:
        observer.progress(f"pushed to {group}")


def _push(report: Report, base: str, job: str) -> str:
    """Replace the group of a job and the report's model; return the group's URL."""
    group = f"{base}/metrics/job{_segment(job)}/model{_segment(report.run.model or 'unknown')}"
    headers = {"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
    if authorization := os.environ.get(AUTHORIZATION):
        headers["Authorization"] = authorization
    _put(Request(group, render(report).encode(), headers, method="PUT"), base)  # noqa: S310 (http or https)
    return group


def _segment(value: str) -> str:
    """A grouping key's value as a path segment; in base64 if the value has a slash."""
    if "/" in value:
        return f"@base64/{urlsafe_b64encode(value.encode()).decode()}"
    return f"/{quote(value, safe='')}"


def _put(request: Request, base: str) -> None:
    try:
        with urlopen(request, timeout=_TIMEOUT_S):  # noqa: S310 (http or https)
            return
    except HTTPError as error:
        with error:
            answer = error.read(_LONGEST_ANSWER).decode(errors="replace").strip()
        secrets = secrets_of(dict(request.header_items()))
        answer = without_a_part(hide(answer, secrets), secrets)
        raise SetupError(
            f"--push-gateway {base}: the gateway answered {error.code} {error.reason}: {answer}"
        ) from None
    except (OSError, HTTPException) as error:
        raise SetupError(f"--push-gateway {base}: the gateway cannot be reached ({error})") from None


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
