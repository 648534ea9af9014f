"""Reports: read the log of a run, compute its figures, and render them.

A name is imported on first use, so that one module of this package does not load the others.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reporter.report import Report
    from reporter.report_options import TPOTReportingMode
    from reporter.reporter import MetricsReporter

__all__ = ["MetricsReporter", "Report", "TPOTReportingMode"]

_HOMES = {
    "report": ("Report",),
    "report_options": ("TPOTReportingMode",),
    "reporter": ("MetricsReporter",),
}
"""The modules that the names live in."""


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
