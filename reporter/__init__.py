"""Reports: read the log of a run, compute its figures, and render them.

A name is imported on first use, so that one module of this package does not load the others.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reporter.report import Report
    from reporter.report_options import TPOTReportingMode
    from reporter.reporter import MetricsReporter

__all__ = ["MetricsReporter", "Report", "TPOTReportingMode"]

_HOMES = {"MetricsReporter": "reporter", "Report": "report", "TPOTReportingMode": "report_options"}
"""The modules that the names live in."""


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"reporter.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
