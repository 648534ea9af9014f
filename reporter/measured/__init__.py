"""A run measured by the rules' definitions: the report, and the evidence for a verdict."""

from reporter.measured.measure import measured

__all__ = ["measured"]
