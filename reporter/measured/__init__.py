"""A run measured by the definitions of its rules: the report, and the evidence that a verdict rests on."""

from reporter.measured.measure import measured

__all__ = ["measured"]
