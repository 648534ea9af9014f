"""`loadgen export --openmetrics` and `--push-gateway`: the figures of a run for Prometheus."""

from __future__ import annotations

import os
from base64 import urlsafe_b64encode
from http.client import HTTPException
from pathlib import Path
from shlex import quote as quote_word
from typing import TYPE_CHECKING, Final
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

from loadgen.driver.client.redaction import hide, secrets_of, without_a_part
from loadgen.plugins.exports.exported import Exported
from loadgen.plugins.exports.exported_report import report_of, requests_of
from loadgen.plugins.exports.target_file import require_writable, writing
from loadgen.sessions.errors import SetupError
from loadgen.sessions.files.target_url import AUTHORIZATION, gateway_url

if TYPE_CHECKING:
    from loadgen.sessions.observer import Observer
    from loadgen.sessions.settings.export import ExportSettings
    from loadgen.sessions.settings.output import OutputSettings
    from reporter.report import Report

STDOUT: Final = Path("-")
_TEXT_FORMAT: Final = "text/plain; version=0.0.4; charset=utf-8"
_TIMEOUT_S: Final = 10.0
_LONGEST_ANSWER: Final = 200


def write_metrics(settings: ExportSettings, file: Path) -> Exported:
    """Write the text; to standard output if the file is `-`.

    Raises:
        UsageError: The file exists, or its folder does not.
        SetupError: It cannot be written.
        LogError: The run cannot be read.
    """
    from loadgen.plugins.exports.render.openmetrics_text import render

    if file == STDOUT:
        report = report_of(settings)
        return Exported("file", str(file), requests_of(report), text=render(report))
    require_writable("--openmetrics", file, force=settings.force)
    report = report_of(settings)
    with writing(file) as unfinished:
        unfinished.write(render(report).encode())
    return Exported("file", str(file), requests_of(report))


def push(settings: ExportSettings, url: str) -> Exported:
    """Replace the group of this job and model in a Pushgateway.

    Raises:
        UsageError: The URL cannot be used.
        SetupError: The gateway did not take the figures.
        LogError: The run cannot be read.
    """
    base = gateway_url(url)
    report = report_of(settings)
    return Exported("url", _push(report, base, settings.job), requests_of(report))


def push_at_end(report: Report, folder: Path, output: OutputSettings, observer: Observer) -> None:
    """Push the figures of a run that has ended, where `--push-gateway` names a gateway.

    A gateway that does not take them is not an error of the run: the log has everything.

    Args:
        report: The run's.
        folder: The run's.
        output: Says where to.
        observer: Hears why a push failed.
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
    from loadgen.plugins.exports.render.openmetrics_text import render

    group = f"{base}/metrics/job{_segment(job)}/model{_segment(report.run.model or 'unknown')}"
    headers = {"Content-Type": _TEXT_FORMAT}
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
        answer = error.read(_LONGEST_ANSWER).decode(errors="replace").strip()
        secrets = secrets_of(dict(request.header_items()))
        answer = without_a_part(hide(answer, secrets), secrets)
        raise SetupError(
            f"--push-gateway {base}: the gateway answered {error.code} {error.reason}: {answer}"
        ) from None
    except (OSError, HTTPException) as error:
        raise SetupError(f"--push-gateway {base}: the gateway cannot be reached ({error})") from None
