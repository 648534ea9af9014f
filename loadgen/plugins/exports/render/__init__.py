"""Runs in the formats of other programs: renderers of an opened log, or of a report."""
