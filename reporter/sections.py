"""The parts of a report that plug-ins compute, for runs whose logs have their subjects."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reporter.findings.findings import in_order
from workloads.registry import entries, load

if TYPE_CHECKING:
    from collections.abc import Collection

    from reporter.log.database import OpenLog
    from reporter.report import Finding, Report
    from reporter.values.report_section import ReportSection


def with_sections(log: OpenLog, report: Report, names: Collection[str]) -> Report:
    """The report with the sections of these names, and their findings."""
    sections: dict[str, ReportSection] = {}
    findings: list[Finding] = []
    for name in names:
        entry = entries("sections")[name]
        log.load(entry.facts.get("views", ()))
        sections[name], more = load(entry)(log, report)
        findings += more
    return replace(report, sections=sections, findings=in_order([*report.findings, *findings]))
