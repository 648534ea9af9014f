"""`loadgen export --to`: a run to an experiment tracker, with one record for all trackers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.plugins.exports.exported import Exported
from loadgen.plugins.exports.exported_report import report_of, requests_of
from loadgen.sessions.errors import UsageError
from workloads.registry import entries, load

if TYPE_CHECKING:
    from loadgen.plugins.exports.trackers.tracker import Publish
    from loadgen.sessions.settings.export import ExportSettings


def publish(settings: ExportSettings, tracker: str) -> Exported:
    """Publish a run.

    Raises:
        UsageError: An option is of another tracker, or the tracker's extra is not installed.
        PluginError: The tracker is another package's, and cannot be used.
        SetupError: The tracker did not take it.
        LogError: The run cannot be read.
    """
    from loadgen.plugins.exports.render.record import run_record

    trackers = entries("trackers")
    for name in ("entity", "project", "group", "tag", "spreadsheet", "credentials"):
        takers = [other for other, entry in trackers.items() if name in entry.facts.get("takes", ())]
        if trackers[tracker].package is None and tracker not in takers and getattr(settings, name):
            raise UsageError(f"--{name} applies only to --to {' and '.join(sorted(takers))}: leave it out")
    publishes: Publish = load(trackers[tracker])
    report = report_of(settings)
    place = publishes(settings, run_record(report, settings.name))
    return Exported("tracker", place, requests_of(report))
