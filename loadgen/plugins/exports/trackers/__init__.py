"""Experiment trackers that a run can be exported to."""
