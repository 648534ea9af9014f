"""Commands in the text of a report, with the run that they are to be typed for."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from reporter.report import Report

_COMMAND: Final = re.compile(r"(loadgen [a-z]+) RUN\b")


def naming(report: Report, run: str) -> Report:
    """A report whose remedies have the run in the place of `RUN`."""
    named = shlex.quote(run)
    findings = [
        replace(finding, remedy=_COMMAND.sub(lambda command: f"{command[1]} {named}", finding.remedy))
        for finding in report.findings
    ]
    return replace(report, findings=findings)
