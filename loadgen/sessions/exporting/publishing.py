"""`loadgen export --to`: a run to an experiment tracker, with one record for all trackers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.sessions.errors import UsageError
from loadgen.sessions.exporting.exported import Exported
from loadgen.sessions.exporting.report import report_of, requests_of
from loadgen.sessions.exporting.trackers import mlflow, sheets, wandb

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.sessions.exporting.trackers.tracker import Publish
    from loadgen.sessions.settings.export import ExportSettings

TRACKERS: Final[Mapping[str, Publish]] = {
    "wandb": wandb.publish,
    "mlflow": mlflow.publish,
    "sheets": sheets.publish,
}
_ONLY: Final[Mapping[str, frozenset[str]]] = {
    "entity": frozenset({"wandb"}),
    "project": frozenset({"wandb", "mlflow"}),
    "group": frozenset({"wandb", "mlflow"}),
    "tag": frozenset({"wandb", "mlflow"}),
    "spreadsheet": frozenset({"sheets"}),
    "credentials": frozenset({"sheets"}),
}
"""The options that only some trackers take."""


def publish(settings: ExportSettings, tracker: str) -> Exported:
    """Publish a run.

    Raises:
        UsageError: An option is of another tracker, or the tracker's extra is not installed.
        SetupError: The tracker did not take it.
        LogError: The run cannot be read.
    """
    from reporter.export.record import run_record

    for name, takers in _ONLY.items():
        if tracker not in takers and getattr(settings, name):
            raise UsageError(f"--{name} applies only to --to {' and '.join(sorted(takers))}: leave it out")
    report = report_of(settings)
    place = TRACKERS[tracker](settings, run_record(report, settings.name))
    return Exported("tracker", place, requests_of(report))
