"""A report with what sensors recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reporter.findings.findings import in_order
from reporter.log.database import all_figures
from reporter.log.run_head import generation, logged_settings
from reporter.number_text import counted, figure, percent
from reporter.report import Finding
from reporter.telemetry import energy_figures, server_agreement
from reporter.telemetry.server_findings import about_server, unread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reporter.log.database import OpenLog
    from reporter.report import Report
    from reporter.values.energy import Energy


def with_telemetry(log: OpenLog, report: Report) -> Report:
    """The report with the server's side, energy, and the findings on sensors, where there are any."""
    log.load(server_agreement.TABLES)
    side, energy, went_back = server_agreement.server_side(log), None, 0
    if energy_figures.knows_power(log):
        log.load(energy_figures.TABLES)
        energy, went_back = energy_figures.energy(log, report)
    findings = [*report.findings, *unread(all_figures(log, "sensor_errors"), side)]
    if side is not None:
        choices = generation(logged_settings(log)).get("n")
        findings += about_server(side, choices if isinstance(choices, int) else 1)
    if energy is not None:
        findings += about_energy(energy, went_back)
    return replace(report, server_side=side, energy=energy, findings=in_order(findings))


_UTILIZATION: Final = {
    "mfu_pct": "--param-count-b, --active-params-b, --gpu-peak-tflops",
    "mbu_pct": "--param-count-b, --gpu-peak-bandwidth-gb-s",
}
"""Shares of what the hardware can do, and the options that they are computed from."""

_APART: Final = 0.05
"""How far the integral of the power may be from what the counters say."""


def about_energy(energy: Energy, went_back: int) -> Iterator[Finding]:
    """What limits the figures of energy."""
    if energy.source == "declared":
        yield Finding(
            "energy_declared",
            "info",
            "Energy is the declared power times time: not measured, and not comparable with measured energy.",
            "Measure with --gpu-metrics.",
        )
    if went_back:
        yield Finding(
            "energy_counter_reset",
            "warning",
            f"An energy counter went back, or rose impossibly fast, {counted(went_back, 'time')} (a "
            "wrap-around, or a reloaded driver). In these spans energy is the integral of the power.",
            "Run again, if these spans matter.",
        )
    if energy.window_joules is None:
        yield Finding(
            "energy_incomplete",
            "warning",
            "Power was not observed over the whole window, so energy, also per token and per request, is "
            "unknown. A device was missing, or a sensor started late or ended early.",
            "Run again with every device observed.",
        )
    yield from _impossible(energy)
    if energy.integral_share is not None and abs(energy.integral_share - 1) > _APART:
        yield Finding(
            "energy_integral_differs",
            "info",
            f"The integral of the power is {percent(energy.integral_share, 1)} of the energy counters' "
            "sum; the report uses the counters. Power is sampled, and changes between readings.",
            "A shorter --gpu-metrics-interval reduces the difference.",
        )


def _impossible(energy: Energy) -> Iterator[Finding]:
    """A utilization of more than the hardware has."""
    highest = {name: stats.max for name in _UTILIZATION if (stats := energy.stats.get(name))}
    beyond = [name for name, value in highest.items() if value > 100]  # noqa: PLR2004 (percent)
    if beyond:
        yield Finding(
            "utilization_impossible",
            "warning",
            f"A request has {' and '.join(f'{name} {figure(highest[name])}' for name in beyond)}: more than "
            "100 %, so the given figures of the model or of the GPUs are wrong.",
            f"Check --gpus, {', '.join(_UTILIZATION[name] for name in beyond)}.",
        )
