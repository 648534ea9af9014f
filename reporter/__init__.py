"""Telling: read the log of a run, compute its figures, and render them."""

from reporter.metrics import TPOTReportingMode
from reporter.report import Report
from reporter.reporter import MetricsReporter

__all__ = ["MetricsReporter", "Report", "TPOTReportingMode"]
