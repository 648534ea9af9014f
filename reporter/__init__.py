"""Telling: read the log of a run, compute its figures, and render them."""

from reporter.report import Report
from reporter.report_options import TPOTReportingMode
from reporter.reporter import MetricsReporter

__all__ = ["MetricsReporter", "Report", "TPOTReportingMode"]
