"""`loadgen export --openmetrics` and `--push-gateway`: the figures of a run for Prometheus."""

from __future__ import annotations

import os
from base64 import urlsafe_b64encode
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

from loadgen.sessions.errors import SetupError
from loadgen.sessions.exporting.exported import Exported
from loadgen.sessions.exporting.report import report_of, requests_of
from loadgen.sessions.exporting.target_file import require_writable, writing
from loadgen.sessions.exporting.target_url import base_url

if TYPE_CHECKING:
    from loadgen.sessions.settings.export import ExportSettings

STDOUT: Final = Path("-")
AUTHORIZATION: Final = "LOADGEN_PUSH_AUTHORIZATION"
"""The environment variable with the header `Authorization` of a push."""

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
    from reporter.export.openmetrics import render

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
    from reporter.export.openmetrics import render

    base = base_url("--push-gateway", url, f"the header Authorization goes into {AUTHORIZATION}")
    report = report_of(settings)
    group = f"{base}/metrics/job{_segment(settings.job)}/model{_segment(report.run.model or 'unknown')}"
    headers = {"Content-Type": _TEXT_FORMAT}
    if authorization := os.environ.get(AUTHORIZATION):
        headers["Authorization"] = authorization
    _put(Request(group, render(report).encode(), headers, method="PUT"), base)  # noqa: S310 (http or https)
    return Exported("url", group, requests_of(report))


def _segment(value: str) -> str:
    """A value of a grouping key in the path; one with a slash in base64, as the gateway has it."""
    if "/" in value:
        return f"@base64/{urlsafe_b64encode(value.encode()).decode()}"
    return f"/{quote(value, safe='')}"


def _put(request: Request, base: str) -> None:
    try:
        with urlopen(request, timeout=_TIMEOUT_S):  # noqa: S310 (http or https)
            return
    except HTTPError as error:
        answer = error.read(_LONGEST_ANSWER).decode(errors="replace").strip()
        raise SetupError(
            f"--push-gateway {base}: the gateway answered {error.code} {error.reason}: {answer}"
        ) from None
    except (OSError, HTTPException) as error:
        raise SetupError(f"--push-gateway {base}: the gateway cannot be reached ({error})") from None
