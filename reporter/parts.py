"""The parts of a report of which only some logs have the subjects; only these load the code."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reporter.json_values import members
from reporter.log.subjects import has_episodes, has_sensors, has_sessions, plugin_sections

if TYPE_CHECKING:
    from reporter.log.database import OpenLog
    from reporter.report import Report


def with_parts(log: OpenLog, report: Report) -> Report:
    """The report with episodes, sessions, sensors, cache hits and the sections of plug-ins."""
    if has_episodes(log):
        from reporter.episode_figures import episodes

        report = replace(report, episodes=episodes(log))
    if has_sessions(log):
        from reporter.session_results import with_sessions

        report = with_sessions(log, report)
    if with_sensors := has_sensors(log):
        from reporter.telemetry.sensor_report import with_telemetry

        report = with_telemetry(log, report)
    if planned := members(members((report.run.dataset or {}).get("facts")).get("cache_hit")):
        from reporter.cache_hits import with_cache_hits

        report = with_cache_hits(report, planned)
    if wanted := plugin_sections(log, with_sensors=with_sensors):
        from reporter.sections import with_sections

        report = with_sections(log, report, wanted)
    return report
