"""A report with what sensors recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reporter.findings.findings import in_order
from reporter.log.database import all_figures
from reporter.telemetry import agreement, energy_figures, sample_energy
from reporter.telemetry.energy_findings import about_energy
from reporter.telemetry.server_findings import about_server, unread

if TYPE_CHECKING:
    from reporter.log.database import OpenLog
    from reporter.report import Report


def with_telemetry(log: OpenLog, report: Report) -> Report:
    """The report with the server's side, energy, and the findings on sensors; the same where there were none.

    Args:
        log: The log that it was computed from, by the definitions and over the window of the report.
        report: The report, with the accuracy.
    """
    if not agreement.has_sensors(log):
        return report
    log.load(agreement.TABLES)
    side, energy, went_back = agreement.server_side(log), None, 0
    if sample_energy.knows_power(log):
        log.load(sample_energy.TABLES)
        energy, went_back = energy_figures.energy(log, report)
    findings = [*report.findings, *unread(all_figures(log, "sensor_errors"))]
    if side is not None:
        findings += about_server(side)
    if energy is not None:
        findings += about_energy(energy, went_back)
    return replace(report, server_side=side, energy=energy, findings=in_order(findings))
